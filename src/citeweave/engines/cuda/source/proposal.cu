// What sweeps over slots need besides the snapshot: where nodes have customers, from which table
// topics outside a document are proposed, and sums over all topics for the citations' exponential.

// A bit for each topic that a node of one level has customers in; ``copies`` for those nodes alone that
// belong to other parts of the chain.
KERNEL mark_topics(int level, int copies) {
#if SPARSE
  i64 begin = copies ? ctx.level_end[level] : ctx.level_start[level];
  for (i64 n = begin + first_group(); n < ctx.level_start[level + 1]; n += all_groups()) {
    unsigned *bits = ctx.bits + (n - ctx.level_start[FIRST_MARKED]) * BIT_WORDS;
#if COMPACT
    for (int i = lane_id(); i < BIT_WORDS; i += LANES) bits[i] = 0u;
    group_sync();
    CountRow row = count_row(n);
    for (int place = lane_id(); place < row.used; place += LANES) {
      int k = row.topic(place);
      if (row.seats(place).customers > 0) add_to((int *)bits + k / 32, (int)(1u << k % 32));
    }
#else
    for (int i = 0; i < BIT_WORDS; i++) {
#if LANES == 32
      int k = i * 32 + lane_id();
      unsigned some = group_votes(k < K && ctx.customers[n * K + k] > 0);
#else
      unsigned some = 0u;
      for (int k = i * 32; k < K && k < i * 32 + 32; k++)
        if (ctx.customers[n * K + k] > 0) some |= 1u << (k - i * 32);
#endif
      if (lane_id() == 0) bits[i] = some;
    }
#endif
  }
#endif
}

// Which nodes above documents have few topics, so that their documents take these for slots.
KERNEL choose_listed(int most) {
#if SPARSE
  const int level = N_SHARED - 1;
  for (i64 n = ctx.level_start[level] + first_group(); n < ctx.level_start[level + 1];
       n += all_groups()) {
    int topics = 0;
    CountRow row = count_row(n);
    for (int place = lane_id(); place < row.used; place += LANES)
      topics += row.seats(place).customers > 0;
    topics = group_sum(topics);
    if (lane_id() == 0)
      ctx.listed[n - ctx.level_start[level]] = level > 0 && topics <= most ? 1 : 0;
  }
#endif
}

// The share of each topic that a document has nothing of. A listed author has nothing of it either:
// then it comes from mu. Of all others it comes from the author, who is much more decided than mu is;
// they are taken together. Shares of authors are added up in whole numbers, so that it does not matter
// which part of a chain has which of them (engines/slots/proposal_tables.py).

#define SHARE_UNIT 1125899906842624.0  // 2^50

// What makes up a topic's share at mu: its customers, or its part of what a new topic gets.
struct RootShares {
  float seats, fresh;
  METHOD float weight(int k) const {
    return root_value(root_seats(k).customers, topic_discount(0), fresh);
  }
};

DEV RootShares root_shares() {
  int used = (int)ctx.total_tables[0];
  float seats = (float)ctx.topic_concentration[0] + (float)ctx.total_customers[0];
  float fresh = ((float)ctx.topic_concentration[0] + topic_discount(0) * (float)used) /
                (float)(used < K ? K - used : 1);
  return {seats, fresh};
}

// Customers of the authors of this part, and of those who are not listed, added to ``seat_sum``.
KERNEL count_seats() {
#if SPARSE && N_SHARED > 1
  const int level = N_SHARED - 1;
  i64 everybody = 0, others = 0;
  for (i64 n = ctx.level_start[level] + (i64)blockIdx.x * blockDim.x + threadIdx.x;
       n < ctx.level_end[level]; n += (i64)gridDim.x * blockDim.x) {
    everybody += ctx.total_customers[n];
    if (!listed((int)n)) others += ctx.total_customers[n];
  }
  everybody = group_sum(everybody);
  others = group_sum(others);
  if (lane_id() > 0) return;
  add_to(ctx.seat_sum, (u64)everybody);
  add_to(ctx.seat_sum + 1, (u64)others);
#endif
}

// Shares of topics under the authors of this part who are not listed, added to ``share_sum``.
KERNEL sum_shares() {
#if SPARSE && N_SHARED > 1
  u64 *sums = (u64 *)shared_pool;
  for (int k = threadIdx.x; k < K; k += blockDim.x) sums[k] = 0;
  block_sync();
  const int level = N_SHARED - 1;
  RootShares root = root_shares();
  double everybody = (double)ctx.seat_sum[0];
  for (i64 n = ctx.level_start[level] + first_group(); n < ctx.level_end[level];
       n += all_groups()) {
    double customers = (double)ctx.total_customers[n];
    if (listed((int)n) || customers == 0.0) continue;
    i64 path[N_SHARED];
    float scale[N_SHARED];
    i64 above = n;
#pragma unroll
    for (int i = level; i >= 0; i--) {
      path[i] = above;
      above = ctx.parent[above];
    }
#pragma unroll
    for (int i = 1; i < N_SHARED; i++)
      scale[i] = ((float)ctx.topic_concentration[path[i]] +
                  topic_discount(i) * (float)ctx.total_tables[path[i]]) /
                 ((float)ctx.topic_concentration[path[i - 1]] +
                  (float)ctx.total_customers[path[i - 1]]);
    double share = customers / everybody * SHARE_UNIT / (ctx.topic_concentration[n] + customers);
    for (int k = lane_id(); k < K; k += LANES) {
      float weight = root.weight(k);
#pragma unroll
      for (int i = 1; i < N_SHARED; i++) {
        Seats seats = seats_of(path[i], k);
        Pair pair = weight_pair(i, seats.customers, seats.tables);
        weight = pair.stay + pair.open * (scale[i] * weight);
      }
      add_to(sums + k, (u64)(i64)(share * weight));
    }
  }
  block_sync();
  for (int k = threadIdx.x; k < K; k += blockDim.x)
    if (sums[k]) add_to(ctx.share_sum + k, sums[k]);
#endif
}

