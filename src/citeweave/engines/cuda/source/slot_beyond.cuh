// What citations do to topics without a slot. Such a topic has customers on shared levels alone, those
// of the snapshot, and what the document has done to its P and M is what slopes of mu and of nodes not
// listed say (engines/slots/hubs.py has its own way of doing it on the CPU).

#if NETWORK
// Topics without a slot, as the document's citations so far have left them: sums of own lambdaT M
// (x), own lambdaT P (y) and lambdaT own^2 (z), own being mu's c - alpha t; by how much slopes of the
// citing path have changed P and M; and whether slopes of earlier citations' cited ends are on record.
struct Beyond {
  double x, y, z;
  float cite[N_SHARED], cited[N_SHARED];
  bool recorded;
};

// How a pending change reaches topics without a slot besides by mu: by the node below it of the citing
// end, or of the cited end, or (in models of more shared levels) by a loop over all topics. For one
// node sums over all topics less those over slots tell what it does; for two of them, those over the
// topics that both have.
struct Wide {
  bool citing, cited, loop;
  double citing_root, cited_root;  // sums of lambdaT own own_mu over topics without a slot
};

struct CiteWalk {
  Rows rows;
  Stream draws;
  unsigned *have;  // a bit for each topic that has a slot
  i64 first;  // the document's first citation
  int n_slots, kept, filled;  // those of this citation, of the next too, and those that are filled
  Listed all;
  Beyond beyond;
  Wide wide;  // of the pending change
  float guess_mass, guess_unit;
  int n_outside, n_refused;
};

DEV float snapshot_own(i64 node, int level, int k) {
  Seats seats = path_seats(level, (int)node, k);
  if (seats.customers == 0) return 0.0f;
  return (float)seats.customers - topic_discount(level) * (float)seats.tables;
}

// What says how a topic without a slot stands; ``first`` to ``last`` are the citations done.
struct Standing {
  int node[DEPTHS];
  float cite[N_SHARED], cited[N_SHARED];
  i64 first, last;
};

DEV Standing standing_of(const CiteWalk &walk, const Ends &ends, i64 last) {
  Standing standing;
#pragma unroll
  for (int level = 0; level < DEPTHS; level++) standing.node[level] = ends.node[level];
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) {
    standing.cite[level] = walk.beyond.cite[level];
    standing.cited[level] = walk.beyond.cited[level];
  }
  standing.first = walk.beyond.recorded ? walk.first : last;
  standing.last = last;
  return standing;
}

// lambdaT P (stay) and lambdaT M (open) of a topic without a slot. Not pasted in: the sweep is long
// enough to wait for its own instructions.
static __device__ __noinline__ Pair stranger_sums(Standing standing, int k) {
  float scale = (float)ctx.topic_scale[k];
  Pair sums;
  sums.stay = (float)(ctx.topic_scale[k] * ctx.cite_sum[k]);
  sums.open = (float)(ctx.topic_scale[k] * ctx.cited_sum[k]);
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) {
    if (standing.cite[level] == 0.0f && standing.cited[level] == 0.0f) continue;
    float own = snapshot_own(standing.node[level], level, k);
    sums.stay += scale * standing.cite[level] * own;
    sums.open += scale * standing.cited[level] * own;
  }
#pragma unroll 1
  for (i64 e = standing.first; e < standing.last; e++)
#pragma unroll
    for (int level = 1; level < N_SHARED; level++) {
      const float *slope = ctx.move_slope + (e * N_SHARED + level) * 2;
      if (slope[0] == 0.0f && slope[1] == 0.0f) continue;
      float own = snapshot_own(ancestor(ctx.cited_document[e], level), level, k);
      sums.stay += scale * slope[0] * own;
      sums.open += scale * slope[1] * own;
    }
  return sums;
}

DEV bool has_slope(const Ends &ends, int place) {
  return ends.cite_slope[place] != 0.0f || ends.cited_slope[place] != 0.0f;
}

DEV Wide not_wide() { return {false, false, false, 0.0, 0.0}; }

