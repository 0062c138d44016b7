// What one token does to a topic of its document (CPU twins: engines/core/climb.py and
// engines/core/word_climb.py). Lanes share the topics; what concerns one of them is computed by all
// lanes alike, and written by one. Lane l keeps level l of the path from mu to the document.

// What a document knows of the nodes on its path; the same in all lanes.
struct Path {
  int node[LEVELS], customers[LEVELS], tables[LEVELS];
  float beta[LEVELS];
#if AUTHORS
  float share;  // of the author who serves the document
#endif
#if SPARSE
  bool author_listed;  // whether the topics of the node above the document have slots
#endif

  METHOD float opening(int level) const {
    return sum_fused(beta[level], topic_discount(level), (float)tables[level]);
  }
  METHOD float seats(int level) const { return beta[level] + (float)customers[level]; }
};

// The word at hand and gamma, as this document sees them.
struct Word {
  int id, customers, tables, total_customers, total_tables;
  Pair weight;
  i64 row;
  int begin, end;  // of its run of tokens
  bool single;
};

// Concentrations of the word side; phi's is one for all topics.
struct Betas {
  float gamma, phi, burst;
};

// What a topic's weight depends on besides its own counts; as it is without the token.
struct Scales {
  float level[LEVELS];
  float fresh, background;
#if SPARSE
  // What turns a word's guesses, which are shares at mu times shares of the word, into weights of
  // topics that the document does not have: those of its author count as inside where they are
  // listed; elsewhere the author's topics are taken to be spread as the corpus's are.
  float outside;
#endif
};

DEV void enter_path(Path &path, int d) {
  int n = ctx.leaf[d];
#pragma unroll
  for (int level = LEVELS - 1; level >= 0; level--) {
    path.node[level] = n;
    n = ctx.parent[n];
  }
#pragma unroll
  for (int level = 0; level < LEVELS; level++) {
    path.customers[level] = (int)ctx.total_customers[path.node[level]];
    path.tables[level] = (int)ctx.total_tables[path.node[level]];
    path.beta[level] = (float)ctx.topic_concentration[path.node[level]];
  }
#if AUTHORS
  path.share = share_of(path.node[N_SHARED]);
#endif
}

// Give the document its counts of a topic back, and note what it did to shared nodes. What it did to mu
// is not noted: mu's customers are the tables below, which the repair adds up.
DEV void leave_topic(const Topic &topic, const Path &path, int level) {
  Seats seats = topic.seats(level);
  if (level >= N_SHARED) {
    write_seats(path.node[level], topic.number(), seats);
  } else {
    i64 place = (i64)path.node[level] * K + topic.number();
    Seats before = seats_of(path.node[level], topic.number());
    int customers = seats.customers - before.customers;
    int tables = seats.tables - before.tables;
    if (customers != 0) add_to(ctx.node_customers + place, customers);
    if (tables != 0) add_to(ctx.node_tables + place, tables);
  }
}

DEV void leave_path(const Path &path) {
  if (lane_id() > 0) return;
#pragma unroll
  for (int level = N_SHARED; level < LEVELS; level++) {
    ctx.total_customers[path.node[level]] = path.customers[level];
    ctx.total_tables[path.node[level]] = path.tables[level];
  }
}

// phi_k at the word.
DEV Seats phi_seats(const Topic &topic, const Word &word) {
  Seats did = topic.pair(FIELD_WORD);
  i64 place = word.row + topic.number();
  return {ctx.word_customers[place] + did.customers, ctx.word_tables[place] + did.tables};
}

DEV void refresh_phi(const Topic &topic, float beta) {
  Seats totals = topic.phi_totals();
  float inverse = quotient(1.0f, beta + (float)totals.customers);
  topic.real(FIELD_INVERSE) = inverse;
  topic.real(FIELD_OPENING) = (beta + word_discount(1) * (float)totals.tables) * inverse;
}

