// What kernels over nodes share: a node's own part of its mean, the part it takes from its parent, and
// its weights in P and M.

// A count less its discounted tables. Where topics are many most are zero, and tables need not be read.
DEV double own_count(i64 n, int k, double discount) {
#if COMPACT
  Seats seats = seats_of(n, k);
  return seats.customers - discount * seats.tables;
#else
  int customers = ctx.customers[n * K + k];
  if (SPARSE && customers == 0) return 0.0;
  return customers - discount * ctx.tables[n * K + k];
#endif
}

// theta_nk = own_nk / (beta + C) + (beta + alpha T) / (beta + C) theta_pa(n)k.
struct Shares { double own, above; };

DEV Shares shares_of(i64 n, double discount) {
  double beta = ctx.topic_concentration[n];
  double scale = 1.0 / (beta + (double)ctx.total_customers[n]);
  return {scale, (beta + discount * (double)ctx.total_tables[n]) * scale};
}

#if NETWORK
struct Weights { double cite, cited; };

// A node's weights: its document's propensities, or the sum of what its children pass on
// (``inherited``).
DEV Weights weights_of(i64 n, int level, i64 start) {
  if (level == CITED_LEVEL) return {ctx.cite[n - start], ctx.cited[n - start]};
  return {from_whole(ctx.inherited[2 * n], ctx.unit[0]),
          from_whole(ctx.inherited[2 * n + 1], ctx.unit[1])};
}

// They are kept, with what the node passes on to its parent.
DEV void keep_weights(i64 n, Weights weights, Weights passed) {
  ctx.cite_weight[n] = weights.cite;
  ctx.cited_weight[n] = weights.cited;
  ctx.cite_passed[n] = passed.cite;
  ctx.cited_passed[n] = passed.cited;
}

// Sum over topics of lambdaT_k S_k theta_nk, from this lane's part of that of own_nk: the parent's own
// sum enters by the share that the node takes from it.
DEV void set_rate(i64 n, int level, double discount, double dot) {
  dot = group_sum(dot);
  Shares shares = shares_of(n, discount);
  double above = level == 0 ? 0.0 : ctx.node_rate[ctx.parent[n]];
  if (lane_id() == 0) ctx.node_rate[n] = dot * shares.own + shares.above * above;
}
#endif
