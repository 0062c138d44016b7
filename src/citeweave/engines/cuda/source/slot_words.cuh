// Words of a document over its slots (all_words.cuh: over all topics). A token's topic is proposed, not
// drawn: q(k) = W(k) for the topics that the document or its listed author has without the token, plus
// a multiple of the word's guess for every topic. W and q are what they are without the token, and
// guesses stand still between refreshments, so that acceptance with W(k') q(k) / (W(k) q(k')) leaves the
// posterior as it is.

// Fill a slot from the snapshot, all but what concerns the word and citations.
DEV void fill_slot(const Topic &topic, int k, const Path &path, const Betas &betas) {
#pragma unroll
  for (int level = 0; level < LEVELS; level++) {
    Seats seats = path_seats(level, path.node[level], k);
    if (level > 0)
      topic.set_weights(FIELD_STAY(level), weight_pair(level, seats.customers, seats.tables));
    topic.set_seats(level, seats.customers, level > 0 ? seats.tables : 0);
  }
  topic.whole(FIELD_TOPIC) = k;
  topic.set_pair(FIELD_TOTAL, (int)ctx.word_total_customers[k], (int)ctx.word_total_tables[k]);
  refresh_phi(topic, betas.phi);
  topic.set_pair(FIELD_WORD, 0, 0);
#if BURST
  topic.set_pair(FIELD_OWN, 0, 0);
  topic.set_pair(FIELD_RUN, 0, 0);
  refresh_bursts(topic, betas.burst);
#endif
}

DEV void fill_word(const Topic &topic, const Word &word) {
  i64 place = word.row + topic.number();
  topic.set_weights(FIELD_WORD_STAY, {ctx.stay[place], ctx.open[place]});
}

// Fill the slots of a document from the snapshot.
DEV void enter_document(Walk &walk, Path &path, u64 key, const Turn &turn,
                        const Betas &betas) {
  path.author_listed = listed(path.node[N_SHARED - 1]);
  walk.n_slots = list_topics(walk.cells, 0, 0, path.node[N_SHARED],
                             N_SHARED > 1 && path.author_listed ? path.node[N_SHARED - 1] : -1);
#pragma unroll 1
  for (int slot = lane_id(); slot < walk.n_slots; slot += LANES)
    fill_slot(walk[slot], walk[slot].number(), path, betas);
  group_sync();
#if BURST
  for (i64 i = turn.begin + lane_id(); i < turn.begin + turn.length; i += LANES)
    walk[look_up(walk.cells, walk.n_slots, ctx.topic[i])].count_token(FIELD_OWN,
                                                                      ctx.burst_table[i]);
  group_sync();
#pragma unroll 1
  for (int slot = lane_id(); slot < walk.n_slots; slot += LANES)
    refresh_bursts(walk[slot], betas.burst);
  group_sync();
#endif
  walk.draws.start = mix(key + GOLDEN * (2 * (u64)ctx.document_number[turn.document] + 1));
}

#if COMPACT
// Give the document its counts of all topics on one of its own levels back: slots have all of them. A
// topic's place in a list is the number of those before it. Other groups of the warp may be elsewhere.
DEV void leave_row(const Walk &walk, i64 n, int level) {
  CountRow row = count_row(n);
  int room = (int)row_entry(n)[ROW_ROOM], kept = 0;
#pragma unroll 1
  for (int slot = 0; slot < walk.n_slots; slot++) kept += walk[slot].seats(level).customers > 0;
#pragma unroll 1
  for (int slot = lane_id(); slot < walk.n_slots; slot += LANES) {
    Seats seats = walk[slot].seats(level);
    int k = walk[slot].number(), place = row.is_list() ? 0 : k;
    if (row.is_list()) {
      if (seats.customers == 0) continue;
#pragma unroll 1
      for (int other = 0; other < walk.n_slots; other++)
        place += walk[other].number() < k && walk[other].seats(level).customers > 0;
    }
    if (place < room)
      set_place(row, place, k, seats.customers, seats.tables);
    else
      lose_topic();
  }
  if (!row.is_list()) return;
  for (int place = kept + lane_id(); place < room; place += LANES)
    if (row.topic(place) >= 0) set_place(row, place, -1, 0, 0);
  if (lane_id() == 0) row_entry(n)[ROW_USED] = kept < room ? kept : room;
}
#endif

