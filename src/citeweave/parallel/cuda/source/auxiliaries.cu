// Auxiliary variables of the concentrations (sampler/concentrations.py), and the training log
// likelihood of words. Every node has streams of its own; sums of logarithms are kept a node at a
// time and added up in a fixed order.

// Adds up ``node_value`` into ``report[place]``; two launches, of many blocks and of one.
KERNEL sum_values(i64 begin, i64 end) {
  double *room = (double *)shared_pool;
  double sum = 0.0;
  for (i64 i = begin + (i64)blockIdx.x * blockDim.x + threadIdx.x; i < end;
       i += (i64)gridDim.x * blockDim.x)
    sum += ctx.node_value[i];
  room[threadIdx.x] = sum;
  block_sync();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if ((int)threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
    block_sync();
  }
  if (threadIdx.x == 0) ctx.block_value[blockIdx.x] = room[0];
}

KERNEL sum_blocks(int n_blocks, int place) {
  double *room = (double *)shared_pool;
  double sum = 0.0;
  for (int i = threadIdx.x; i < n_blocks; i += blockDim.x) sum += ctx.block_value[i];
  room[threadIdx.x] = sum;
  block_sync();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if ((int)threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
    block_sync();
  }
  if (threadIdx.x == 0) ctx.report[place] = room[0];
}

// Successes of a node: psi_j ~ Bernoulli(beta / (beta + j alpha)), j < T, its threads taking turns.
DEV int successes(u64 key, int tables, double discount, double beta, int first, int step) {
  int won = 0;
  for (int j = first; j < tables; j += step)
    won += uniform_at(key, (u64)j) * (beta + j * discount) < beta;
  return won;
}

// Nodes of a topic-side level: their log(1 - xi) into ``node_value``, successes into ``won``.
KERNEL gather_level(u64 key, int level, int place) {
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
  if (lane_id() == 0 && won) add_to(ctx.won + place, (u64)won);
}

// The same for a level of documents, a thread a node: they have few tables.
KERNEL gather_documents(u64 key, int level, int place) {
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
  if (lane_id() == 0 && won) add_to(ctx.won + place, (u64)won);
}

// phi_k (block k) and gamma (block K): block by block, since they have many tables.
KERNEL gather_words(u64 key, int phi_place, int gamma_place) {
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
      if (won) add_to(ctx.won + (gamma ? gamma_place : phi_place), (u64)won);
    }
    if (threadIdx.x == 0) {
      double value = 0.0;
      if (customers > 0) {
        Rng rng = open_stream(key, 1, (u64)node);
        value = log_beta_complement(rng, (double)customers, beta);
      }
      if (gamma)
        ctx.report[gamma_place] = value;
      else
        ctx.node_value[node] = value;
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
KERNEL gather_bursts(u64 key, int place) {
#if BURST
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
    if (lane_id() == 0) ctx.node_value[d] = value;
    group_sync();
  }
  won = group_sum(won);
  if (lane_id() == 0 && won) add_to(ctx.won + place, (u64)won);
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
