// P, M and E from the counts (engines/core/exponent.py), and the draws that lean on them. Sums over
// nodes are taken in whole numbers (exact.cuh).

#if NETWORK
#define COLUMNS (2 * K + 2)

// One block: by what P and M are multiplied to be whole. No sum over a chain's documents is larger than
// the largest propensity times their number.
KERNEL set_units() {
  double *room = (double *)shared_pool;
  double cite = 0.0, cited = 0.0;
  for (i64 d = threadIdx.x; d < OWN_DOCUMENTS; d += blockDim.x) {
    cite = fmax(cite, ctx.cite[d]);
    cited = fmax(cited, ctx.cited[d]);
  }
  cite = block_max(cite, room);
  cited = block_max(cited, room);
  if (threadIdx.x == 0) {
    ctx.unit[0] = whole_unit(cite * (double)ALL_DOCUMENTS);
    ctx.unit[1] = whole_unit(cited * (double)ALL_DOCUMENTS);
  }
}

// What the children of each segment pass on is added to ``inherited`` of their parent, zero before; a
// node of many children has several segments.
KERNEL sum_segments(int first, int last) {
  double cite_unit = ctx.unit[0], cited_unit = ctx.unit[1];
  for (i64 i = first + first_group(); i < last; i += all_groups()) {
    u64 cite = 0, cited = 0;
    i64 begin = ctx.segment_start[i];
    for (i64 j = begin + lane_id(); j < ctx.segment_start[i + 1]; j += LANES) {
      cite += to_whole(ctx.cite_passed[ctx.child[j]], cite_unit);
      cited += to_whole(ctx.cited_passed[ctx.child[j]], cited_unit);
    }
    cite = group_sum(cite);
    cited = group_sum(cited);
    if (lane_id() == 0) {
      u64 *inherited = ctx.inherited + 2 * (i64)ctx.parent[ctx.child[begin]];
      add_to(inherited, cite);
      add_to(inherited + 1, cited);
    }
  }
}

// One level, from that of citations up to the one below mu: its nodes' sums are added to ``whole_sum``,
// zero before. Each block adds up its nodes for as many topics as there are lanes.
KERNEL weigh_level(int level, int n_parts) {
  u64 *room = (u64 *)shared_pool;
  double discount = ctx.topic_discount[level], cite_unit = ctx.unit[0], cited_unit = ctx.unit[1];
  i64 start = ctx.level_start[level], end = ctx.level_end[level];
  u64 *whole_sum = ctx.whole_sum + (level - 1) * COLUMNS;
  for (int item = blockIdx.x; item < n_parts * CHUNKS; item += gridDim.x) {
    int part = item / CHUNKS, chunk = item % CHUNKS, k = chunk * LANES + lane_id();
    u64 sums[4] = {0, 0, 0, 0};  // of P and M, and what mu is passed of both
    for (i64 n = start + (i64)part * groups_in_block() + group_in_block(); n < end;
         n += (i64)n_parts * groups_in_block()) {
      Weights weights = weights_of(n, level, start);
      double own = 0.0;
      if (k < K) own = own_count(n, k, discount);
      double beta = ctx.topic_concentration[n];
      double scale = 1.0 / (beta + (double)ctx.total_customers[n]);
      double share = beta + discount * (double)ctx.total_tables[n];
      double cite_scaled = weights.cite * scale, cited_scaled = weights.cited * scale;
      sums[0] += to_whole(cite_scaled * own, cite_unit);
      sums[1] += to_whole(cited_scaled * own, cited_unit);
      if (chunk == 0 && lane_id() == 0) {
        keep_weights(n, weights, {cite_scaled * share, cited_scaled * share});
        if (level == 1) {  // mu is the parent of level 1 alone
          sums[2] += to_whole(cite_scaled * share, cite_unit);
          sums[3] += to_whole(cited_scaled * share, cited_unit);
        }
      }
    }
#pragma unroll
    for (int which = 0; which < 4; which++) {
      room[threadIdx.x] = sums[which];
      block_sync();
      int column = which < 2 ? which * K + k : 2 * K + which - 2;
      bool mine = which < 2 ? k < K : chunk == 0 && lane_id() == 0;
      if (group_in_block() == 0 && mine) {
        u64 sum = 0;
        for (int group = 0; group < groups_in_block(); group++)
          sum += room[group * LANES + lane_id()];
        if (sum) add_to(whole_sum + column, sum);
      }
      block_sync();
    }
  }
}

