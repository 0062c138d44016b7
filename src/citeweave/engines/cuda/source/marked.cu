// P, M and E from the topics that nodes have customers in, where topics are many (exponent.cu goes
// through all of them).

#if NETWORK
// As weigh_level; sums are added to ``whole_sum``, zero before.
KERNEL weigh_marked(int level) {
  u64 *sums = (u64 *)shared_pool;
  for (int i = threadIdx.x; i < 2 * K + 2; i += blockDim.x) sums[i] = 0;
  block_sync();
  double discount = ctx.topic_discount[level], cite_unit = ctx.unit[0], cited_unit = ctx.unit[1];
  i64 start = ctx.level_start[level];
  for (i64 n = start + first_group(); n < ctx.level_end[level]; n += all_groups()) {
    Weights weights = weights_of(n, level, start);
    double beta = ctx.topic_concentration[n];
    double scale = 1.0 / (beta + (double)ctx.total_customers[n]);
    double share = beta + discount * (double)ctx.total_tables[n];
    double cite_scaled = weights.cite * scale, cited_scaled = weights.cited * scale;
    if (lane_id() == 0) {
      keep_weights(n, weights, {cite_scaled * share, cited_scaled * share});
      if (level == 1) {
        add_to(sums + 2 * K, to_whole(cite_scaled * share, cite_unit));
        add_to(sums + 2 * K + 1, to_whole(cited_scaled * share, cited_unit));
      }
    }
    const unsigned *marks = bits_of((int)n);
    for (int i = lane_id(); i < BIT_WORDS; i += LANES)
      for (unsigned bits = marks[i]; bits != 0u; bits &= bits - 1u) {
        int k = i * 32 + lowest_bit(bits);
        double own = own_count(n, k, discount);
        add_to(sums + k, to_whole(cite_scaled * own, cite_unit));
        add_to(sums + K + k, to_whole(cited_scaled * own, cited_unit));
      }
  }
  block_sync();
  for (int i = threadIdx.x; i < 2 * K + 2; i += blockDim.x)
    if (sums[i]) add_to(ctx.whole_sum + (level - 1) * (2 * K + 2) + i, sums[i]);
}

// As rate_level, below mu.
KERNEL rate_marked(int level, int of_citing) {
  const double *sums = of_citing ? ctx.cited_sum : ctx.cite_sum;
  double discount = ctx.topic_discount[level];
  for (i64 n = ctx.level_start[level] + first_group(); n < ctx.level_start[level + 1];
       n += all_groups()) {
    double dot = 0.0;
    const unsigned *marks = bits_of((int)n);
    for (int i = lane_id(); i < BIT_WORDS; i += LANES)
      for (unsigned bits = marks[i]; bits != 0u; bits &= bits - 1u) {
        int k = i * 32 + lowest_bit(bits);
        dot += ctx.topic_scale[k] * sums[k] * own_count(n, k, discount);
      }
    set_rate(n, level, discount, dot);
  }
}
#endif