DEV void leave_document(const Walk &walk, const Path &path) {
#pragma unroll 1
  for (int slot = lane_id(); slot < walk.n_slots; slot += LANES)
#pragma unroll
    for (int level = 1; level < (COMPACT ? N_SHARED : LEVELS); level++)
      leave_topic(walk[slot], path, level);
#if COMPACT
#pragma unroll
  for (int level = N_SHARED; level < LEVELS; level++) leave_row(walk, path.node[level], level);
#endif
  leave_path(path);
}

// A run of tokens of one word begins: its weights and guesses, and who sits where.
DEV void open_run(Walk &walk, const Word &word, const short *topics, i64 begin) {
  walk.guess_mass = ctx.guess_mass[word.id];
  walk.guess_unit = quotient(walk.guess_mass, (float)ctx.guess[word.row + K - 1]);
#pragma unroll 1
  for (int slot = lane_id(); slot < walk.n_slots; slot += LANES) {
    Topic topic = walk[slot];
    fill_word(topic, word);
#if BURST
    if (word.single) continue;
    int k = topic.number(), customers = 0, tables = 0;
#pragma unroll 1
    for (int j = word.begin; j < word.end; j++)
      if (topics[j] == k) {
        customers++;
        tables += ctx.burst_table[begin + j];
      }
    topic.set_pair(FIELD_RUN, customers, tables);
#endif
  }
}

// A run ends: the word comes again in no later one, so what was done to it leaves the document.
DEV void close_run(Walk &walk, const Word &word, const short *topics, i64 begin, int, int) {
#pragma unroll 1
  for (int slot = lane_id(); slot < walk.n_slots; slot += LANES) {
    Topic topic = walk[slot];
    int k = topic.number();
    Seats did = topic.pair(FIELD_WORD);
    if (did.customers != 0) add_to(ctx.change_customers + word.row + k, did.customers);
    if (did.tables != 0) add_to(ctx.change_tables + word.row + k, did.tables);
    topic.set_pair(FIELD_WORD, 0, 0);
#if BURST
    if (word.single) continue;
    // who holds a table is forgotten: the first tokens of each topic get the bits
    int left = topic.pair(FIELD_RUN).tables;
#pragma unroll 1
    for (int j = word.begin; j < word.end; j++)
      if (topics[j] == k) {
        ctx.burst_table[begin + j] = (unsigned char)(left > 0 ? 1 : 0);
        left -= left > 0 ? 1 : 0;
      }
    topic.set_pair(FIELD_RUN, 0, 0);
#endif
  }
#if BURST
  if (word.single && lane_id() == 0) ctx.burst_table[begin + word.begin] = 1;
#endif
}

// Draw the numbers of a token and look up its topic's slot; every group of a warp takes part.
DEV int begin_token(Walk &walk, const Word &word, int i, int topic, bool live) {
  walk.draws.draw(i);
  walk.old_number = topic;
  walk.old_guess = live ? guess_at(ctx.guess + word.row, topic) : 0u;
  int slot = find_slot(walk.cells, walk.n_slots, topic);
  group_sync();
  return slot;
}

// Changes of phi wait in the slots for the end of the run.
DEV void tell_phi(const Walk &, const Word &, int, int, int, int) {}

// Weights of all slots, those of topics that count as outside below zero; gives this lane's sum of
// the others'.
DEV float weigh_slots(const Walk &walk, const Path &path, const Scales &scales, bool single,
                      const Betas &betas) {
  float mass = 0.0f;
#pragma unroll 1
  for (int slot = lane_id(); slot < walk.n_slots; slot += LANES) {
    Topic topic = walk[slot];
    float weight = topic_weight(topic, scales, single, betas);
    bool inside = topic.seats(N_SHARED).customers > 0;
    if (N_SHARED > 1)
      inside = inside || (path.author_listed && topic.seats(N_SHARED - 1).customers > 0);
    topic.real(FIELD_WEIGHT) = inside ? weight : -weight;
    if (inside) mass += weight;
  }
  return mass;
}

