// Posterior means of the present state, added to sums over kept samples (engines/core/estimates.py).

// A search in a list is too long to be repeated for every chunk.
constexpr int MEAN_UNROLL = COMPACT ? 1 : CHUNKS;

// Counts of a node. Bits tell which topics a list does not have; a paper's lower node has none that its
// upper one lacks.
DEV Seats known_seats(i64 n, int level, int k) {
#if COMPACT
  if (level == 0) return root_seats(k);
  if (level >= FIRST_MARKED) {
    i64 upper = level <= N_SHARED ? n : n - ctx.level_start[level] + ctx.level_start[N_SHARED];
    if (!has_bit(bits_of((int)upper), k)) return {0, 0};
  }
#endif
  return seats_of(n, k);
}

// Turn the mean of a node's parent into the node's own; row by row of lanes.
DEV void descend(double *mean, i64 n, int level) {
  double discount = ctx.topic_discount[level];
  Shares shares = shares_of(n, discount);
#pragma unroll MEAN_UNROLL
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    int k = chunk * LANES + lane_id();
    if (k < K) {
      Seats seats = known_seats(n, level, k);
      double own = seats.customers - discount * seats.tables;
      mean[chunk] = shares.above * mean[chunk] + own * shares.own;
    }
  }
}

DEV double total_of(const double *mean) {
  double total = 0.0;
#pragma unroll
  for (int chunk = 0; chunk < CHUNKS; chunk++)
    if (chunk * LANES + lane_id() < K) total += mean[chunk];
  return group_sum(total);
}

// The mean of a node above documents; made again from mu downwards where it is not kept.
DEV void read_mean(double *mean, i64 n, int level) {
#if MEANS
#pragma unroll
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    int k = chunk * LANES + lane_id();
    mean[chunk] = k < K ? ctx.node_mean[n * K + k] : 0.0;
  }
#else
#pragma unroll
  for (int chunk = 0; chunk < CHUNKS; chunk++) mean[chunk] = 0.0;
  i64 path[N_SHARED];
  for (int i = level; i >= 0; i--) {
    path[i] = n;
    n = ctx.parent[n];
  }
  for (int i = 0; i <= level; i++) descend(mean, path[i], i);
#endif
}

// Nodes above documents, one level at a time, mu first.
KERNEL mean_level(int level) {
  double mean[CHUNKS];
  for (i64 n = ctx.level_start[level] + first_group(); n < ctx.level_start[level + 1];
       n += all_groups()) {
    if (level > 0) {
      read_mean(mean, ctx.parent[n], level - 1);
    } else {
#pragma unroll
      for (int chunk = 0; chunk < CHUNKS; chunk++) mean[chunk] = 0.0;
    }
    descend(mean, n, level);
    double total = total_of(mean);
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
      int k = chunk * LANES + lane_id();
      if (k < K) {
        double share = mean[chunk] / total;
#if MEANS
        ctx.node_mean[n * K + k] = mean[chunk];
#endif
        ctx.sum_nodes[n * K + k] += share;
        ctx.sum_squares[n * K + k] += share * share;
      }
    }
  }
}

KERNEL mean_documents() {
  double mean[CHUNKS];
  for (i64 d = first_group(); d < OWN_DOCUMENTS; d += all_groups()) {
    read_mean(mean, ctx.parent[ctx.level_start[N_SHARED] + d], N_SHARED - 1);
    for (int lower = 0; lower < N_DOCUMENT; lower++) {
      descend(mean, ctx.level_start[N_SHARED + lower] + d, N_SHARED + lower);
      double scale = 1.0 / total_of(mean);
#pragma unroll
      for (int chunk = 0; chunk < CHUNKS; chunk++) {
        int k = chunk * LANES + lane_id();
        if (k < K)
          ctx.sum_documents[(lower * N_DOCUMENTS + d) * K + k] += (float)(mean[chunk] * scale);
      }
    }
  }
}

// p(y = k) of every citation: lambdaT_k theta'_ik theta'_jk, normalised over k.
KERNEL mean_citations(int n_citations) {
#if NETWORK
  double first[CHUNKS], second[CHUNKS];
  for (i64 e = first_group(); e < n_citations; e += all_groups()) {
    read_mean(first, ctx.parent[ctx.level_start[N_SHARED] + ctx.citing[e]], N_SHARED - 1);
    read_mean(second, ctx.parent[ctx.level_start[N_SHARED] + ctx.cited_document[e]], N_SHARED - 1);
    for (int level = N_SHARED; level <= CITED_LEVEL; level++) {
      descend(first, ctx.level_start[level] + ctx.citing[e], level);
      descend(second, ctx.level_start[level] + ctx.cited_document[e], level);
    }
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
      int k = chunk * LANES + lane_id();
      if (k < K) first[chunk] *= second[chunk] * ctx.topic_scale[k];
    }
    double total = total_of(first);
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
      int k = chunk * LANES + lane_id();
      if (k < K) ctx.sum_citing[e * K + k] += (float)(first[chunk] / total);
    }
  }
#endif
}

// phi over the samples in which a topic is in use, and gamma.
KERNEL mean_words() {
  double phi_discount = ctx.word_discount[1], gamma_discount = ctx.word_discount[0];
  for (i64 w = first_group(); w < N_WORDS; w += all_groups()) {
    double background = 1.0 / N_WORDS;
#if BACKGROUND
    double gamma = ctx.word_concentration[0];
    background = (gamma + gamma_discount * (double)ctx.background_totals[1]) / N_WORDS +
                 ctx.background_customers[w] - gamma_discount * ctx.background_tables[w];
    background /= gamma + (double)ctx.background_totals[0];
    if (lane_id() == 0) ctx.sum_background[w] += background;
#endif
    for (int k = lane_id(); k < K; k += LANES) {
      if (root_seats(k).customers == 0) continue;
      double beta = ctx.topic_word_concentration[k];
      double mean = (beta + phi_discount * (double)ctx.word_total_tables[k]) * background;
      mean += ctx.word_customers[w * K + k] - phi_discount * ctx.word_tables[w * K + k];
      ctx.sum_phi[w * K + k] += mean / (beta + (double)ctx.word_total_customers[k]);
    }
  }
}

// Sums of lambda+ and lambda- over documents, into ``exact``, zero before.
KERNEL sum_propensities() {
#if NETWORK
  Exact cite = no_exact(), cited = no_exact();
  for (i64 d = (i64)blockIdx.x * blockDim.x + threadIdx.x; d < OWN_DOCUMENTS;
       d += (i64)gridDim.x * blockDim.x) {
    add_exact(cite, ctx.cite[d]);
    add_exact(cited, ctx.cited[d]);
  }
  tell_block_exact(RANGE_CITE, cite, (i64 *)shared_pool);
  tell_block_exact(RANGE_CITE + 1, cited, (i64 *)shared_pool);
#endif
}

// Propensities with means, which are given, set to 1, since only their products are identified.
KERNEL add_propensities(double cite, double cited) {
#if NETWORK
  i64 first = (i64)blockIdx.x * blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  for (i64 d = first; d < OWN_DOCUMENTS; d += step) {
    ctx.sum_cite[d] += ctx.cite[d] / cite;
    ctx.sum_cited[d] += ctx.cited[d] / cited;
  }
  for (i64 k = first; k < K; k += step) ctx.sum_scale[k] += ctx.topic_scale[k] * (cite * cited);
#endif
}

// In how many samples each topic is in use.
KERNEL count_topics() {
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < K; k += gridDim.x * blockDim.x)
    if (root_seats(k).customers > 0) ctx.sum_topics[k] += 1;
}
