// The two ends of a citation over slots (all_ends.cuh has the same over all topics). Topics of the
// citing document keep their slots; most that only the cited paper has lose them when the next is at
// hand. A topic without a slot has customers on shared levels alone, those of the snapshot, and what
// the document has done to its P and M is what slopes of mu and of nodes not listed say.

#if NETWORK
// Topics without a slot, as the document's citations so far have left them: sums of own lambdaT M
// (x), own lambdaT P (y) and lambdaT own^2 (z), own being mu's c - alpha t; by how much slopes of the
// citing path have changed P and M; and whether slopes of earlier citations' cited ends are on record.
struct Beyond {
  double x, y, z;
  float cite[N_SHARED], cited[N_SHARED];
  bool recorded;
};

// Whose slots hold all topics of the last level above documents, at either end.
struct Listed { bool citing, cited; };

DEV float snapshot_own(i64 node, int level, int k) {
  int c = ctx.customers[node * K + k];
  return c == 0 ? 0.0f : (float)c - topic_discount(level) * (float)ctx.tables[node * K + k];
}

DEV float own_of(const float *cell, int customers, int tables, int level) {
  return (float)WHOLE(cell, customers) - topic_discount(level) * (float)WHOLE(cell, tables);
}

// What says how a topic without a slot stands; ``first`` to ``last`` are the citations done.
struct Standing {
  int node[DEPTHS];
  float cite[N_SHARED], cited[N_SHARED];
  i64 first, last;
};

DEV Standing standing_of(const Slots &slots, const Beyond &beyond, i64 first, i64 last) {
  Standing standing;
#pragma unroll
  for (int level = 0; level < DEPTHS; level++) standing.node[level] = slots.node[level];
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) {
    standing.cite[level] = beyond.cite[level];
    standing.cited[level] = beyond.cited[level];
  }
  standing.first = beyond.recorded ? first : last;
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

// Fill a slot whose topic is written: mu, the citing end, and P and M.
static __device__ __noinline__ void fill_citing(float *cell, Standing standing) {
  int k = WHOLE(cell, CROW_TOPIC);
#pragma unroll
  for (int level = 0; level <= CITED_LEVEL; level++) {
    i64 place = (i64)standing.node[level] * K + k;
    WHOLE(cell, CROW_C + level) = ctx.customers[place];
    WHOLE(cell, CROW_T + level) = ctx.tables[place];
  }
  REAL(cell, CROW_SCALE) = (float)ctx.topic_scale[k];
  Pair sums = stranger_sums(standing, k);
  REAL(cell, CROW_CITE) = sums.stay;
  REAL(cell, CROW_CITED) = sums.open;
}

// A slot's part of the sums over topics without one: to be taken out when it gets the slot, and to be
// put back when it loses it, its counts being the snapshot's at both times.
DEV void beyond_part(Rows rows, int slot, double &x, double &y, double &z) {
  float *cell = rows[slot];
  double own = own_of(cell, CROW_C, CROW_T, 0);
  x += own * REAL(cell, CROW_CITED);
  y += own * REAL(cell, CROW_CITE);
  z += own * own * REAL(cell, CROW_SCALE);
}

// Fill the slots from ``from`` on, whose topics are written; every group of a warp takes part.
DEV void fill_slots(Rows rows, int from, int n_slots, const Slots &slots, Beyond &beyond, i64 first,
                    i64 last) {
  double x = 0.0, y = 0.0, z = 0.0;
  Standing standing = standing_of(slots, beyond, first, last);
  int begin = from / LANES * LANES + lane_id();
#pragma unroll 1
  for (int slot = begin < from ? begin + LANES : begin; slot < n_slots; slot += LANES) {
    fill_citing(rows[slot], standing);
    beyond_part(rows, slot, x, y, z);
  }
  beyond.x -= group_sum(x);
  beyond.y -= group_sum(y);
  beyond.z -= group_sum(z);
}

// Whether a change's slopes are those of nodes whose topics all have slots. Then these stay: what the
// slopes did to them is written nowhere else.
DEV bool keeps_slots(const Slots &slots, const Listed &all) {
  bool keeps = false;
#pragma unroll
  for (int level = 1; level <= CITED_LEVEL; level++) {
    bool sloped = slots.cite_slope[DEPTHS + level] != 0.0f ||
                  slots.cited_slope[DEPTHS + level] != 0.0f;
    bool in_slots = level >= N_SHARED || (level == N_SHARED - 1 && all.cited);
    keeps = keeps || (sloped && in_slots && !met(slots, level));
  }
  return keeps;
}

