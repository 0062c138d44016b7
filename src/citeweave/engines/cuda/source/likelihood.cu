// Sums over ranges of ``node_value``, in a fixed order, and the training log likelihood of words.

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

// log p(w | z, phi') of a document's tokens (engines/core/likelihood.py) into ``node_value``.
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
