// The snapshot sweep of words over slots (words.cu has the same over all topics). A token's topic is
// proposed, not drawn: q(k) = W(k) for the topics that the document or its listed author has without
// the token, plus a multiple of the word's guess for every topic. W and q are what they are without the
// token, and guesses stand still between refreshments, so that acceptance with
// W(k') q(k) / (W(k) q(k')) leaves the posterior as it is.

// Fill the slots of a document from the snapshot; gives their number.
DEV int enter_document(const WordCells &cells, Path &path, int *node, int d, i64 begin, i64 end,
                       bool &author_listed, const Betas &betas) {
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
  }
  author_listed = listed(node[N_SHARED - 1]);
  int n_slots =
      list_topics(cells, 0, 0, node[N_SHARED],
                  N_SHARED > 1 && author_listed ? node[N_SHARED - 1] : -1);
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots; slot += LANES)
    fill_slot(cells[slot], WHOLE(cells[slot], FIELD_TOPIC), node, betas);
  group_sync();
#if BURST
  for (i64 i = begin + lane_id(); i < end; i += LANES) {
    float *cell = cells[look_up(cells, n_slots, ctx.topic[i])];
    add_to(&WHOLE(cell, FIELD_TOKENS), 1);
    add_to(&WHOLE(cell, FIELD_TABLES), (int)ctx.burst_table[i]);
  }
  group_sync();
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots; slot += LANES)
    refresh_bursts(cells[slot], betas.burst);
  group_sync();
#endif
  return n_slots;
}

// Give the document its counts back, and note what it did to shared nodes. What it did to mu is
// not noted: mu's customers are the tables below, which the repair adds up.
DEV void leave_document(const WordCells &cells, int n_slots, const Path &path, const int *node) {
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots; slot += LANES) {
    float *cell = cells[slot];
    int k = WHOLE(cell, FIELD_TOPIC);
#pragma unroll
    for (int level = 1; level < LEVELS; level++) {
      i64 place = (i64)node[level] * K + k;
      int c = WHOLE(cell, FIELD_C + level), t = WHOLE(cell, FIELD_T + level);
      if (level >= N_SHARED) {
        ctx.customers[place] = c;
        ctx.tables[place] = t;
      } else {
        int customers = c - ctx.customers[place], tables = t - ctx.tables[place];
        if (customers != 0) add_to(ctx.node_customers + place, customers);
        if (tables != 0) add_to(ctx.node_tables + place, tables);
      }
    }
  }
  if (lane_id() == 0) {
#pragma unroll
    for (int level = N_SHARED; level < LEVELS; level++) {
      ctx.total_customers[node[level]] = path.customers[level];
      ctx.total_tables[node[level]] = path.tables[level];
    }
  }
}

// A run of tokens of one word begins: its weights in all slots, and who sits where.
DEV void open_run(const WordCells &cells, int n_slots, i64 word_row, const short *topics, i64 begin,
                  int first, int last) {
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots; slot += LANES) {
    float *cell = cells[slot];
    fill_word(cell, word_row);
#if BURST
    if (last - first == 1) continue;
    int k = WHOLE(cell, FIELD_TOPIC), customers = 0, tables = 0;
#pragma unroll 1
    for (int j = first; j < last; j++)
      if (topics[j] == k) {
        customers++;
        tables += ctx.burst_table[begin + j];
      }
    WHOLE(cell, FIELD_RUN_C) = customers;
    WHOLE(cell, FIELD_RUN_T) = tables;
#endif
  }
}