// The sums of levels up to ``lowest`` where finish_sums looks for them; ``whole_sum`` is zero again
// afterwards.
KERNEL place_sums(int lowest) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < lowest * COLUMNS;
       i += gridDim.x * blockDim.x) {
    int level = i / COLUMNS, column = i % COLUMNS;
    bool of_cite = column < K || column == 2 * K;
    ctx.column[column * CITED_LEVEL + level] =
        from_whole(ctx.whole_sum[i], ctx.unit[of_cite ? 0 : 1]);
    ctx.whole_sum[i] = 0;
  }
}

DEV double all_levels(int column) {
  double sum = 0.0;
#pragma unroll
  for (int level = CITED_LEVEL; level > 0; level--) sum += ctx.column[column * CITED_LEVEL + level - 1];
  return sum;
}

// One block: mu's own part, and E.
KERNEL finish_sums() {
  double *room = (double *)shared_pool;
  double scale = 1.0 / (ctx.topic_concentration[0] + (double)ctx.total_customers[0]);
  double cite = all_levels(2 * K), cited = all_levels(2 * K + 1);
  double rate = 0.0;
  for (int k = threadIdx.x; k < K; k += blockDim.x) {
    Seats seats = root_seats(k);
    double own = (seats.customers - ctx.topic_discount[0] * seats.tables) * scale;
    ctx.cite_sum[k] = all_levels(k) + cite * own;
    ctx.cited_sum[k] = all_levels(K + k) + cited * own;
    rate += ctx.topic_scale[k] * ctx.cite_sum[k] * ctx.cited_sum[k];
  }
  rate = block_sum(rate, room);
  if (threadIdx.x == 0) {
    ctx.cite_weight[0] = cite;
    ctx.cited_weight[0] = cited;
    ctx.report[0] = rate;
  }
}

// Sum over topics of lambdaT_k S_k theta_nk for the nodes of one level, S being M or P.
KERNEL rate_level(int level, int of_citing) {
  const double *sums = of_citing ? ctx.cited_sum : ctx.cite_sum;
  double discount = ctx.topic_discount[level];
  for (i64 n = ctx.level_start[level] + first_group(); n < ctx.level_start[level + 1];
       n += all_groups()) {
    double dot = 0.0;
    for (int k = lane_id(); k < K; k += LANES)
      dot += ctx.topic_scale[k] * sums[k] * own_count(n, k, discount);
    set_rate(n, level, discount, dot);
  }
}

// lambda+ (or lambda-) of every document from its Gamma conditional.
KERNEL draw_propensities(u64 key, int of_citing, double shape_prior, double rate_prior) {
  const double *degree = of_citing ? ctx.made : ctx.received;
  double *value = of_citing ? ctx.cite : ctx.cited;
  for (i64 d = (i64)blockIdx.x * blockDim.x + threadIdx.x; d < OWN_DOCUMENTS;
       d += (i64)gridDim.x * blockDim.x) {
    Rng rng = open_stream(key, of_citing ? 0 : 1, (u64)ctx.document_number[d]);
    double rate = rate_prior + ctx.node_rate[ctx.level_start[CITED_LEVEL] + d];
    int drawn = 0;
    while (drawn < MOST_SELF && ctx.self_topic[d * MOST_SELF + drawn] >= 0) drawn++;
    value[d] = standard_gamma(rng, shape_prior + degree[d] + drawn) / rate;
  }
}

// Citations by citing topic, those drawn included, into ``topic_citations``, zero before.
KERNEL count_citations(int n_citations) {
  int *sums = (int *)shared_pool;
  for (int k = threadIdx.x; k < K; k += blockDim.x) sums[k] = 0;
  block_sync();
  for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < n_citations;
       e += (i64)gridDim.x * blockDim.x)
    add_to(sums + ctx.citing_topic[e], 1);
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < OWN_DOCUMENTS * MOST_SELF;
       i += (i64)gridDim.x * blockDim.x)
    if (ctx.self_topic[i] >= 0) add_to(sums + ctx.self_topic[i], 1);
  block_sync();
  for (int k = threadIdx.x; k < K; k += blockDim.x)
    if (sums[k]) add_to(ctx.topic_citations + k, sums[k]);
}

// lambdaT of every topic; ``topic_citations`` is zero again afterwards.
KERNEL draw_topic_scales(u64 key, double shape_prior, double rate_prior) {
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < K; k += gridDim.x * blockDim.x) {
    Rng rng = open_stream(key, 0, (u64)k);
    double rate = rate_prior + ctx.cite_sum[k] * ctx.cited_sum[k];
    ctx.topic_scale[k] = standard_gamma(rng, shape_prior + ctx.topic_citations[k]) / rate;
    ctx.topic_citations[k] = 0;
  }
}
#endif
