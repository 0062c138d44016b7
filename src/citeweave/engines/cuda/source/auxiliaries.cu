// Auxiliary variables of the concentrations (CPU twin: engines/core/concentrations.py). Every node has
// streams of its own; logarithms are kept a node at a time and added up in likelihood.cu, those of phi'
// here.

// Successes of a node: psi_j ~ Bernoulli(beta / (beta + j alpha)), j < T, its threads taking turns.
DEV int successes(u64 key, u64 node, int tables, double discount, double beta, int first, int step) {
  u64 place = mix(key ^ mix(node + 1));
  int won = 0;
  for (int j = first; j < tables; j += step)
    won += uniform_at(place, (u64)j) * (beta + j * discount) < beta;
  return won;
}

// Its log(1 - xi); 0 where nobody sits.
DEV double draw_rest(u64 key, u64 node, i64 customers, double beta) {
  if (customers <= 0) return 0.0;
  Rng rng = open_stream(key, 1, node);
  return log_beta_complement(rng, (double)customers, beta);
}

// Nodes above documents: their log(1 - xi) into ``node_value``, successes into ``won`` by level.
KERNEL gather_shared(u64 key) {
  for (int level = 0; level < N_SHARED; level++) {
    double discount = ctx.topic_discount[level];
    int won = 0;
    for (i64 n = ctx.level_start[level] + first_group(); n < ctx.level_end[level];
         n += all_groups()) {
      u64 number = (u64)ctx.node_number[n];
      int customers = (int)ctx.total_customers[n];
      double beta = ctx.topic_concentration[n];
      if (customers > 0)
        won += successes(key, number, (int)ctx.total_tables[n], discount, beta, lane_id(), LANES);
      if (lane_id() == 0) ctx.node_value[n] = draw_rest(key, number, customers, beta);
    }
    add_count(ctx.won + level, won);
  }
}

// The same for the levels of documents, a thread a node: they have few tables.
KERNEL gather_documents(u64 key) {
  for (int level = N_SHARED; level < LEVELS; level++) {
    int won = 0;
    for (i64 n = ctx.level_start[level] + (i64)blockIdx.x * blockDim.x + threadIdx.x;
         n < ctx.level_end[level]; n += (i64)gridDim.x * blockDim.x) {
      u64 number = (u64)ctx.node_number[n];
      int customers = (int)ctx.total_customers[n];
      double beta = ctx.topic_concentration[n];
      if (customers > 0)
        won += successes(key, number, (int)ctx.total_tables[n], ctx.topic_discount[level], beta, 0, 1);
      ctx.node_value[n] = draw_rest(key, number, customers, beta);
    }
    add_count(ctx.won + level, won);
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
      int won = successes(key, node, (int)tables, discount, beta, threadIdx.x, blockDim.x);
      if (won) add_to(ctx.won + (gamma ? RANGE_GAMMA : RANGE_PHI), (u64)won);
    }
    if (threadIdx.x == 0) values[node] = draw_rest(key, node, customers, beta);
  }
}

// Documents whose phi'_dk are taken together, so that lanes have about as many as they are.
#define BATCH (K <= 32 ? 8 : K <= 64 ? 4 : K <= 128 ? 2 : 1)
#define BURST_ROWS (3 * BATCH)

// All phi'_dk that have customers.
KERNEL gather_bursts(u64 key) {
#if BURST
  int *tokens = (int *)group_rows(BURST_ROWS), *tables = tokens + BATCH * K;
  int *used = tables + BATCH * K;
  double beta = ctx.word_concentration[1], discount = ctx.word_discount[2];
  int won = 0;
  Exact sum = no_exact();
  for (i64 first = BATCH * first_group(); first < OWN_DOCUMENTS; first += BATCH * all_groups()) {
    for (int i = lane_id(); i < BATCH * K; i += LANES) tokens[i] = tables[i] = 0;
    group_sync();
    for (int j = 0; j < BATCH && first + j < OWN_DOCUMENTS; j++) {
      i64 end = ctx.document_start[first + j + 1];
      for (i64 i = ctx.document_start[first + j] + lane_id(); i < end; i += LANES) {
        add_to(tokens + j * K + ctx.topic[i], 1);
        add_to(tables + j * K + ctx.topic[i], (int)ctx.burst_table[i]);
      }
    }
    group_sync();
    int n_used = 0;
    for (int i = lane_id(); i - lane_id() < BATCH * K; i += LANES) {
      bool here = i < BATCH * K && tokens[i] > 0;
      int before = group_rank(here);
      if (here) used[n_used + before] = i;
      n_used += group_sum((int)here);
    }
    group_sync();
    for (int i = lane_id(); i < n_used; i += LANES) {
      int cell = used[i];
      u64 node = (u64)ctx.document_number[first + cell / K] * K + cell % K;
      won += successes(key, node, tables[cell], discount, beta, 0, 1);
      add_exact(sum, draw_rest(key, node, tokens[cell], beta));
    }
    group_sync();
  }
  add_count(ctx.won + RANGE_BURST, won);
  tell_group_exact(RANGE_BURST, sum);
#endif
}