// A run ends: the word comes again in no later one, so what was done to it leaves the document.
DEV void close_run(const WordCells &cells, int n_slots, i64 word_row, const short *topics, i64 begin,
                   int first, int last) {
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots; slot += LANES) {
    float *cell = cells[slot];
    int k = WHOLE(cell, FIELD_TOPIC);
    int customers = WHOLE(cell, FIELD_WORD_C), tables = WHOLE(cell, FIELD_WORD_T);
    if (customers != 0) {
      add_to(ctx.change_customers + word_row + k, customers);
      WHOLE(cell, FIELD_WORD_C) = 0;
    }
    if (tables != 0) {
      add_to(ctx.change_tables + word_row + k, tables);
      WHOLE(cell, FIELD_WORD_T) = 0;
    }
#if BURST
    if (last - first == 1) continue;
    // who holds a table is forgotten: the first tokens of each topic get the bits
    int left = WHOLE(cell, FIELD_RUN_T);
#pragma unroll 1
    for (int j = first; j < last; j++)
      if (topics[j] == k) {
        ctx.burst_table[begin + j] = (unsigned char)(left > 0 ? 1 : 0);
        left -= left > 0 ? 1 : 0;
      }
    WHOLE(cell, FIELD_RUN_C) = 0;
    WHOLE(cell, FIELD_RUN_T) = 0;
#endif
  }
#if BURST
  if (last - first == 1 && lane_id() == 0) ctx.burst_table[begin + first] = 1;
#endif
}

// Weights of all slots, those of topics that count as outside below zero; gives this lane's sum of
// the others'.
DEV float weigh_slots(const WordCells &cells, int n_slots, const Scales &scales, bool single,
                      bool author_listed, const Betas &betas) {
  float mass = 0.0f;
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots; slot += LANES) {
    float *cell = cells[slot];
    float weight = slot_weight(cell, scales, single, betas);
    bool inside = WHOLE(cell, FIELD_C + N_SHARED) > 0;
    if (N_SHARED > 1)
      inside = inside || (author_listed && WHOLE(cell, FIELD_C + N_SHARED - 1) > 0);
    REAL(cell, FIELD_WEIGHT) = inside ? weight : -weight;
    if (inside) mass += weight;
  }
  return mass;
}

// The slot where the sum of the inside weights passes the target; -1 if it does not.
DEV int pick_slot(const WordCells &cells, int n_slots, float target, float mass, float running) {
  int who = group_first(mass > 0.0f && target < running);
  target -= running - mass;
  int last = -1;
  bool found = false;
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots && lane_id() == who && !found; slot += LANES) {
    float weight = REAL(cells[slot], FIELD_WEIGHT);
    if (weight > 0.0f) {
      last = slot;
      found = target < weight;
      target -= weight;
    }
  }
  int picked = group_from(last, who < 0 ? 0 : who);
  return who < 0 ? -1 : picked;
}