DEV void refresh_bursts(const Topic &topic, float beta) {
#if SPARSE && BURST
  topic.real(FIELD_BURST_OPENING) = topic.burst_top(beta) * topic.burst_inverse(beta);
#endif
}

// How far the token's customer of the word side had climbed; 0 where it may not leave.
template <typename Draws>
DEV int draw_word_removal(Draws &draws, const Topic &topic, const Word &word, Seats phi) {
  Climber climber = new_climber();
#if BURST
  Seats run = {1, 1};  // a word that stands alone holds its own table
  if (!word.single) run = topic.pair(FIELD_RUN);
  climber.leave(draws, DRAW_WORD_LEAVE, run);
#endif
  climber.leave(draws, DRAW_WORD_LEAVE + 1, phi);
#if BACKGROUND
  climber.leave(draws, DRAW_WORD_LEAVE + 2, {word.customers, word.tables});
#endif
  return climber.result();
}

// Counts of the topic side only; ``at_root`` are the customers of mu before.
DEV void move_topic(const Topic &topic, Path &path, int depth, int sign, int at_root) {
  for (int level = lane_id(); level < LEVELS; level += LANES) {
    Seats change = moved<LEVELS - 1>(level, depth, sign);
    if (change.customers != 0) topic.add_seats(level, change);
  }
#pragma unroll
  for (int level = 0; level < LEVELS; level++) {
    Seats change = moved<LEVELS - 1>(level, depth, sign);
    path.customers[level] += change.customers;
    if (level > 0) path.tables[level] += change.tables;
  }
  if (depth == LEVELS) path.tables[0] += root_tables(at_root, sign);
}

// Counts of the word side, and all weights of the topic that the two moves changed. ``phi`` is phi_k's
// at the word before the move; after the ``last`` of a word's run nobody asks for the word's own
// weights again.
DEV void move_word(const Topic &topic, Word &word, int topic_depth, int word_depth, int sign,
                   bool last, Seats phi, const Betas &betas) {
  bool reaches_phi = word_depth > BURST;
  bool opens_phi = word_depth > BURST + 1;
  // the lane that moved a level's counts reads them: no wait is needed in between. mu has no weights
  // to renew, so its lane takes phi's
  for (int level = lane_id(); level < LEVELS; level += LANES) {
    bool renews = reaches_phi && !last;
    int table = TABLE_PHI, field = FIELD_WORD_STAY;
    Seats seats = {phi.customers + sign, opens_phi ? phi.tables + sign : phi.tables};
    if (level > 0) {
      renews = LEVELS - 1 - level < topic_depth;
      table = level;
      field = FIELD_STAY(level);
      seats = topic.seats(level);
    }
    if (renews) topic.set_weights(field, weight_pair(table, seats.customers, seats.tables));
  }
  if (lane_id() == LANES - 1) {
#if BURST
    int opened = word_depth > 1 ? sign : 0;
    topic.add_pair(FIELD_OWN, sign, opened);
    if (!word.single) topic.add_pair(FIELD_RUN, sign, opened);
    refresh_bursts(topic, betas.burst);
#endif
    if (reaches_phi) {
      int phi_opened = opens_phi ? sign : 0;
      topic.add_pair(FIELD_WORD, sign, phi_opened);
      topic.add_pair(FIELD_TOTAL, sign, phi_opened);
      refresh_phi(topic, betas.phi);
    }
  }
#if BACKGROUND
  if (opens_phi) {
    word.customers += sign;
    word.total_customers += sign;
    if (word_depth > BURST + 2) {
      word.tables += sign;
      word.total_tables += sign;
    }
    if (!last) word.weight = weight_pair(TABLE_BACKGROUND, word.customers, word.tables);
  }
#endif
}

DEV float background_weight(const Word &word, float beta) {
#if BACKGROUND
  float opening = beta + word_discount(0) * (float)word.total_tables;
  float weight = word.weight.stay + word.weight.open * opening * (1.0f / N_WORDS);
  return quotient(weight, beta + (float)word.total_customers);
#else
  return 1.0f / N_WORDS;
#endif
}

