// Slice draws of a level's concentration: what E would be at several values of it, in two launches.
// What the level's nodes n add to P_k is linear in their parents' means,
//   w_n (own_nk + (beta + a T_n) theta_pa(n)k) / (beta + C_n),
// and parents' means do not change with the level's own concentration.

#if NETWORK
#define TRIALS 16  // values of a launch
#define TRIAL_PLACE 48  // of their E in the report
#define TRIAL_BETAS                                                                          \
  double b0, double b1, double b2, double b3, double b4, double b5, double b6, double b7,    \
      double b8, double b9, double b10, double b11, double b12, double b13, double b14,      \
      double b15
#define TRIAL_LIST {b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15}

// theta of a level's nodes, given their parents'; what mu keeps for new topics is left out.
KERNEL set_means(int level) {
  double discount = ctx.topic_discount[level];
  for (i64 n = ctx.level_start[level] + first_group(); n < ctx.level_start[level + 1];
       n += all_groups()) {
    Shares shares = shares_of(n, discount);
    i64 above = (i64)ctx.parent[n] * K;
    for (int k = lane_id(); k < K; k += LANES) {
      double own = own_count(n, k, discount) * shares.own;
      ctx.node_mean[n * K + k] = level == 0 ? own : shares.above * ctx.node_mean[above + k] + own;
    }
  }
}

// Each block adds up its nodes for as many topics as there are lanes, into ``trial_sum``, zero before;
// below mu only.
KERNEL try_level(int level, int n_parts, TRIAL_BETAS) {
  const double beta[TRIALS] = TRIAL_LIST;
  u64 *room = (u64 *)shared_pool;
  double discount = ctx.topic_discount[level], cite_unit = ctx.unit[0], cited_unit = ctx.unit[1];
#if LANES >= TRIALS
  double mine = beta[0];
#pragma unroll
  for (int j = 1; j < TRIALS; j++)
    if (lane_id() % TRIALS == j) mine = beta[j];
#endif
  for (int item = blockIdx.x; item < n_parts * CHUNKS; item += gridDim.x) {
    int part = item / CHUNKS, k = item % CHUNKS * LANES + lane_id();
    u64 cite_sum[TRIALS], cited_sum[TRIALS];
#pragma unroll
    for (int j = 0; j < TRIALS; j++) cite_sum[j] = cited_sum[j] = 0;
    for (i64 n = ctx.level_start[level] + (i64)part * groups_in_block() + group_in_block();
         n < ctx.level_end[level]; n += (i64)n_parts * groups_in_block()) {
      double total = (double)ctx.total_customers[n];
      double taken = discount * (double)ctx.total_tables[n];
      double cite = ctx.cite_weight[n], cited = ctx.cited_weight[n];
      double above = 0.0, fixed = 0.0;
      if (k < K) {
        above = ctx.node_mean[(i64)ctx.parent[n] * K + k];
        fixed = own_count(n, k, discount) + taken * above;
      }
#if LANES >= TRIALS
      double inverse = 1.0 / (mine + total);  // each lane takes one division for all
#endif
#pragma unroll
      for (int j = 0; j < TRIALS; j++) {
#if LANES >= TRIALS
        double scale = group_from(inverse, j);
#else
        double scale = 1.0 / (beta[j] + total);
#endif
        double value = scale * (fixed + beta[j] * above);
        cite_sum[j] += to_whole(cite * value, cite_unit);
        cited_sum[j] += to_whole(cited * value, cited_unit);
      }
    }
#pragma unroll
    for (int j = 0; j < 2 * TRIALS; j++) {
      room[threadIdx.x] = j < TRIALS ? cite_sum[j % TRIALS] : cited_sum[j % TRIALS];
      block_sync();
      if (group_in_block() == 0 && k < K) {
        u64 sum = 0;
        for (int group = 0; group < groups_in_block(); group++)
          sum += room[group * LANES + lane_id()];
        if (sum) add_to(ctx.trial_sum + j * K + k, sum);
      }
      block_sync();
    }
  }
}

// A block a value: E, with what lower levels add and, for mu, in closed form.
KERNEL finish_trials(int level, TRIAL_BETAS) {
  const double beta[TRIALS] = TRIAL_LIST;
  double *room = (double *)shared_pool;
  for (int j = blockIdx.x; j < TRIALS; j += gridDim.x) {
    double scale = 1.0 / (beta[j] + (double)ctx.total_customers[0]);
    double rate = 0.0;
    for (int k = threadIdx.x; k < K; k += blockDim.x) {
      double cite = from_whole(ctx.trial_sum[j * K + k], ctx.unit[0]);
      double cited = from_whole(ctx.trial_sum[(TRIALS + j) * K + k], ctx.unit[1]);
      if (level == 0) {
        Seats seats = root_seats(k);
        double own = (seats.customers - ctx.topic_discount[0] * seats.tables) * scale;
        cite = ctx.cite_weight[0] * own;
        cited = ctx.cited_weight[0] * own;
      }
      for (int lower = CITED_LEVEL; lower > level; lower--) {
        cite += ctx.column[k * CITED_LEVEL + lower - 1];
        cited += ctx.column[(K + k) * CITED_LEVEL + lower - 1];
      }
      rate += ctx.topic_scale[k] * cite * cited;
    }
    rate = block_sum(rate, room);
    if (threadIdx.x == 0) ctx.report[TRIAL_PLACE + j] = rate;
  }
}
#endif

// One concentration for all nodes of a level.
KERNEL set_level(int level, double beta) {
  for (i64 n = ctx.level_start[level] + (i64)blockIdx.x * blockDim.x + threadIdx.x;
       n < ctx.level_start[level + 1]; n += (i64)gridDim.x * blockDim.x)
    ctx.topic_concentration[n] = beta;
}

// Those of the word side: gamma, phi and phi'.
KERNEL set_words(double gamma, double phi, double burst) {
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < K; k += gridDim.x * blockDim.x)
    ctx.topic_word_concentration[k] = phi;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    ctx.word_concentration[0] = gamma;
    ctx.word_concentration[1] = burst;
  }
}