// Groups of a warp take documents of about the same length and go through them in step, token by
// token; a group that has nothing to do in a step takes part all the same.
KERNEL_OF(WORD_THREADS, WORD_BLOCKS) sweep_words(u64 key, int first, int last, int network_on) {
  // beside the slots: the numbers of a token, and what all lanes know of topics without a slot
  WordCells cells = group_cells<WORD_FIELDS, FIELD_TOPIC>(DRAWS + OUTER_FLOATS);
  Numbers numbers = {(unsigned *)(cells.near_cells + NEAR_TILES * WORD_FIELDS * LANES)};
#if NETWORK
  Outer &outer = *(Outer *)(numbers.bits + DRAWS);
#endif
  int n_visited = 0, n_blocked = 0, n_corrected = 0, n_rejected = 0, n_outside = 0, n_refused = 0;
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
    bool author_listed;
    int n_slots =
        enter_document(cells, path, node, d, begin, begin + length, author_listed, betas);
    u64 start = mix(key + GOLDEN * (2 * (u64)d + 1));
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
    if (network_on) {
      Outer entered = enter_outer(cells, n_slots, node, author_listed);
      if (lane_id() == 0) outer = entered;
    }
#pragma unroll
    for (int level = 0; level <= CITED_LEVEL; level++) {
      change.cite[level] = network_on ? (float)ctx.cite_weight[node[level]] : 0.0f;
      change.cited[level] = network_on ? (float)ctx.cited_weight[node[level]] : 0.0f;
    }
    group_sync();
#endif
    n_visited += length;
    const int *words = ctx.word + begin;
    short *topics = ctx.topic + begin;
    int run_begin = 0, run_end = 0;
    i64 word_row = 0;
    float guess_mass = 0.0f, guess_unit = 0.0f;
    bool single = true;
    for (int i = 0; warp_any(i < length); i++) {
      bool live = i < length;
      bool opens = live && i == run_end;
      if (warp_any(opens)) {
        if (opens) {
          run_begin = i;
          run_end = i + 1;
          word.id = words[i];
          while (run_end < length && words[run_end] == word.id) run_end++;
          single = run_end - run_begin == 1;
          word_row = (i64)word.id * K;
          guess_mass = ctx.guess_mass[word.id];
          guess_unit = quotient(guess_mass, (float)ctx.guess[word_row + K - 1]);
          open_run(cells, n_slots, word_row, topics, begin, run_begin, run_end);
#if BACKGROUND
          word.customers = ctx.background_customers[word.id];
          word.tables = ctx.background_tables[word.id];
          word.weight = ctx.background_pair[word.id];
          background_before = word.tables;
#endif
        }
        group_sync();
      }
      // the token leaves
      draw_numbers(numbers, start, i);
      int old_topic = live ? topics[i] : -1;
      int old = find_slot(cells, n_slots, old_topic);
      group_sync();
      float *old_cell = cells[live ? old : 0];
      int topic_out = 0, word_out = 0, c = 0, t = 0;
      unsigned old_guess = 0u;
      if (live) {
        old_guess = guess_at(ctx.guess + word_row, old_topic);
        c = ctx.word_customers[word_row + old_topic] + WHOLE(old_cell, FIELD_WORD_C);
        t = ctx.word_tables[word_row + old_topic] + WHOLE(old_cell, FIELD_WORD_T);
        topic_out = draw_topic_removal(numbers, old_cell);
        word_out = draw_word_removal(numbers, old_cell, word, single, c, t);
      }
      bool moves = topic_out > 0 && word_out > 0;
      n_blocked += live && !moves;
      int at_root = WHOLE(old_cell, FIELD_C);
      group_sync();
      if (moves) {
        move_topic(old_cell, path, topic_out, -1, at_root);
        move_word(old_cell, word, topic_out, word_out, -1, single, c, t, betas);
      }
      group_sync();
      // a topic is proposed: from the slots inside, or from the guesses
      Scales scales = scales_of(path, word, author_listed, betas);
      float mass = weigh_slots(cells, n_slots, scales, single, author_listed, betas);
      float running = group_scan(mass);
      float inside_mass = group_from(running, LANES - 1);
      float target = numbers[DRAW_PICK] * (inside_mass + scales.outside * guess_mass);
      int k = pick_slot(cells, n_slots, target, mass, running);
      bool outside = moves && k < 0;
      n_outside += outside;
      int topic = old_topic;
      if (warp_any(outside)) {
        int guessed = draw_guess(numbers.bits[DRAW_GUESS], ctx.guess + word_row);
        int slot = find_slot(cells, n_slots, guessed);
        if (outside) {
          topic = guessed;
          k = slot;
        }
      }
      group_sync();
      bool stranger = moves && k < 0;
      bool stands = moves;
      if (moves && k != old) {
        float *cell = cells[k < 0 ? 0 : k];
        if (k >= 0) topic = WHOLE(cell, FIELD_TOPIC);
        float unit = scales.outside * guess_unit;
        float before = REAL(old_cell, FIELD_WEIGHT);
        float after = k >= 0 ? REAL(cell, FIELD_WEIGHT)
                             : -stranger_weight(topic, node, word_row, scales, betas);
        float from = (before > 0.0f ? before : 0.0f) + unit * (float)old_guess;
        float to = (after > 0.0f ? after : 0.0f) + unit * (float)guess_at(ctx.guess + word_row, topic);
        stands = numbers[DRAW_STAND] * (fabsf(before) * to) < fabsf(after) * from;
        n_refused += !stands;
      }
      bool joins = stands && stranger;
      if (warp_any(joins)) {
        group_sync();
        if (joins) {
          k = n_slots;
          n_slots++;
          if (lane_id() == k % LANES) {
            fill_slot(cells[k], topic, node, betas);
            fill_word(cells[k], word_row);
#if NETWORK
            if (network_on) fill_network(cells[k], outer);
#endif
          }
        }
        group_sync();
#if NETWORK
        if (joins && network_on && lane_id() == 0) leave_outer(cells[k], outer);
#endif
      }
      if (!stands) k = live ? old : 0;
      // it comes back
      float *cell = cells[k];
      int topic_in = topic_out, word_in = word_out;
      if (stands) {
        c = ctx.word_customers[word_row + WHOLE(cell, FIELD_TOPIC)] + WHOLE(cell, FIELD_WORD_C);
        t = ctx.word_tables[word_row + WHOLE(cell, FIELD_TOPIC)] + WHOLE(cell, FIELD_WORD_T);
        topic_in = draw_topic_addition(numbers, cell, scales);
        word_in = draw_word_addition(numbers, cell, word, single, scales, betas);
      } else if (moves) {  // with the tables it had
        c = ctx.word_customers[word_row + old_topic] + WHOLE(cell, FIELD_WORD_C);
        t = ctx.word_tables[word_row + old_topic] + WHOLE(cell, FIELD_WORD_T);
      }
      at_root = WHOLE(cell, FIELD_C);
      group_sync();
      if (moves) move_topic(cell, path, topic_in, 1, at_root);
#if NETWORK
      if (network_on) {
        int out = topic_out > BELOW ? topic_out - BELOW : 0;
        int into = topic_in > BELOW ? topic_in - BELOW : 0;
        bool asks = moves && (out > 0 || into > 0) && (k != old || out != into);
        if (warp_any(asks)) {
          group_sync();
          int before = live ? old : 0;
          float rate =
              exponent_change(cells, n_slots, path, change, outer, before, k, out, into);
          bool allowed = !asks || rate <= 0.0f || numbers[DRAW_ALLOW] < expf(-rate);
          n_corrected += asks;
          n_rejected += !allowed;
          group_sync();
          if (asks && allowed) commit_change(cells, n_slots, change, outer, before, k);
          if (warp_any(!allowed)) {
            at_root = WHOLE(cell, FIELD_C);
            group_sync();
            if (!allowed) {
              move_topic(cell, path, topic_in, -1, at_root);
              k = old;
              cell = old_cell;
              topic_in = topic_out;
              word_in = word_out;
              c = ctx.word_customers[word_row + old_topic] + WHOLE(cell, FIELD_WORD_C);
              t = ctx.word_tables[word_row + old_topic] + WHOLE(cell, FIELD_WORD_T);
            }
            group_sync();
            at_root = WHOLE(cell, FIELD_C);
            group_sync();
            if (!allowed) move_topic(cell, path, topic_in, 1, at_root);
          }
        }
      }
#endif
      if (moves) {
        move_word(cell, word, topic_in, word_in, 1, single, c, t, betas);
        if (lane_id() == 0) topics[i] = (short)WHOLE(cell, FIELD_TOPIC);
      }
      group_sync();
      bool closes = live && i + 1 == run_end;
      if (warp_any(closes)) {
        if (closes) {
          close_run(cells, n_slots, word_row, topics, begin, run_begin, run_end);
#if BACKGROUND
          if (word.tables != background_before && lane_id() == 0)
            add_to(ctx.change_background + word.id, word.tables - background_before);
#endif
        }
        group_sync();
      }
    }
    if (length > 0) leave_document(cells, n_slots, path, node);
    group_sync();
  }
  if (lane_id() == 0) {
    add_to(ctx.tally + WORD_VISITED, (u64)n_visited);
    add_to(ctx.tally + WORD_BLOCKED, (u64)n_blocked);
    add_to(ctx.tally + WORD_CORRECTED, (u64)n_corrected);
    add_to(ctx.tally + WORD_REJECTED, (u64)n_rejected);
    add_to(ctx.tally + WORD_OUTSIDE, (u64)n_outside);
    add_to(ctx.tally + WORD_REFUSED, (u64)n_refused);
  }
}