DEV Scales scales_of(const Path &path, const Word &word, const Betas &betas) {
  Scales scales;
#pragma unroll
  for (int level = 1; level < LEVELS; level++)
    scales.level[level] = quotient(path.opening(level), path.seats(level - 1));
#if AUTHORS
  scales.level[N_SHARED] *= path.share;
#endif
  int unused = K - path.tables[0];
  scales.fresh = quotient(path.opening(0), (float)(unused > 1 ? unused : 1));
  scales.background = background_weight(word, betas.gamma);
#if SPARSE
  const int above = N_SHARED > 1 ? N_SHARED - 1 : 1;
  float outside = path.author_listed ? path.opening(above) : path.seats(above);
#pragma unroll
  for (int level = above + 1; level < LEVELS; level++) outside *= scales.level[level];
  scales.outside = outside;
#endif
  return scales;
}

// Weight of a topic for the token at hand (eq:conditional_posterior), up to one factor.
DEV float topic_weight(const Topic &topic, const Scales &scales, bool single, const Betas &betas) {
  float weight = root_value(topic.root(), topic_discount(0), scales.fresh);
#pragma unroll
  for (int level = 1; level < LEVELS; level++)
    weight = weight_below(topic.weights(level), scales.level[level], weight);
  Pair phi = {topic.real(FIELD_WORD_STAY), topic.real(FIELD_WORD_STAY + 1)};
  float value = phi.stay * topic.real(FIELD_INVERSE) +
                phi.open * topic.real(FIELD_OPENING) * scales.background;
#if BURST
  value *= topic.burst_share(betas.burst);
  if (!single) {  // topics that have the word here already weigh their own tables
    Seats run = topic.pair(FIELD_RUN);
    if (run.customers > 0) {
      Pair pair = weight_pair(TABLE_BURST, run.customers, run.tables);
      value = value * pair.open + topic.burst_stay(pair.stay, betas.burst);
    }
  }
#endif
  return value * weight;
}

// How far the token's customer climbs among the nodes of its new topic.
template <typename Draws>
DEV int draw_path_addition(Draws &draws, const Topic &topic, const Scales &scales) {
  float climb[LEVELS], stay[LEVELS];
  climb[0] = root_value(topic.root(), topic_discount(0), scales.fresh);
#pragma unroll
  for (int level = 1; level < LEVELS; level++) {
    Pair pair = topic.weights(level);
    climb[level] = weight_below(pair, scales.level[level], climb[level - 1]);
    stay[level] = pair.stay;
  }
  return draw_topic_addition<LEVELS - 1>(draws, climb, stay);
}

template <typename Draws>
DEV int draw_word_addition(Draws &draws, const Topic &topic, const Word &word, const Scales &scales,
                           const Betas &betas) {
  Climber climber = new_climber();
  float stay = topic.real(FIELD_WORD_STAY) * topic.real(FIELD_INVERSE);
  float weight =
      stay + topic.real(FIELD_WORD_STAY + 1) * topic.real(FIELD_OPENING) * scales.background;
#if BURST
  float sit = 0.0f, both = 1.0f;  // weights of sitting down here, and of that or climbing on
  if (!word.single) {
    Seats run = topic.pair(FIELD_RUN);
    if (run.customers > 0) {
      Pair pair = weight_pair(TABLE_BURST, run.customers, run.tables);
      sit = topic.burst_stay(pair.stay, betas.burst);
      both = topic.burst_sum(sit, topic.burst_open(pair.open, betas.burst) * weight);
    }
  }
  climber.come(draws, DRAW_WORD_COME, both, sit);
#endif
  climber.come(draws, DRAW_WORD_COME + 1, weight, stay);
#if BACKGROUND
  float total = betas.gamma + (float)word.total_customers;
  climber.come(draws, DRAW_WORD_COME + 2, scales.background * total, word.weight.stay);
#endif
  return climber.depth;
}
