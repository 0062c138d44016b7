// The snapshot sweep of words: a group of lanes a document (CPU twin: engines/threads/words.py).

// One more token of a topic; several lanes may count at a time.
DEV void count_token(float *rows, int row, int k, int held) {
#if PACKED
  add_to(INTS(row) + k, 1 + held * 65536);
#else
  add_to(INTS(row) + k, 1);
  add_to(INTS(row + 1) + k, held);
#endif
}

// Fill the rows of a document from the snapshot.
DEV void enter_document(float *rows, Path &path, int d, int *node, i64 begin, i64 end,
                        const Betas &betas) {
  int n = ctx.leaf[d];
#pragma unroll
  for (int level = LEVELS - 1; level >= 0; level--) {
    node[level] = n;
    n = ctx.parent[n];
  }
#pragma unroll
  for (int level = 0; level < LEVELS; level++) {
    path.customers[level] = (int)ctx.total_customers[node[level]];
    path.tables[level] = (int)ctx.total_tables[node[level]];
    path.beta[level] = (float)ctx.topic_concentration[node[level]];
#pragma unroll 1  // once a document: the room in the instruction cache is worth more
    for (int k = lane_id(); k < K; k += LANES) {
      int c = ctx.customers[(i64)node[level] * K + k];
      if (level > 0) {
        int t = ctx.tables[(i64)node[level] * K + k];
        Pair pair = weight_pair(level, c, t);
        write_seats(rows, level, k, c, t);
        FLOATS(ROW_STAY(level))[k] = pair.stay;
        FLOATS(ROW_OPEN(level))[k] = pair.open;
      } else {
        INTS(0)[k] = c;
      }
    }
  }
  for (int k = lane_id(); k < K; k += LANES) {
    write_pair(rows, ROW_TOTAL, k, 0, 0);
    write_pair(rows, ROW_WORD, k, 0, 0);
    refresh_phi(rows, k, betas.phi);
#if BURST
    write_pair(rows, ROW_OWN, k, 0, 0);
    write_pair(rows, ROW_RUN, k, 0, 0);
#endif
#if NETWORK
    FLOATS(ROW_CITE)[k] = (float)(ctx.topic_scale[k] * ctx.cite_sum[k]);
    FLOATS(ROW_CITED)[k] = (float)(ctx.topic_scale[k] * ctx.cited_sum[k]);
#endif
  }
  group_sync();
#if BURST
  for (i64 i = begin + lane_id(); i < end; i += LANES)
    count_token(rows, ROW_OWN, ctx.topic[i], ctx.burst_table[i]);
  group_sync();
#endif
}

// Give the document its counts back, and note what it did to shared nodes. What it did to mu is
// not noted: mu's customers are the tables below, which the repair adds up.
DEV void leave_document(float *rows, const Path &path, const int *node) {
#pragma unroll
  for (int level = 1; level < LEVELS; level++) {
    i64 row = (i64)node[level] * K;
    for (int k = lane_id(); k < K; k += LANES) {
      Seats seats = read_seats(rows, level, k);
      if (level >= N_SHARED) {
        ctx.customers[row + k] = seats.customers;
        ctx.tables[row + k] = seats.tables;
      } else {
        int customers = seats.customers - ctx.customers[row + k];
        int tables = seats.tables - ctx.tables[row + k];
        if (customers != 0) add_to(ctx.node_customers + row + k, customers);
        if (tables != 0) add_to(ctx.node_tables + row + k, tables);
      }
    }
    if (level >= N_SHARED && lane_id() == 0) {
      ctx.total_customers[node[level]] = path.customers[level];
      ctx.total_tables[node[level]] = path.tables[level];
    }
  }
}

// Add what a token's move did to phi at its word to the changes of the sweep: lane 0 what the old topic
// lost, the last lane what the new one gained.
DEV void tell_phi(i64 word_row, int old, int k, int word_out, int word_in) {
  int left = word_out > BURST, closed = word_out > BURST + 1;
  int came = word_in > BURST, opened = word_in > BURST + 1;
  if (k == old) {
    came -= left;
    opened -= closed;
    left = closed = 0;
  }
  if (lane_id() == 0) {
    if (left) add_to(ctx.change_customers + word_row + old, -1);
    if (closed) add_to(ctx.change_tables + word_row + old, -1);
  }
  if (lane_id() == LANES - 1) {
    if (came) add_to(ctx.change_customers + word_row + k, came);
    if (opened) add_to(ctx.change_tables + word_row + k, opened);
  }
}