DEV Wide how_wide(const Ends &ends, const Listed &all) {
  Wide wide = not_wide();
#if N_SHARED == 2
  wide.citing = !all.citing && has_slope(ends, 1);
  wide.cited = !all.cited && !ends.met(1) && has_slope(ends, DEPTHS + 1);
#elif N_SHARED > 2
#pragma unroll
  for (int level = 1; level < N_SHARED; level++) {
    bool last = level == N_SHARED - 1;
    wide.loop = wide.loop || (has_slope(ends, level) && !(last && all.citing)) ||
                (has_slope(ends, DEPTHS + level) && !ends.met(level) && !(last && all.cited));
  }
#endif
  return wide;
}

#if N_SHARED == 2
// Sum of lambdaT own own' over the topics without a slot that two nodes have; every group of a warp
// takes part.
DEV double common_topics(const unsigned *have, int a, int b, bool wanted) {
  double sum = 0.0;
#pragma unroll 1
  for (int i = lane_id(); i < BIT_WORDS && wanted; i += LANES)
    for (unsigned bits = bits_of(a)[i] & bits_of(b)[i] & ~have[i]; bits != 0u; bits &= bits - 1u) {
      int k = i * 32 + lowest_bit(bits);
      sum += ctx.topic_scale[k] * snapshot_own(a, 1, k) * snapshot_own(b, 1, k);
    }
  return group_sum(sum);
}

// Change of E by topics without a slot that the node of a place brings; ``done`` citations of the
// document are done. Every group of a warp takes part.
DEV double node_change_beyond(const CiteWalk &walk, const Ends &ends, int place, bool wanted,
                              int done, double &root) {
  const Beyond &beyond = walk.beyond;
  const int node = ends.node[place];
  double x = 0.0, y = 0.0, z = 0.0, zz = 0.0;
#pragma unroll 1
  for (int slot = lane_id(); slot < walk.n_slots && wanted; slot += LANES) {
    int k = walk.rows[slot].whole(END_TOPIC);
    double own = snapshot_own(node, 1, k);
    if (own == 0.0) continue;
    double scaled = own * ctx.topic_scale[k];
    x += scaled * ctx.cited_sum[k];
    y += scaled * ctx.cite_sum[k];
    z += scaled * snapshot_own(0, 0, k);
    zz += scaled * own;
  }
  const double *sums = ctx.outer + (i64)node * (2 + N_SHARED);
  x = sums[0] - group_sum(x);
  y = sums[1] - group_sum(y);
  z = sums[2] - group_sum(z);
  zz = sums[3] - group_sum(zz);
  // P and M are as the document's moves so far have left them
  x += beyond.cited[0] * z;
  y += beyond.cite[0] * z;
  bool moved = beyond.cite[1] != 0.0f || beyond.cited[1] != 0.0f, own_node = node == ends.node[1];
  double shared_with = zz;
  if (warp_any(wanted && moved && !own_node)) {
    double common = common_topics(walk.have, node, ends.node[1], wanted && moved && !own_node);
    if (!own_node) shared_with = common;
  }
  if (moved) {
    x += beyond.cited[1] * shared_with;
    y += beyond.cite[1] * shared_with;
  }
#pragma unroll 1
  for (int i = 0; i < done && warp_any(wanted && beyond.recorded); i++) {
    const float *slope = ctx.move_slope + ((walk.first + i) * N_SHARED + 1) * 2;
    bool asked = wanted && beyond.recorded && (slope[0] != 0.0f || slope[1] != 0.0f);
    if (!warp_any(asked)) continue;
    int other = asked ? ancestor(ctx.cited_document[walk.first + i], 1) : node;
    double common = common_topics(walk.have, node, other, asked && other != node);
    if (other == node) common = zz;
    if (asked) {
      x += slope[1] * common;
      y += slope[0] * common;
    }
  }
  if (wanted) root = z;
  float cite = ends.cite_slope[place], cited = ends.cited_slope[place];
  return cite * (x + cited * zz + ends.cited_slope[0] * z) + cited * (y + ends.cite_slope[0] * z);
}
#endif

