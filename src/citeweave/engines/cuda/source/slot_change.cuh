// What a word's move does to the citations' exponential, over slots (change.cuh has the same over all
// topics). A topic without a slot has customers on shared levels alone, those of the snapshot, so that
// what a move does to all such topics follows from a few sums over them.

#if !NETWORK
#define OUTER_FLOATS 0
#else
// Over the topics without a slot: sums of own_l lambdaT M (x), of own_l lambdaT P (y) and of
// lambdaT own_l own_m (z), own_l being c - alpha t of level l; and by how much each level's slope
// has changed P and M since the snapshot.
#define OUTER_FLOATS (2 * (2 + N_SHARED) * N_SHARED + 2 * N_SHARED)
struct Outer {
  double x[N_SHARED], y[N_SHARED], z[N_SHARED][N_SHARED];
  float cite[N_SHARED], cited[N_SHARED];
};

// What a pending move would do to P and M: slopes by level, and what the two topics get besides.
// Differences are written out so that nothing cancels, and single precision suffices.
struct Change {
  float cite[CITED_LEVEL + 1], cited[CITED_LEVEL + 1];  // weights of the path's nodes
  float carry[CITED_LEVEL + 1], carried[CITED_LEVEL + 1];  // what they would gain
  float cite_slope[CITED_LEVEL + 1], cited_slope[CITED_LEVEL + 1];
  float cite_old, cited_old, cite_new, cited_new;
  bool all;
};

template <typename T> DEV T own_share(int level, int customers, int tables) {
  int t = level == 0 ? (customers > 0 ? 1 : 0) : tables;
  return (T)customers - (T)topic_discount(level) * (T)t;
}

// A slot that was just filled gets its P and M, as the document's moves so far have left them.
DEV void fill_network(float *cell, const Outer &outer) {
  int k = WHOLE(cell, FIELD_TOPIC);
  float scale = (float)ctx.topic_scale[k], cite = 0.0f, cited = 0.0f;
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) {
    float own = own_share<float>(level, WHOLE(cell, FIELD_C + level), WHOLE(cell, FIELD_T + level));
    cite += outer.cite[level] * own;
    cited += outer.cited[level] * own;
  }
  REAL(cell, FIELD_SCALE) = scale;
  REAL(cell, FIELD_CITE) = (float)(ctx.topic_scale[k] * ctx.cite_sum[k]) + scale * cite;
  REAL(cell, FIELD_CITED) = (float)(ctx.topic_scale[k] * ctx.cited_sum[k]) + scale * cited;
}

// Take a slot's topic out of the sums over those without one.
DEV void leave_outer(float *cell, Outer &outer) {
  double own[N_SHARED];
#pragma unroll
  for (int level = 0; level < N_SHARED; level++)
    own[level] =
        own_share<double>(level, WHOLE(cell, FIELD_C + level), WHOLE(cell, FIELD_T + level));
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) {
    outer.x[level] -= own[level] * REAL(cell, FIELD_CITED);
    outer.y[level] -= own[level] * REAL(cell, FIELD_CITE);
#pragma unroll
    for (int other = 0; other < N_SHARED; other++)
      outer.z[level][other] -= REAL(cell, FIELD_SCALE) * own[level] * own[other];
  }
}

// The sums of a document that has made no move yet: its nodes' less those of its slots.
DEV Outer enter_outer(const WordCells &cells, int n_slots, const int *node, bool author_listed) {
  Outer outer;
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) {
    outer.cite[level] = outer.cited[level] = 0.0f;
    outer.x[level] = outer.y[level] = 0.0;
#pragma unroll
    for (int other = 0; other < N_SHARED; other++) outer.z[level][other] = 0.0;
  }
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots; slot += LANES) {
    float *cell = cells[slot];
    fill_network(cell, outer);
    leave_outer(cell, outer);
  }
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) {
    const double *sums = ctx.outer + (i64)node[level] * (2 + N_SHARED);
    outer.x[level] = sums[0] + group_sum(outer.x[level]);
    outer.y[level] = sums[1] + group_sum(outer.y[level]);
#pragma unroll
    for (int other = 0; other <= level; other++) {
      double sum = sums[2 + other] + group_sum(outer.z[level][other]);
      outer.z[level][other] = outer.z[other][level] = sum;
    }
  }
  if (N_SHARED > 1 && author_listed) {  // all of the author's topics have slots
    const int level = N_SHARED - 1;
    outer.x[level] = outer.y[level] = 0.0;
#pragma unroll
    for (int other = 0; other < N_SHARED; other++)
      outer.z[level][other] = outer.z[other][level] = 0.0;
  }
  return outer;
}

