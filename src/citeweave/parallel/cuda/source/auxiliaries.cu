// Auxiliary variables of the concentrations (sampler/concentrations.py), and the training log
// likelihood of words. Every node has streams of its own; sums of logarithms are kept a node at a
// time and added up in a fixed order.

// Ranges of ``node_value``: the levels of the topic side, then these; places of the report.
#define RANGE_PHI LEVELS
#define RANGE_GAMMA (LEVELS + 1)
#define RANGE_BURST (LEVELS + 2)
#define REPORT_RANGES 4
#define REPORT_TOPICS 31
#define REPORT_COUNTED 32

// Adds up ``node_value`` over ranges of it, ``per_range`` blocks each; finish_ranges follows.
KERNEL sum_ranges(int first, int last, int per_range) {
  double *room = (double *)shared_pool;
  for (int item = blockIdx.x; item < (last - first) * per_range; item += gridDim.x) {
    int range = first + item / per_range, part = item % per_range;
    double sum = 0.0;
    for (i64 i = ctx.ranges[2 * range] + (i64)part * blockDim.x + threadIdx.x;
         i < ctx.ranges[2 * range + 1]; i += (i64)per_range * blockDim.x)
      sum += ctx.node_value[i];
    sum = block_sum(sum, room);
    if (threadIdx.x == 0) ctx.block_value[range * per_range + part] = sum;
  }
}

// One block: the ranges' sums into the report, from REPORT_RANGES on, and with them what kernels
// counted: successes after the ranges of concentrations, the tally after that of words.
KERNEL finish_ranges(int first, int last, int per_range) {
  double *room = (double *)shared_pool;
  for (int range = first; range < last; range++) {
    double sum = 0.0;
    for (int i = threadIdx.x; i < per_range; i += blockDim.x)
      sum += ctx.block_value[range * per_range + i];
    sum = block_sum(sum, room);
    if (threadIdx.x == 0) ctx.report[REPORT_RANGES + range] = sum;
  }
  for (int i = threadIdx.x; i < 16; i += blockDim.x) {
    u64 *counted = first == 0 ? ctx.won : ctx.tally;
    ctx.report[REPORT_COUNTED + i] = (double)counted[i];
    counted[i] = 0;
  }
  if (threadIdx.x == 0) ctx.report[REPORT_TOPICS] = (double)ctx.total_tables[0];
}

// Successes of a node: psi_j ~ Bernoulli(beta / (beta + j alpha)), j < T, its threads taking turns.
DEV int successes(u64 key, int tables, double discount, double beta, int first, int step) {
  int won = 0;
  for (int j = first; j < tables; j += step)
    won += uniform_at(key, (u64)j) * (beta + j * discount) < beta;
  return won;
}

// Nodes above documents: their log(1 - xi) into ``node_value``, successes into ``won`` by level.
KERNEL gather_shared(u64 key) {
  for (int level = 0; level < N_SHARED; level++) {
    double discount = ctx.topic_discount[level];
    int won = 0;
    for (i64 n = ctx.level_start[level] + first_group(); n < ctx.level_start[level + 1];
         n += all_groups()) {
      int customers = (int)ctx.total_customers[n];
      double beta = ctx.topic_concentration[n];
      if (customers > 0)
        won += successes(mix(key ^ mix((u64)n + 1)), (int)ctx.total_tables[n], discount, beta,
                         lane_id(), LANES);
      if (lane_id() == 0) {
        double value = 0.0;
        if (customers > 0) {
          Rng rng = open_stream(key, 1, (u64)n);
          value = log_beta_complement(rng, (double)customers, beta);
        }
        ctx.node_value[n] = value;
      }
    }
    won = group_sum(won);
    if (lane_id() == 0 && won) add_to(ctx.won + level, (u64)won);
  }
}

// The same for the levels of documents, a thread a node: they have few tables.
KERNEL gather_documents(u64 key) {
  for (int level = N_SHARED; level < LEVELS; level++) {
    double discount = ctx.topic_discount[level];
    int won = 0;
    for (i64 n = ctx.level_start[level] + (i64)blockIdx.x * blockDim.x + threadIdx.x;
         n < ctx.level_start[level + 1]; n += (i64)gridDim.x * blockDim.x) {
      int customers = (int)ctx.total_customers[n];
      double value = 0.0;
      if (customers > 0) {
        double beta = ctx.topic_concentration[n];
        won += successes(mix(key ^ mix((u64)n + 1)), (int)ctx.total_tables[n], discount, beta, 0, 1);
        Rng rng = open_stream(key, 1, (u64)n);
        value = log_beta_complement(rng, (double)customers, beta);
      }
      ctx.node_value[n] = value;
    }
    won = group_sum(won);
    if (lane_id() == 0 && won) add_to(ctx.won + level, (u64)won);
  }
}