// Weight of a topic that has no slot: the document has nothing of it, and has done nothing to it.
DEV float stranger_weight(int k, const Path &path, i64 word_row, const Scales &scales,
                          const Betas &betas) {
  float topic = root_value(root_seats(k).customers, topic_discount(0), scales.fresh);
#pragma unroll
  for (int level = 1; level < LEVELS; level++) {
    if (level < N_SHARED) {
      Seats seats = path_seats(level, path.node[level], k);
      Pair pair = weight_pair(level, seats.customers, seats.tables);
      topic = weight_below(pair, scales.level[level], topic);
    } else {
      topic *= scales.level[level];
    }
  }
  float inverse = quotient(1.0f, betas.phi + (float)ctx.word_total_customers[k]);
  float opening = (betas.phi + word_discount(1) * (float)ctx.word_total_tables[k]) * inverse;
  return topic * (ctx.stay[word_row + k] * inverse +
                  ctx.open[word_row + k] * opening * scales.background);
}

// A topic gets a slot, the last one; every group of a warp takes part.
DEV void add_slot(Walk &walk, bool joins, int k, const Path &path, const Word &word, bool network_on,
                  const Betas &betas) {
  group_sync();
  Topic topic = walk[walk.n_slots];
  if (joins && lane_id() == walk.n_slots % LANES) {
    fill_slot(topic, k, path, betas);
    fill_word(topic, word);
#if NETWORK
    if (network_on) fill_network(topic, *walk.outer);
#endif
  }
  group_sync();
#if NETWORK
  if (joins && network_on && lane_id() == 0) leave_outer(topic, *walk.outer);
#endif
  walk.n_slots += joins;
}

// The slot of the topic that is proposed, from the slots inside or from the guesses, if it stands;
// ``old`` where not.
DEV int choose_topic(Walk &walk, const Path &path, const Word &word, const Scales &scales,
                     const Betas &betas, int old, bool moves, bool network_on, bool &stands) {
  float mass = weigh_slots(walk, path, scales, word.single, betas);
  float running = group_scan(mass);
  float inside_mass = group_from(running, LANES - 1);
  float target = walk.draws.at(DRAW_PICK) * (inside_mass + scales.outside * walk.guess_mass);
  int k = pick_slot(walk.cells, FIELD_WEIGHT, walk.n_slots, target, mass, running);
  bool outside = moves && k < 0;
  walk.n_outside += outside;
  int topic = walk.old_number;
  const unsigned *guess = ctx.guess + word.row;
  if (warp_any(outside)) {
    int guessed = draw_guess(walk.draws.bits[DRAW_GUESS], guess);
    int slot = find_slot(walk.cells, walk.n_slots, guessed);
    if (outside) {
      topic = guessed;
      k = slot;
    }
  }
  group_sync();
  bool stranger = moves && k < 0;
  stands = moves;
  if (moves && k != old) {
    if (k >= 0) topic = walk[k].number();
    float unit = scales.outside * walk.guess_unit;
    float before = walk[old].real(FIELD_WEIGHT);
    float after = k >= 0 ? walk[k].real(FIELD_WEIGHT)
                         : -stranger_weight(topic, path, word.row, scales, betas);
    stands = accepts(walk.draws.at(DRAW_STAND), before, after, unit * (float)walk.old_guess,
                     unit * (float)guess_at(guess, topic));
    walk.n_refused += !stands;
  }
  bool joins = stands && stranger;
  if (joins) k = walk.n_slots;
  if (warp_any(joins)) add_slot(walk, joins, topic, path, word, network_on, betas);
  return stands ? k : old;
}

DEV void tell_choices(const Walk &walk) {
  add_to(ctx.tally + WORD_OUTSIDE, (u64)walk.n_outside);
  add_to(ctx.tally + WORD_REFUSED, (u64)walk.n_refused);
}
