// What a word's move does to the citations' exponential, over slots. A topic without a slot has
// customers on shared levels alone, those of the snapshot, so that what a move does to all such topics
// follows from a few sums over them (CPU twin: engines/slots/exponent.py).

#if NETWORK
// A slot that was just filled gets its P and M, as the document's moves so far have left them.
DEV void fill_network(const Topic &topic, const Outer &outer) {
  int k = topic.number();
  float scale = (float)ctx.topic_scale[k];
  Gain gain = {0.0f, 0.0f};
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) {
    float own = topic.own(level);
    gain.cite += outer.cite[level] * own;
    gain.cited += outer.cited[level] * own;
  }
  topic.real(FIELD_SCALE) = scale;
  topic.real(FIELD_CITE) = (float)(ctx.topic_scale[k] * ctx.cite_sum[k]) + scale * gain.cite;
  topic.real(FIELD_CITED) = (float)(ctx.topic_scale[k] * ctx.cited_sum[k]) + scale * gain.cited;
}

// Take a slot's topic out of the sums over those without one.
DEV void leave_outer(const Topic &topic, Outer &outer) {
  double own[N_SHARED];
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) {
    Seats seats = topic.seats(level);
    own[level] = own_share<double>(level, seats.customers, seats.tables);
  }
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) {
    outer.x[level] -= own[level] * topic.real(FIELD_CITED);
    outer.y[level] -= own[level] * topic.real(FIELD_CITE);
#pragma unroll
    for (int other = 0; other < N_SHARED; other++)
      outer.z[level][other] -= topic.real(FIELD_SCALE) * own[level] * own[other];
  }
}

// The sums of a document that has made no move yet: its nodes' less those of its slots.
DEV Outer first_outer(const Walk &walk, const Path &path) {
  Outer outer;
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) {
    outer.cite[level] = outer.cited[level] = 0.0f;
    outer.x[level] = outer.y[level] = 0.0;
#pragma unroll
    for (int other = 0; other < N_SHARED; other++) outer.z[level][other] = 0.0;
  }
#pragma unroll 1
  for (int slot = lane_id(); slot < walk.n_slots; slot += LANES) {
    fill_network(walk[slot], outer);
    leave_outer(walk[slot], outer);
  }
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) {
    const double *sums = ctx.outer + (i64)path.node[level] * (2 + N_SHARED);
    outer.x[level] = sums[0] + group_sum(outer.x[level]);
    outer.y[level] = sums[1] + group_sum(outer.y[level]);
#pragma unroll
    for (int other = 0; other <= level; other++) {
      double sum = sums[2 + other] + group_sum(outer.z[level][other]);
      outer.z[level][other] = outer.z[other][level] = sum;
    }
  }
  if (N_SHARED > 1 && path.author_listed) {  // all of the author's topics have slots
    const int level = N_SHARED - 1;
    outer.x[level] = outer.y[level] = 0.0;
#pragma unroll
    for (int other = 0; other < N_SHARED; other++)
      outer.z[level][other] = outer.z[other][level] = 0.0;
  }
  return outer;
}

// Every group of a warp takes part.
DEV void enter_network(Walk &walk, const Path &path, bool network_on) {
  if (network_on) {
    Outer entered = first_outer(walk, path);
    if (lane_id() == 0) *walk.outer = entered;
  }
  group_sync();
}

// Change of E by a move already made in the counts; ``before`` and ``after`` are slots.
DEV float exponent_change(const Walk &walk, const Path &path, WordChange &change, int before,
                          int after, int out, int into) {
  pending_change(path, change, walk[before], walk[after], before == after, out, into);
  float sum = 0.0f;
  each_changed(change.all, before, after, walk.n_slots, [&](int slot) {
    sum += walk[slot].rate(topic_gain(change, walk[slot], slot == before, slot == after));
  });
  sum = group_sum(sum);
  if (change.all) {
    const Outer &outer = *walk.outer;
    double outside = 0.0;
#pragma unroll
    for (int level = 0; level < N_SHARED; level++) {
      double cited = outer.x[level];
#pragma unroll
      for (int other = 0; other < N_SHARED; other++)
        cited += change.cited_slope[other] * outer.z[level][other];
      outside += change.cite_slope[level] * cited + change.cited_slope[level] * outer.y[level];
    }
    sum += (float)outside;
  }
  return sum;
}

DEV void commit_change(const Walk &walk, WordChange &change, int before, int after) {
  each_changed(change.all, before, after, walk.n_slots, [&](int slot) {
    walk[slot].add_gain(topic_gain(change, walk[slot], slot == before, slot == after));
  });
  commit_weights(change);
  if (change.all && lane_id() == 0) {
    Outer &outer = *walk.outer;
#pragma unroll
    for (int level = 0; level < N_SHARED; level++) {
      outer.cite[level] += change.cite_slope[level];
      outer.cited[level] += change.cited_slope[level];
#pragma unroll
      for (int other = 0; other < N_SHARED; other++) {
        outer.x[level] += change.cited_slope[other] * outer.z[level][other];
        outer.y[level] += change.cite_slope[other] * outer.z[level][other];
      }
    }
  }
}
#endif
