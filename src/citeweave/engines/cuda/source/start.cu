// The random start of a chain.

// Give every token a uniformly random topic. A word of a topic has one table a document, a topic one
// table a document level; shared levels get their customers as changes, and tables by the repair.
KERNEL start_words(u64 key) {
  int *tokens = (int *)group_rows(2);
  for (i64 d = first_group(); d < OWN_DOCUMENTS; d += all_groups()) {
    i64 begin = ctx.document_start[d], end = ctx.document_start[d + 1];
    u64 place = mix(key ^ mix((u64)ctx.document_number[d] + 1));
    for (int k = lane_id(); k < K; k += LANES) tokens[k] = 0;
    group_sync();
    for (i64 i = begin + lane_id(); i < end; i += LANES) {
      int k = (int)(uniform_at(place, (u64)(i - begin)) * K);
      ctx.topic[i] = (short)k;
      add_to(tokens + k, 1);
    }
    group_sync();
    for (i64 i = begin + lane_id(); i < end; i += LANES) {
      int k = ctx.topic[i], held = 1;
#if BURST
      for (i64 j = i - 1; j >= begin && ctx.word[j] == ctx.word[i]; j--)
        if (ctx.topic[j] == k) held = 0;
      ctx.burst_table[i] = (unsigned char)held;
#endif
      if (held) add_to(ctx.change_customers + (i64)ctx.word[i] * K + k, 1);
    }
    int n = ctx.leaf[d];
    for (int level = LEVELS - 1; level >= N_SHARED; level--) {
      int customers_total = 0, tables_total = 0;
      OpenRow row = open_row(n);
      for (int k = lane_id(); k < K; k += LANES) {
        int used = tokens[k] > 0 ? 1 : 0;
        int customers = level == LEVELS - 1 ? tokens[k] : used;
        row.customers[k] = customers;
        row.tables[k] = used;
        customers_total += customers;
        tables_total += used;
      }
      close_row(n, row);
      set_totals(n, customers_total, tables_total);
      n = ctx.parent[n];
    }
    if (N_SHARED > 1)
      for (int k = lane_id(); k < K; k += LANES)
        if (tokens[k] > 0) add_to(ctx.node_customers + (i64)n * K + k, 1);
    group_sync();
  }
}

// Length of each run of a word in its document, at the run's first token.
KERNEL mark_runs() {
#if PACKED
  for (i64 d = first_group(); d < N_DOCUMENTS; d += all_groups()) {
    i64 begin = ctx.document_start[d], end = ctx.document_start[d + 1];
    for (i64 i = begin + lane_id(); i < end; i += LANES) {
      if (i > begin && ctx.word[i - 1] == ctx.word[i]) continue;
      i64 j = i + 1;
      while (j < end && ctx.word[j] == ctx.word[i]) j++;
      ctx.run[i] = (unsigned short)(j - i);
    }
  }
#endif
}