#if N_SHARED > 2
// This lane's part of the change of E by topics without a slot, one by one.
DEV float wide_change(const CiteWalk &walk, const Ends &ends, i64 e) {
  float sum = 0.0f;
  Standing standing = standing_of(walk, ends, e);
#pragma unroll 1
  for (int k = lane_id(); k < K; k += LANES) {
    if (has_bit(walk.have, k)) continue;
    Gain gain = {0.0f, 0.0f};
#pragma unroll
    for (int level = 0; level < N_SHARED; level++) {
      float own = snapshot_own(ends.node[level], level, k);
      gain.cite += ends.cite_slope[level] * own;
      gain.cited += ends.cited_slope[level] * own;
      if (!ends.met(level)) {
        own = snapshot_own(ends.node[DEPTHS + level], level, k);
        gain.cite += ends.cite_slope[DEPTHS + level] * own;
        gain.cited += ends.cited_slope[DEPTHS + level] * own;
      }
    }
    if (gain.cite == 0.0f && gain.cited == 0.0f) continue;
    Pair sums = stranger_sums(standing, k);
    sum += rate_of(gain, (float)ctx.topic_scale[k], sums.stay, sums.open);
  }
  return sum;
}
#endif

// Change of E by all topics without a slot, but for those of a loop; every group of a warp takes part.
DEV double change_beyond(CiteWalk &walk, const Ends &ends, i64 e) {
  const Beyond &beyond = walk.beyond;
  double outside = ends.cite_slope[0] * (beyond.x + ends.cited_slope[0] * beyond.z) +
                   ends.cited_slope[0] * beyond.y;
#if N_SHARED == 2
  Wide &wide = walk.wide;
  int done = (int)(e - walk.first);
  if (warp_any(wide.citing)) {
    double more = node_change_beyond(walk, ends, 1, wide.citing, done, wide.citing_root);
    if (wide.citing) outside += more;
  }
  if (warp_any(wide.cited)) {
    const int place = DEPTHS + 1;
    double more = node_change_beyond(walk, ends, place, wide.cited, done, wide.cited_root);
    if (wide.cited) outside += more;
    if (warp_any(wide.citing && wide.cited)) {
      double common =
          common_topics(walk.have, ends.node[1], ends.node[place], wide.citing && wide.cited);
      if (wide.citing && wide.cited)
        outside += (ends.cite_slope[1] * ends.cited_slope[place] +
                    ends.cite_slope[place] * ends.cited_slope[1]) *
                   common;
    }
  }
#endif
  return outside;
}

// What a change that was made does to the topics without a slot; its slopes must be on record. Every
// group of a warp takes part.
DEV void commit_beyond(CiteWalk &walk, const Ends &ends, bool made, i64 e) {
  Beyond &beyond = walk.beyond;
  const Wide &wide = walk.wide;
  if (made) {
    beyond.x += ends.cited_slope[0] * beyond.z;
    beyond.y += ends.cite_slope[0] * beyond.z;
#if N_SHARED == 2
    beyond.x += ends.cited_slope[1] * wide.citing_root;
    beyond.y += ends.cite_slope[1] * wide.citing_root;
    beyond.x += ends.cited_slope[DEPTHS + 1] * wide.cited_root;
    beyond.y += ends.cite_slope[DEPTHS + 1] * wide.cited_root;
    beyond.recorded = beyond.recorded || wide.cited;
#endif
#pragma unroll
    for (int level = 0; level < N_SHARED; level++) {
      beyond.cite[level] += ends.cite_slope[level];
      beyond.cited[level] += ends.cited_slope[level];
    }
    beyond.recorded = beyond.recorded || (N_SHARED > 2 && wide.loop);
  }
#if N_SHARED > 2
  bool loop = wide.loop && made;
  if (!warp_any(loop)) return;
  double x = 0.0, y = 0.0;
  Standing standing = standing_of(walk, ends, e + 1);
#pragma unroll 1
  for (int k = lane_id(); k < K && loop; k += LANES) {
    double own = snapshot_own(0, 0, k);
    if (own == 0.0 || has_bit(walk.have, k)) continue;
    Pair sums = stranger_sums(standing, k);
    x += own * sums.open;
    y += own * sums.stay;
  }
  x = group_sum(x);
  y = group_sum(y);
  if (loop) {
    beyond.x = x;
    beyond.y = y;
  }
#endif
}
#endif