// Groups of a warp take documents of about the same length and go through them in step, token by
// token; a group that has nothing to do in a step takes part all the same.
KERNEL_OF(WORD_THREADS, WORD_BLOCKS) sweep_words(u64 key, int first, int last, int network_on) {
  float *rows = group_rows(WORD_ROWS);
  read_topic_scales();
  int n_visited = 0, n_blocked = 0, n_corrected = 0, n_rejected = 0;
  Betas betas = {(float)ctx.word_concentration[0], (float)ctx.topic_word_concentration[0],
                 (float)ctx.word_concentration[1]};
  while (true) {
    int number = first + next_documents(0);
    if (number >= last) break;
    number += group_in_warp();
    bool mine = number < last;
    int d = ctx.order[mine ? number : last - 1];
    i64 begin = ctx.document_start[d];
    int length = mine ? (int)(ctx.document_start[d + 1] - begin) : 0;
    if (!warp_any(length > 0)) continue;
    Path path;
    int node[LEVELS];
    enter_document(rows, path, d, node, begin, begin + length, betas);
    Rng rng = open_stream(key, 0, (u64)d);
    Word word;
    word.id = 0;
    word.customers = word.tables = 0;
    word.weight.stay = 0.0f;
    word.weight.open = 1.0f;
    word.total_customers = (int)ctx.background_totals[0];
    word.total_tables = (int)ctx.background_totals[1];
    int background_before = 0;
#if NETWORK
    Change change;
#pragma unroll
    for (int level = 0; level <= CITED_LEVEL; level++) {
      change.cite[level] = network_on ? (float)ctx.cite_weight[node[level]] : 0.0f;
      change.cited[level] = network_on ? (float)ctx.cited_weight[node[level]] : 0.0f;
    }
#endif
    n_visited += length;
    const int *words = ctx.word + begin;
    short *topics = ctx.topic + begin;
    int run_begin = 0, run_end = 0;
    i64 word_row = 0;
    bool single = true;
    // what the next token needs is read a token ahead: nobody changes it meanwhile
    int next_topic = 0, next_word = 0, next_c = 0, next_t = 0;
    if (length > 0) {
      next_topic = topics[0];
      next_word = words[0];
      next_c = ctx.word_customers[(i64)next_word * K + next_topic];
      next_t = ctx.word_tables[(i64)next_word * K + next_topic];
    }
    for (int i = 0; warp_any(i < length); i++) {
      bool live = i < length;
      bool opens = live && i == run_end;
      if (warp_any(opens)) {
        if (opens) {
          run_begin = i;
          run_end = i + 1;
          word.id = next_word;
#if PACKED
          run_end = i + ctx.run[begin + i];
#else
          while (run_end < length && words[run_end] == word.id) run_end++;
#endif
          single = run_end - run_begin == 1;
          word_row = (i64)word.id * K;
          for (int k = lane_id(); k < K; k += LANES) {
            FLOATS(ROW_WORD_STAY)[k] = ctx.stay[word_row + k];
            FLOATS(ROW_WORD_OPEN)[k] = ctx.open[word_row + k];
          }
#if BACKGROUND
          word.customers = ctx.background_customers[word.id];
          word.tables = ctx.background_tables[word.id];
          word.weight = ctx.background_pair[word.id];
          background_before = word.tables;
#endif
#if BURST
          if (!single)
            for (int j = run_begin + lane_id(); j < run_end; j += LANES)
              count_token(rows, ROW_RUN, topics[j], ctx.burst_table[begin + j]);
#endif
        }
        group_sync();
      }
      // the token leaves
      int old = 0, topic_out = 0, word_out = 0, c = 0, t = 0;
      if (live) {
        old = next_topic;
        Seats did = read_pair(rows, ROW_WORD, old);
        c = next_c + did.customers;
        t = next_t + did.tables;
        topic_out = draw_topic_removal(rng, rows, old);
        word_out = draw_word_removal(rng, rows, word, old, single, c, t);
      }
      bool another = i + 1 < length;
      if (another) {
        next_topic = topics[i + 1];
        next_word = words[i + 1];
      }
      bool moves = topic_out > 0 && word_out > 0;
      n_blocked += live && !moves;
      int at_root = INTS(0)[old];
      group_sync();
      if (moves) {
        move_topic(rows, path, old, topic_out, -1, at_root);
        move_word(rows, word, old, topic_out, word_out, -1, single, false, c, t, betas);
      }
      group_sync();
      float scale[LEVELS];
#pragma unroll
      for (int level = 1; level < LEVELS; level++)
        scale[level] = quotient(path.beta[level] + topic_discount(level) * (float)path.tables[level],
                                path.beta[level - 1] + (float)path.customers[level - 1]);
      int unused = K - path.tables[0];
      float fresh = quotient(path.beta[0] + topic_discount(0) * (float)path.tables[0],
                             (float)(unused > 1 ? unused : 1));
      float background = background_weight(word, betas.gamma);
      if (another) {
        next_c = ctx.word_customers[(i64)next_word * K + next_topic];
        next_t = ctx.word_tables[(i64)next_word * K + next_topic];
      }
      // it comes back
      float target = moves ? chance(rng) : 0.5f;
      int k = draw_topic(target, rows, scale, fresh, background, single, betas);
      int topic_in = 0, word_in = 0;
      if (moves) {
        Seats did = read_pair(rows, ROW_WORD, k);
        c = ctx.word_customers[word_row + k] + did.customers;
        t = ctx.word_tables[word_row + k] + did.tables;
        topic_in = draw_topic_addition(rng, rows, scale, fresh, k);
        word_in = draw_word_addition(rng, rows, word, k, single, background, betas);
      } else {
        k = old;
      }
      at_root = INTS(0)[k];
      group_sync();
      if (moves) move_topic(rows, path, k, topic_in, 1, at_root);
#if NETWORK
      if (network_on) {
        int out = topic_out > BELOW ? topic_out - BELOW : 0;
        int into = topic_in > BELOW ? topic_in - BELOW : 0;
        bool asks = moves && (out > 0 || into > 0) && (k != old || out != into);
        if (warp_any(asks)) {
          group_sync();
          float rate = exponent_change(rows, path, change, old, k, out, into);
          bool stands = !asks || rate <= 0.0f || chance(rng) < expf(-rate);
          n_corrected += asks;
          n_rejected += !stands;
          group_sync();
          if (asks && stands) commit_change(rows, change, old, k);
          if (warp_any(!stands)) {
            at_root = INTS(0)[k];
            group_sync();
            if (!stands) {
              move_topic(rows, path, k, topic_in, -1, at_root);
              k = old;
              topic_in = topic_out;
              word_in = word_out;
              Seats did = read_pair(rows, ROW_WORD, k);
              c = ctx.word_customers[word_row + k] + did.customers;
              t = ctx.word_tables[word_row + k] + did.tables;
            }
            group_sync();
            at_root = INTS(0)[k];
            group_sync();
            if (!stands) move_topic(rows, path, k, topic_in, 1, at_root);
          }
        }
      }
#endif
      bool closes = live && i + 1 == run_end;
      if (moves) {
        move_word(rows, word, k, topic_in, word_in, 1, single, closes, c, t, betas);
        if (lane_id() == 0) topics[i] = (short)k;
      }
      group_sync();
      // what was done to phi leaves the document here; the rows say it to later tokens of the run
      if (moves) tell_phi(word_row, old, k, word_out, word_in);
      if (warp_any(closes)) {
        if (closes) {
#if BURST
          if (lane_id() == 0) {
            if (single) ctx.burst_table[begin + i] = 1;
            // who holds a table is forgotten: the first tokens of each topic get the bits
            for (int j = run_begin; j < run_end && !single; j++) {
              int tables = read_pair(rows, ROW_RUN, topics[j]).tables;
              int held = tables > 0 ? 1 : 0;
              ctx.burst_table[begin + j] = (unsigned char)held;
              write_pair(rows, ROW_RUN, topics[j], 0, tables - held);
            }
          }
#endif
          if (single) {
            if (lane_id() == 0) {
              write_pair(rows, ROW_WORD, old, 0, 0);
              write_pair(rows, ROW_WORD, k, 0, 0);
            }
          } else {
            for (int j = lane_id(); j < K; j += LANES) write_pair(rows, ROW_WORD, j, 0, 0);
          }
#if BACKGROUND
          if (word.tables != background_before && lane_id() == 0)
            add_to(ctx.change_background + word.id, word.tables - background_before);
#endif
        }
        group_sync();
      }
    }
    if (length > 0) leave_document(rows, path, node);
    group_sync();
  }
  if (lane_id() == 0) {
    add_to(ctx.tally + WORD_VISITED, (u64)n_visited);
    add_to(ctx.tally + WORD_BLOCKED, (u64)n_blocked);
    add_to(ctx.tally + WORD_CORRECTED, (u64)n_corrected);
    add_to(ctx.tally + WORD_REJECTED, (u64)n_rejected);
  }
}