// Slots from ``kept`` on are given up, but for that of a topic which the citation has moved to: it
// becomes the last one kept. Every group of a warp takes part; gives the number of slots.
DEV int drop_slots(Rows rows, int kept, int n_slots, unsigned *have, Beyond &beyond, int moved_to) {
  if (moved_to >= kept) {
    if (moved_to > kept)
      for (int field = lane_id(); field < CITE_ROWS; field += LANES) {
        float own = REAL(rows[kept], field);
        REAL(rows[kept], field) = REAL(rows[moved_to], field);
        REAL(rows[moved_to], field) = own;
      }
    kept++;
  }
  group_sync();
  double x = 0.0, y = 0.0, z = 0.0;
  int begin = kept / LANES * LANES + lane_id();
#pragma unroll 1
  for (int slot = begin < kept ? begin + LANES : begin; slot < n_slots; slot += LANES) {
    int k = INTS(CROW_TOPIC)[slot];
    beyond_part(rows, slot, x, y, z);
    add_to((int *)have + k / 32, -(int)(1u << (k % 32)));  // the bit is set
  }
  beyond.x += group_sum(x);
  beyond.y += group_sum(y);
  beyond.z += group_sum(z);
  group_sync();
  return kept;
}

// Counts of a cited end's node in one slot; ``marked`` where the node's bits tell its topics.
DEV void fill_cited(Rows rows, int slot, int level, int node, bool marked) {
  int k = INTS(CROW_TOPIC)[slot], c = 0, t = 0;
  if (!marked || (bits_of(node)[k / 32] >> (k % 32) & 1u)) {
    c = ctx.customers[(i64)node * K + k];
    t = ctx.tables[(i64)node * K + k];
  }
  INTS(CROW_C + DEPTHS + level)[slot] = c;
  INTS(CROW_T + DEPTHS + level)[slot] = t;
}

// Let the node in a place of the cited end have what the document's citations first to e - 1 did to
// it when it was their cited end. Every lane goes through all of them, for its own slots.
DEV void add_own_moves(Rows rows, int n_slots, Slots &slots, int place, int level, i64 first, i64 e) {
  int node = slots.node[place], step = CITED_LEVEL - level;
  i64 latest = -1;
  for (i64 before = first; before < e; before++) {
    const unsigned char *depth = ctx.move_depth + 4 * before;
    int out = depth[2], into = depth[3];
    if (depth[0] + out + depth[1] + into == 0) continue;
    if (ancestor(ctx.cited_document[before], level) != node) continue;
    latest = before;
    int left = step < out, closed = step + 1 < out, came = step < into, opened = step + 1 < into;
    int old = ctx.move_old[before], fresh = ctx.move_new[before];
    for (int slot = lane_id(); slot < n_slots; slot += LANES) {
      int k = INTS(CROW_TOPIC)[slot];
      INTS(CROW_C + place)[slot] += (k == fresh ? came : 0) - (k == old ? left : 0);
      INTS(CROW_T + place)[slot] += (k == fresh ? opened : 0) - (k == old ? closed : 0);
    }
    slots.customers[place] += came - left;
    slots.tables[place] += opened - closed;
  }
  if (latest >= 0 && level < CITED_LEVEL) {
    const float *weight = ctx.move_weight + (latest * CITED_LEVEL + level) * 2;
    slots.cite[place] = weight[0];
    slots.cited[place] = weight[1];
  }
}

// What turns the guesses' shares at mu into an end's weights (as ``outside`` in slot_document.cuh).
template <int SIDE> DEV float end_outside(const Slots &slots, bool listed_end) {
  const int above = N_SHARED > 1 ? N_SHARED - 1 : 1;
  float value = 0.0f;
  EACH_SLOT(SIDE, above, {
    value = slots.beta[slot] + (listed_end ? topic_discount(above) * (float)slots.tables[slot]
                                           : (float)slots.customers[slot]);
  })
#pragma unroll
  for (int level = above + 1; level <= CITED_LEVEL; level++) value *= scale_at<SIDE>(slots, level);
  return value;
}