// ``guess_root`` from these sums.
KERNEL make_shares() {
#if SPARSE
  RootShares root = root_shares();
  double under_root = 1.0;  // the part of all customers whose authors are listed
#if N_SHARED > 1
  double everybody = (double)ctx.seat_sum[0];
  under_root = (everybody - (double)ctx.seat_sum[1]) / (everybody > 0.0 ? everybody : 1.0);
#endif
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < K; k += gridDim.x * blockDim.x)
    ctx.guess_root[k] = (float)(under_root * (double)(root.weight(k) / root.seats) +
                                (double)ctx.share_sum[k] / SHARE_UNIT);
#endif
}

// A word's guesses: the weight that every topic would have for it in a document that has nothing of
// it (make_shares), as the counts stand; and a hundredth spread over all topics. ``guess_mass`` is
// the sum that the whole numbers stand for.
KERNEL make_guesses() {
#if SPARSE
  float beta = (float)ctx.topic_word_concentration[0];
  for (i64 w = first_group(); w < N_WORDS; w += all_groups()) {
    float background = 1.0f / N_WORDS;
#if BACKGROUND
    float gamma = (float)ctx.word_concentration[0];
    Pair pair = ctx.background_pair[w];
    background = (pair.stay + pair.open *
                                  (gamma + word_discount(0) * (float)ctx.background_totals[1]) *
                                  (1.0f / N_WORDS)) /
                 (gamma + (float)ctx.background_totals[0]);
#endif
    float *weight = (float *)(ctx.guess + w * K);
    float sum = 0.0f;
    for (int k = lane_id(); k < K; k += LANES) {
      float inverse = 1.0f / (beta + (float)ctx.word_total_customers[k]);
      float opening = (beta + word_discount(1) * (float)ctx.word_total_tables[k]) * inverse;
      float value = ctx.stay[w * K + k] * inverse + ctx.open[w * K + k] * opening * background;
      weight[k] = value * ctx.guess_root[k];
      sum += weight[k];
    }
    sum = accumulate_guess(ctx.guess + w * K, sum);
    if (lane_id() == 0) ctx.guess_mass[w] = sum;
  }
#endif
}

// One group: guesses of a citation's topic, lambdaT_k times the squared share. Shares are those of
// the words' guesses; lambdaT is the present one, which no citation's topic has a part in
// while topics are drawn.
KERNEL make_cite_guesses() {
#if SPARSE && NETWORK
  if (first_group() > 0) return;
  float *weight = (float *)ctx.cite_guess;
  float sum = 0.0f;
  for (int k = lane_id(); k < K; k += LANES) {
    weight[k] = (float)ctx.topic_scale[k] * ctx.guess_root[k] * ctx.guess_root[k];
    sum += weight[k];
  }
  sum = accumulate_guess(ctx.cite_guess, sum);
  if (lane_id() == 0) ctx.guess_mass[N_WORDS] = sum;
#endif
}

// Sums over all topics that the exponential's change needs for nodes whose topics are not all in
// slots (slot_change.cuh): of own lambdaT M, own lambdaT P, and lambdaT own own_m for each level m
// from mu down to the node's own.
KERNEL sum_outer(int level) {
#if SPARSE && NETWORK
  for (i64 n = ctx.level_start[level] + first_group(); n < ctx.level_start[level + 1];
       n += all_groups()) {
    if (level > 0 && level == N_SHARED - 1 && listed((int)n)) continue;
    i64 path[N_SHARED];
    i64 above = n;
#pragma unroll
    for (int i = N_SHARED - 1; i >= 0; i--)
      if (i <= level) {
        path[i] = above;
        above = ctx.parent[above];
      }
    double x = 0.0, y = 0.0, z[N_SHARED];
#pragma unroll
    for (int i = 0; i < N_SHARED; i++) z[i] = 0.0;
    for (int k = lane_id(); k < K; k += LANES) {
      // topics are in the order of rows, whatever counts are stored in: sums must not change
      if (COMPACT && level == FIRST_MARKED && !has_bit(bits_of((int)n), k)) continue;
      Seats seats = seats_of(n, k);
      if (seats.customers == 0) continue;
      double scale = ctx.topic_scale[k];
      double own = seats.customers - ctx.topic_discount[level] * seats.tables;
      x += own * scale * ctx.cited_sum[k];
      y += own * scale * ctx.cite_sum[k];
#pragma unroll
      for (int i = 0; i < N_SHARED; i++)
        if (i <= level) {
          Seats above = i == level ? seats : seats_of(path[i], k);
          z[i] += scale * own * (above.customers - ctx.topic_discount[i] * above.tables);
        }
    }
    double *sums = ctx.outer + n * (2 + N_SHARED);
    x = group_sum(x);
    y = group_sum(y);
    if (lane_id() == 0) {
      sums[0] = x;
      sums[1] = y;
    }
#pragma unroll
    for (int i = 0; i < N_SHARED; i++) {
      double sum = group_sum(z[i]);
      if (lane_id() == 0 && i <= level) sums[2 + i] = sum;
    }
  }
#endif
}