DEV void topic_change(float *cell, const Change &change, bool before, bool after, float &cite,
                      float &cited) {
  cite = 0.0f;
  cited = 0.0f;
  if (change.all) {
#pragma unroll
    for (int level = 0; level <= CITED_LEVEL; level++) {
      float own =
          own_share<float>(level, WHOLE(cell, FIELD_C + level), WHOLE(cell, FIELD_T + level));
      cite += change.cite_slope[level] * own;
      cited += change.cited_slope[level] * own;
    }
  }
  if (before) {
    cite += change.cite_old;
    cited += change.cited_old;
  }
  if (after) {
    cite += change.cite_new;
    cited += change.cited_new;
  }
}

// Change of E by a move already made in the counts (engines/core/exponent.py, one path); ``before`` and
// ``after`` are slots.
DEV float exponent_change(const WordCells &cells, int n_slots, const Path &path, Change &change,
                          const Outer &outer, int before, int after, int out, int into) {
  float carry = 0.0f, carried = 0.0f;
  change.cite_old = change.cited_old = change.cite_new = change.cited_new = 0.0f;
  change.all = false;
#pragma unroll
  for (int level = CITED_LEVEL; level >= 0; level--) {
    int step = CITED_LEVEL - level;
    int left = step < out, closed = step + 1 < out, came = step < into, opened = step + 1 < into;
    change.cite_slope[level] = change.cited_slope[level] = 0.0f;
    change.carry[level] = carry;
    change.carried[level] = carried;
    if (left + came == 0 && carry == 0.0f && carried == 0.0f) continue;
    if (level == 0) {
      int now_old = WHOLE(cells[before], FIELD_C), now_new = WHOLE(cells[after], FIELD_C);
      int was_old = now_old + left - (before == after ? came : 0);
      int was_new = now_new - came + (before == after ? left : 0);
      closed = (was_old > 0) - (now_old > 0);
      opened = before == after ? 0 : (now_new > 0) - (was_new > 0);
    }
    const float discount = topic_discount(level);
    float beta = path.beta[level], total = (float)path.customers[level];
    float now = quotient(1.0f, beta + total);
    float was = came == left ? now : quotient(1.0f, beta + total - (float)(came - left));
    float fall = (float)(left - came) * now * was;  // now - was
    float cite = change.cite[level], cited = change.cited[level];
    change.cite_slope[level] = carry * now + cite * fall;
    change.cited_slope[level] = carried * now + cited * fall;
    if (change.cite_slope[level] != 0.0f || change.cited_slope[level] != 0.0f) change.all = true;
    float went = was * ((float)left - discount * (float)closed);
    float arrived = was * ((float)came - discount * (float)opened);
    change.cite_old -= cite * went;
    change.cited_old -= cited * went;
    change.cite_new += cite * arrived;
    change.cited_new += cited * arrived;
    float gain = discount * (float)(opened - closed);
    float top = beta + discount * (float)path.tables[level];
    float rise = gain * now + (top - gain) * fall;  // of the share that children take
    carry = carry * top * now + cite * rise;
    carried = carried * top * now + cited * rise;
  }
  float sum = 0.0f;
#pragma unroll 1
  for (int slot = first_changed(change.all, before, after); slot < n_slots;
       slot = next_changed(slot, change.all, before, after, n_slots)) {
    float *cell = cells[slot];
    float cite, cited;
    topic_change(cell, change, slot == before, slot == after, cite, cited);
    sum += cite * (REAL(cell, FIELD_CITED) + REAL(cell, FIELD_SCALE) * cited) +
           REAL(cell, FIELD_CITE) * cited;
  }
  sum = group_sum(sum);
  if (change.all) {
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

DEV void commit_change(const WordCells &cells, int n_slots, Change &change, Outer &outer,
                       int before, int after) {
#pragma unroll 1
  for (int slot = first_changed(change.all, before, after); slot < n_slots;
       slot = next_changed(slot, change.all, before, after, n_slots)) {
    float *cell = cells[slot];
    float cite, cited;
    topic_change(cell, change, slot == before, slot == after, cite, cited);
    REAL(cell, FIELD_CITE) += REAL(cell, FIELD_SCALE) * cite;
    REAL(cell, FIELD_CITED) += REAL(cell, FIELD_SCALE) * cited;
  }
#pragma unroll
  for (int level = 0; level <= CITED_LEVEL; level++) {
    change.cite[level] += change.carry[level];
    change.cited[level] += change.carried[level];
  }
  if (change.all && lane_id() == 0) {
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