// phi_k (block k) and gamma (block K): block by block, since they have many tables.
KERNEL gather_words(u64 key) {
  double *values = ctx.node_value + ctx.ranges[2 * RANGE_PHI];
  int node = blockIdx.x;
  for (; node <= K; node += gridDim.x) {
    bool gamma = node == K;
    i64 customers = gamma ? ctx.background_totals[0] : ctx.word_total_customers[node];
    i64 tables = gamma ? ctx.background_totals[1] : ctx.word_total_tables[node];
    double beta = gamma ? ctx.word_concentration[0] : ctx.topic_word_concentration[node];
    double discount = ctx.word_discount[gamma ? 0 : 1];
    if (customers > 0) {
      int won = successes(mix(key ^ mix((u64)node + 1)), (int)tables, discount, beta, threadIdx.x,
                          blockDim.x);
      if (won) add_to(ctx.won + (gamma ? RANGE_GAMMA : RANGE_PHI), (u64)won);
    }
    if (threadIdx.x == 0) {
      double value = 0.0;
      if (customers > 0) {
        Rng rng = open_stream(key, 1, (u64)node);
        value = log_beta_complement(rng, (double)customers, beta);
      }
      values[node] = value;
    }
  }
}

#define MEASURE_ROWS 2

DEV void count_tokens(int *tokens, int *tables, i64 begin, i64 end) {
  for (int k = lane_id(); k < K; k += LANES) {
    tokens[k] = 0;
    tables[k] = 0;
  }
  group_sync();
  for (i64 i = begin + lane_id(); i < end; i += LANES) {
    add_to(tokens + ctx.topic[i], 1);
#if BURST
    add_to(tables + ctx.topic[i], (int)ctx.burst_table[i]);
#endif
  }
  group_sync();
}

// All phi'_dk that have customers: a document's sum into ``node_value``.
KERNEL gather_bursts(u64 key) {
#if BURST
  double *values = ctx.node_value + ctx.ranges[2 * RANGE_BURST];
  int *tokens = (int *)group_rows(MEASURE_ROWS), *tables = tokens + K;
  double beta = ctx.word_concentration[1], discount = ctx.word_discount[2];
  int won = 0;
  for (i64 d = first_group(); d < N_DOCUMENTS; d += all_groups()) {
    count_tokens(tokens, tables, ctx.document_start[d], ctx.document_start[d + 1]);
    double value = 0.0;
    for (int k = lane_id(); k < K; k += LANES)
      if (tokens[k] > 0) {
        u64 node = (u64)d * K + k;
        won += successes(mix(key ^ mix(node + 1)), tables[k], discount, beta, 0, 1);
        Rng rng = open_stream(key, 1, node);
        value += log_beta_complement(rng, (double)tokens[k], beta);
      }
    value = group_sum(value);
    if (lane_id() == 0) values[d] = value;
    group_sync();
  }
  won = group_sum(won);
  if (lane_id() == 0 && won) add_to(ctx.won + RANGE_BURST, (u64)won);
#endif
}

// log p(w | z, phi') of a document's tokens (sampler/likelihood.py) into ``node_value``.
KERNEL measure_words() {
  int *tokens = (int *)group_rows(MEASURE_ROWS), *tables = tokens + K;
  double beta = ctx.word_concentration[1], discount = ctx.word_discount[2];
  double phi_discount = ctx.word_discount[1];
  double gamma_scale = 1.0, gamma_share = 0.0, gamma_discount = ctx.word_discount[0];
#if BACKGROUND
  gamma_scale = 1.0 / (ctx.word_concentration[0] + (double)ctx.background_totals[0]);
  gamma_share =
      (ctx.word_concentration[0] + gamma_discount * (double)ctx.background_totals[1]) / N_WORDS;
#endif
  for (i64 d = first_group(); d < N_DOCUMENTS; d += all_groups()) {
    i64 begin = ctx.document_start[d], end = ctx.document_start[d + 1];
    count_tokens(tokens, tables, begin, end);
    double value = 0.0;
    for (i64 i = begin + lane_id(); i < end; i += LANES) {
      int w = ctx.word[i], k = ctx.topic[i];
      double background = 1.0 / N_WORDS;
#if BACKGROUND
      background = (gamma_share + ctx.background_customers[w] -
                    gamma_discount * ctx.background_tables[w]) *
                   gamma_scale;
#endif
      double phi_beta = ctx.topic_word_concentration[k];
      double mean = (phi_beta + phi_discount * (double)ctx.word_total_tables[k]) * background;
      mean += ctx.word_customers[(i64)w * K + k] - phi_discount * ctx.word_tables[(i64)w * K + k];
      mean /= phi_beta + (double)ctx.word_total_customers[k];
#if BURST
      double own = 1.0 - discount * ctx.burst_table[i];
      for (i64 j = i - 1; j >= begin && ctx.word[j] == w; j--)
        if (ctx.topic[j] == k) own += 1.0 - discount * ctx.burst_table[j];
      for (i64 j = i + 1; j < end && ctx.word[j] == w; j++)
        if (ctx.topic[j] == k) own += 1.0 - discount * ctx.burst_table[j];
      mean = ((beta + discount * tables[k]) * mean + own) / (beta + tokens[k]);
#endif
      value += log(mean);
    }
    value = group_sum(value);
    if (lane_id() == 0) ctx.node_value[d] = value;
    group_sync();
  }
}
