// Sums over ranges of ``node_value``, and the training log likelihood of words.

// Adds up ``node_value`` over ranges of it, ``per_range`` blocks each, into ``exact``, zero before.
KERNEL sum_ranges(int first, int last, int per_range) {
  i64 *room = (i64 *)shared_pool;
  for (int item = blockIdx.x; item < (last - first) * per_range; item += gridDim.x) {
    int range = first + item / per_range, part = item % per_range;
    Exact sum = no_exact();
    for (i64 i = ctx.ranges[2 * range] + (i64)part * blockDim.x + threadIdx.x;
         i < ctx.ranges[2 * range + 1]; i += (i64)per_range * blockDim.x)
      add_exact(sum, ctx.node_value[i]);
    tell_block_exact(range, sum, room);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0)
    ctx.report[REPORT_TOPICS] = (double)ctx.total_tables[0];
}

#define MEASURE_ROWS 4

// Tokens of one word that each look for all the others; those of longer runs are counted once.
#define LONG_RUN 64

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

// The tokens of a document from ``begin`` to ``end``, whose equal words lie side by side.
struct Words {
  i64 begin, end;

  METHOD bool same(i64 i, i64 j) const {
    return j >= begin && j < end && ctx.word[j] == ctx.word[i];
  }
  // Whether a run goes so far beyond a token, on either side.
  METHOD bool reaches(i64 i, int far) const { return same(i, i - far) || same(i, i + far); }
  // The token of a run that is nearest to ``edge``, which is outside of it.
  METHOD i64 last_alike(i64 i, i64 edge) const {
    while (edge - i > 1 || i - edge > 1) {
      i64 middle = i + (edge - i) / 2;
      if (same(i, middle))
        i = middle;
      else
        edge = middle;
    }
    return i;
  }
};

// Mean of phi_k at a word.
struct TopicWords {
  double discount, gamma_scale, gamma_share, gamma_discount;

  METHOD double mean(int w, int k) const {
    double background = 1.0 / N_WORDS;
#if BACKGROUND
    background = (gamma_share + ctx.background_customers[w] -
                  gamma_discount * ctx.background_tables[w]) *
                 gamma_scale;
#endif
    double beta = ctx.topic_word_concentration[k];
    double mean = (beta + discount * (double)ctx.word_total_tables[k]) * background;
    mean += ctx.word_customers[(i64)w * K + k] - discount * ctx.word_tables[(i64)w * K + k];
    return mean / (beta + (double)ctx.word_total_customers[k]);
  }
};

// log p(w | z, phi') of a document's tokens (engines/core/likelihood.py) into ``node_value``.
KERNEL measure_words() {
  int *tokens = (int *)group_rows(MEASURE_ROWS), *tables = tokens + K;
  TopicWords phi = {ctx.word_discount[1], 1.0, 0.0, ctx.word_discount[0]};
#if BACKGROUND
  phi.gamma_scale = 1.0 / (ctx.word_concentration[0] + (double)ctx.background_totals[0]);
  phi.gamma_share =
      (ctx.word_concentration[0] + phi.gamma_discount * (double)ctx.background_totals[1]) /
      N_WORDS;
#endif
#if BURST
  int *run_tokens = tables + K, *run_tables = run_tokens + K;
  double beta = ctx.word_concentration[1], discount = ctx.word_discount[2];
#endif
  for (i64 d = first_group(); d < OWN_DOCUMENTS; d += all_groups()) {
    Words words = {ctx.document_start[d], ctx.document_start[d + 1]};
    count_tokens(tokens, tables, words.begin, words.end);
    double value = 0.0;
    for (i64 i = words.begin + lane_id(); i < words.end; i += LANES) {
      int k = ctx.topic[i];
#if BURST
      if (words.reaches(i, LONG_RUN)) continue;
      double own = 1.0 - discount * ctx.burst_table[i];
      for (i64 j = i - 1; words.same(i, j); j--)
        if (ctx.topic[j] == k) own += 1.0 - discount * ctx.burst_table[j];
      for (i64 j = i + 1; words.same(i, j); j++)
        if (ctx.topic[j] == k) own += 1.0 - discount * ctx.burst_table[j];
      double mean = (beta + discount * tables[k]) * phi.mean(ctx.word[i], k) + own;
      value += log(mean / (beta + tokens[k]));
#else
      value += log(phi.mean(ctx.word[i], k));
#endif
    }
#if BURST
    // A run of more than LONG_RUN tokens has one of these places, and goes half as far from it.
    for (i64 at = words.begin; at < words.end; at += LONG_RUN) {
      if (!words.reaches(at, LONG_RUN / 2)) continue;
      i64 run_begin = words.last_alike(at, words.begin - 1);
      i64 run_end = words.last_alike(at, words.end) + 1;
      count_tokens(run_tokens, run_tables, run_begin, run_end);
      for (i64 i = run_begin + lane_id(); i < run_end; i += LANES) {
        if (!words.reaches(i, LONG_RUN)) continue;
        int k = ctx.topic[i];
        double own = run_tokens[k] - discount * run_tables[k];
        double mean = (beta + discount * tables[k]) * phi.mean(ctx.word[i], k) + own;
        value += log(mean / (beta + tokens[k]));
      }
      group_sync();
      while (at + LONG_RUN < run_end) at += LONG_RUN;
    }
#endif
    value = group_sum(value);
    if (lane_id() == 0) ctx.node_value[d] = value;
    group_sync();
  }
}