// Weight at an end of a topic that has no slot, up to the end's factor.
template <int SIDE> DEV float stranger_end(const Slots &slots, int k, float fresh) {
  float weight = root_value(ctx.customers[k], topic_discount(0), fresh);
#pragma unroll
  for (int level = 1; level <= CITED_LEVEL; level++) {
    weight *= scale_at<SIDE>(slots, level);
    if (level < N_SHARED) {
      int node = SIDE == 0 || met(slots, level) ? slots.node[level] : slots.node[DEPTHS + level];
      i64 place = (i64)node * K + k;
      Pair pair = weight_pair(level, ctx.customers[place], ctx.tables[place]);
      weight = pair.stay + pair.open * weight;
    }
  }
  return weight;
}

// Every slot's weight at both ends, up to one factor each; below zero for topics that neither end has.
// Gives this lane's sum of the others.
DEV float weigh_ends(Rows rows, int n_slots, const Slots &slots, const Listed &all) {
  float first_scale[DEPTHS], second_scale[DEPTHS];
#pragma unroll
  for (int level = 1; level <= CITED_LEVEL; level++) {
    first_scale[level] = scale_at<0>(slots, level);
    second_scale[level] = scale_at<1>(slots, level);
  }
  float fresh = fresh_weight(slots), mass = 0.0f;
#pragma unroll 1
  for (int k = lane_id(); k < n_slots; k += LANES) {
    float *cell = rows[k];
    float first = root_value(WHOLE(cell, CROW_C), topic_discount(0), fresh), second = first;
    bool inside = false;
#pragma unroll
    for (int level = 1; level <= CITED_LEVEL; level++) {
      int c = WHOLE(cell, CROW_C + level);
      Pair pair = weight_pair(level, c, WHOLE(cell, CROW_T + level));
      first = pair.stay + pair.open * (first_scale[level] * first);
      if (level == N_SHARED || (level == N_SHARED - 1 && all.citing)) inside = inside || c > 0;
      if (!met(slots, level)) {
        int row = DEPTHS + level;
        c = WHOLE(cell, CROW_C + row);
        pair = weight_pair(level, c, WHOLE(cell, CROW_T + row));
        if (level == N_SHARED || (level == N_SHARED - 1 && all.cited)) inside = inside || c > 0;
      }
      second = pair.stay + pair.open * (second_scale[level] * second);
    }
    float value = REAL(cell, CROW_SCALE) * first * second;
    REAL(cell, CROW_SECOND) = second;
    REAL(cell, CROW_MASS) = inside ? value : -value;
    if (inside) mass += value;
  }
  return mass;
}

// The slot where the sum of the inside weights passes the target; -1 if it does not.
DEV int pick_cite_slot(Rows rows, int n_slots, float target, float mass) {
  float running = group_scan(mass);
  int who = group_first(mass > 0.0f && target < running);
  target -= running - mass;
  int last = -1;
  bool found = false;
  for (int k = lane_id(); k < n_slots && lane_id() == who && !found; k += LANES) {
    float value = FLOATS(CROW_MASS)[k];
    if (value > 0.0f) {
      last = k;
      found = target < value;
      target -= value;
    }
  }
  int picked = group_from(last, who < 0 ? 0 : who);
  return who < 0 ? -1 : picked;
}

// How a pending change reaches topics without a slot besides by mu: by the node below it of the citing
// end, or of the cited end, or (in models of more shared levels) by a loop over all topics. For one
// node sums over all topics less those over slots tell what it does; for two of them, those over the
// topics that both have.
struct Wide {
  bool citing, cited, loop;
  double citing_root, cited_root;  // sums of lambdaT own own_mu over topics without a slot
};

template <int PLACE> DEV bool has_slope(const Slots &slots) {
  return slots.cite_slope[PLACE] != 0.0f || slots.cited_slope[PLACE] != 0.0f;
}

DEV Wide how_wide(const Slots &slots, const Listed &all) {
  Wide wide = {false, false, false, 0.0, 0.0};
#if N_SHARED == 2
  wide.citing = !all.citing && has_slope<1>(slots);
  wide.cited = !all.cited && !met(slots, 1) && has_slope<DEPTHS + 1>(slots);
#elif N_SHARED > 2
#pragma unroll
  for (int level = 1; level < N_SHARED; level++) {
    bool last = level == N_SHARED - 1;
    bool citing = slots.cite_slope[level] != 0.0f || slots.cited_slope[level] != 0.0f;
    bool cited = slots.cite_slope[DEPTHS + level] != 0.0f ||
                 slots.cited_slope[DEPTHS + level] != 0.0f;
    wide.loop = wide.loop || (citing && !(last && all.citing)) ||
                (cited && !met(slots, level) && !(last && all.cited));
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

// Change of E by topics without a slot that one end's node brings, its slopes being ``cite`` and
// ``cited``; citations ``first`` to ``first + done`` are done. Every group of a warp takes part.
DEV double node_change_beyond(Rows rows, int n_slots, const unsigned *have, int node,
                              const Slots &slots, const Beyond &beyond, float cite, float cited,
                              bool wanted, i64 first, int done, double &root) {
  double x = 0.0, y = 0.0, z = 0.0, zz = 0.0;
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots && wanted; slot += LANES) {
    int k = INTS(CROW_TOPIC)[slot];
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
  bool moved = beyond.cite[1] != 0.0f || beyond.cited[1] != 0.0f, own_node = node == slots.node[1];
  double shared_with = zz;
  if (warp_any(wanted && moved && !own_node)) {
    double common = common_topics(have, node, slots.node[1], wanted && moved && !own_node);
    if (!own_node) shared_with = common;
  }
  if (moved) {
    x += beyond.cited[1] * shared_with;
    y += beyond.cite[1] * shared_with;
  }
#pragma unroll 1
  for (int i = 0; i < done && warp_any(wanted && beyond.recorded); i++) {
    const float *slope = ctx.move_slope + ((first + i) * N_SHARED + 1) * 2;
    bool asked = wanted && beyond.recorded && (slope[0] != 0.0f || slope[1] != 0.0f);
    if (!warp_any(asked)) continue;
    int other = asked ? ancestor(ctx.cited_document[first + i], 1) : node;
    double common = common_topics(have, node, other, asked && other != node);
    if (other == node) common = zz;
    if (asked) {
      x += slope[1] * common;
      y += slope[0] * common;
    }
  }
  if (wanted) root = z;
  return cite * (x + cited * zz + slots.cited_slope[0] * z) + cited * (y + slots.cite_slope[0] * z);
}
#endif

#if N_SHARED > 2
// This lane's part of the change of E by topics without a slot, one by one.
DEV float wide_change(const unsigned *have, const Slots &slots, const Beyond &beyond, i64 first,
                      i64 e) {
  float sum = 0.0f;
  Standing standing = standing_of(slots, beyond, first, e);
#pragma unroll 1
  for (int k = lane_id(); k < K; k += LANES) {
    if (have[k / 32] >> (k % 32) & 1u) continue;
    float cite = 0.0f, cited = 0.0f;
#pragma unroll
    for (int level = 0; level < N_SHARED; level++) {
      float own = snapshot_own(slots.node[level], level, k);
      cite += slots.cite_slope[level] * own;
      cited += slots.cited_slope[level] * own;
      if (!met(slots, level)) {
        own = snapshot_own(slots.node[DEPTHS + level], level, k);
        cite += slots.cite_slope[DEPTHS + level] * own;
        cited += slots.cited_slope[DEPTHS + level] * own;
      }
    }
    if (cite == 0.0f && cited == 0.0f) continue;
    Pair sums = stranger_sums(standing, k);
    sum += cite * (sums.open + (float)ctx.topic_scale[k] * cited) + sums.stay * cited;
  }
  return sum;
}
#endif

// As ``cite_topic_change``.
DEV void slot_change(const float *cell, const Slots &slots, bool before, bool after, float &cite,
                     float &cited) {
  cite = before ? slots.cite_old : 0.0f;
  cited = before ? slots.cited_old : 0.0f;
  cite += after ? slots.cite_new : 0.0f;
  cited += after ? slots.cited_new : 0.0f;
  if (!slots.all) return;
#pragma unroll
  for (int place = 0; place < SLOTS; place++) {
    if (place == DEPTHS) continue;  // mu is the citing end's
    // a cited end's place is stale where the paths have met; no slope is set there
    float own = own_of(cell, CROW_C + place, CROW_T + place, place % DEPTHS);
    bool used = place < DEPTHS || !met(slots, place - DEPTHS);
    cite += slots.cite_slope[place] * (used ? own : 0.0f);
    cited += slots.cited_slope[place] * (used ? own : 0.0f);
  }
}

DEV float cite_change(Rows rows, int n_slots, const unsigned *have, Slots &slots,
                      const Beyond &beyond, Wide &wide, int before, int after, i64 first, i64 e) {
  float cite, cited, sum = 0.0f;
#pragma unroll 1
  for (int k = first_changed(slots.all, before, after); k < n_slots;
       k = next_changed(k, slots.all, before, after, n_slots)) {
    const float *cell = rows[k];
    slot_change(cell, slots, k == before, k == after, cite, cited);
    sum += cite * (REAL(cell, CROW_CITED) + REAL(cell, CROW_SCALE) * cited) +
           REAL(cell, CROW_CITE) * cited;
  }
#if N_SHARED > 2
  if (wide.loop) sum += wide_change(have, slots, beyond, first, e);
#endif
  sum = group_sum(sum);
  double outside = slots.cite_slope[0] * (beyond.x + slots.cited_slope[0] * beyond.z) +
                   slots.cited_slope[0] * beyond.y;
#if N_SHARED == 2
  int done = (int)(e - first);
  if (warp_any(wide.citing)) {
    double more = node_change_beyond(rows, n_slots, have, slots.node[1], slots, beyond,
                                     slots.cite_slope[1], slots.cited_slope[1], wide.citing, first,
                                     done, wide.citing_root);
    if (wide.citing) outside += more;
  }
  if (warp_any(wide.cited)) {
    const int place = DEPTHS + 1;
    double more = node_change_beyond(rows, n_slots, have, slots.node[place], slots, beyond,
                                     slots.cite_slope[place], slots.cited_slope[place], wide.cited,
                                     first, done, wide.cited_root);
    if (wide.cited) outside += more;
    if (warp_any(wide.citing && wide.cited)) {
      double common =
          common_topics(have, slots.node[1], slots.node[place], wide.citing && wide.cited);
      if (wide.citing && wide.cited)
        outside += (slots.cite_slope[1] * slots.cited_slope[place] +
                    slots.cite_slope[place] * slots.cited_slope[1]) *
                   common;
    }
  }
#endif
  if (slots.all && !wide.loop) sum += (float)outside;
  return sum;
}

DEV void commit_cite_change(Rows rows, int n_slots, Slots &slots, int before, int after) {
#pragma unroll 1
  for (int k = first_changed(slots.all, before, after); k < n_slots;
       k = next_changed(k, slots.all, before, after, n_slots)) {
    float *cell = rows[k];
    float cite, cited;
    slot_change(cell, slots, k == before, k == after, cite, cited);
    REAL(cell, CROW_CITE) += REAL(cell, CROW_SCALE) * cite;
    REAL(cell, CROW_CITED) += REAL(cell, CROW_SCALE) * cited;
  }
  commit_weights(slots);
}

// What a change that was made does to the topics without a slot; its slopes must be on record. Every
// group of a warp takes part.
DEV void commit_beyond(const unsigned *have, const Slots &slots, Beyond &beyond, bool made,
                       const Wide &wide, i64 first, i64 e) {
  if (made) {
    beyond.x += slots.cited_slope[0] * beyond.z;
    beyond.y += slots.cite_slope[0] * beyond.z;
#if N_SHARED == 2
    beyond.x += slots.cited_slope[1] * wide.citing_root;
    beyond.y += slots.cite_slope[1] * wide.citing_root;
    beyond.x += slots.cited_slope[DEPTHS + 1] * wide.cited_root;
    beyond.y += slots.cite_slope[DEPTHS + 1] * wide.cited_root;
    beyond.recorded = beyond.recorded || wide.cited;
#endif
#pragma unroll
    for (int level = 0; level < N_SHARED; level++) {
      beyond.cite[level] += slots.cite_slope[level];
      beyond.cited[level] += slots.cited_slope[level];
    }
    beyond.recorded = beyond.recorded || (N_SHARED > 2 && wide.loop);
  }
#if N_SHARED > 2
  bool loop = wide.loop && made;
  if (!warp_any(loop)) return;
  double x = 0.0, y = 0.0;
  Standing standing = standing_of(slots, beyond, first, e + 1);
#pragma unroll 1
  for (int k = lane_id(); k < K && loop; k += LANES) {
    double own = snapshot_own(0, 0, k);
    if (own == 0.0 || (have[k / 32] >> (k % 32) & 1u)) continue;
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
