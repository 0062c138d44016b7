// A document's words: its rows, and what one token does to them. Lanes share the topics of a row;
// what concerns one topic is computed by all of them alike, and written by one. Lane l keeps level l
// of the path from mu to the document.

#define ROW_C 0
#define ROW_T LEVELS
#define ROW_STAY (2 * LEVELS)
#define ROW_OPEN (3 * LEVELS)
#define ROW_WEIGHT ROW_T  // mu has no row of tables: the place serves for weights
#define ROW_PHI (4 * LEVELS)
#define ROW_INVERSE (ROW_PHI + 0)
#define ROW_OPENING (ROW_PHI + 1)
#define ROW_WORD_STAY (ROW_PHI + 2)
#define ROW_WORD_OPEN (ROW_PHI + 3)
#define ROW_WORD_C (ROW_PHI + 4)
#define ROW_WORD_T (ROW_PHI + 5)
#define ROW_TOTAL_C (ROW_PHI + 6)
#define ROW_TOTAL_T (ROW_PHI + 7)
#define ROW_BURST (ROW_PHI + 8)
#define ROW_TOKENS (ROW_BURST + 0)
#define ROW_TABLES (ROW_BURST + 1)
#define ROW_BURST_OPENING (ROW_BURST + 2)
#define ROW_RUN_C (ROW_BURST + 3)
#define ROW_RUN_T (ROW_BURST + 4)
#define ROW_NETWORK (ROW_BURST + 5 * BURST)
#define ROW_CITE (ROW_NETWORK + 0)
#define ROW_CITED (ROW_NETWORK + 1)
#define ROW_SCALE (ROW_NETWORK + 2)
#define WORD_ROWS (ROW_NETWORK + 3 * NETWORK)

// What a document knows of the nodes on its path; the same in all lanes.
struct Path {
  int customers[LEVELS], tables[LEVELS];
  float beta[LEVELS];
};

// The word at hand and gamma, as this document sees them.
struct Word {
  int id, customers, tables, total_customers, total_tables;
  Pair weight;
};

// Concentrations of the word side; phi's is one for all topics.
struct Betas {
  float gamma, phi, burst;
};

DEV void refresh_phi(float *rows, int k, float beta) {
  float inverse = quotient(1.0f, beta + (float)INTS(ROW_TOTAL_C)[k]);
  FLOATS(ROW_INVERSE)[k] = inverse;
  FLOATS(ROW_OPENING)[k] =
      (beta + word_discount(1) * (float)INTS(ROW_TOTAL_T)[k]) * inverse;
}

DEV void refresh_bursts(float *rows, int k, float beta) {
  float inverse = quotient(1.0f, beta + (float)INTS(ROW_TOKENS)[k]);
  FLOATS(ROW_BURST_OPENING)[k] = (beta + word_discount(2) * (float)INTS(ROW_TABLES)[k]) * inverse;
}

// How far the customer that leaves had climbed; 0 where it may not leave.
DEV int draw_topic_removal(Rng &rng, float *rows, int k) {
  int depth = 1;
#pragma unroll
  for (int level = LEVELS - 1; level > 0; level--) {
    int c = INTS(ROW_C + level)[k], t = INTS(ROW_T + level)[k];
    if (t < c) {
      if (chance(rng) * (float)c >= (float)t) return depth;
      if (t == 1) return 0;
    }
    depth++;
  }
  return depth;
}

// 1 if the customer takes a table along, 0 if not, -1 where it may not leave.
DEV int leaves_table(Rng &rng, int customers, int tables) {
  if (tables == customers) return 1;
  if (chance(rng) * (float)customers >= (float)tables) return 0;
  return tables > 1 ? 1 : -1;
}

DEV int draw_word_removal(Rng &rng, float *rows, const Word &word, int k, bool single, int c,
                          int t) {
  int depth = 1;
#if BURST
  if (!single) {  // a word that stands alone holds its own table
    int taken = leaves_table(rng, INTS(ROW_RUN_C)[k], INTS(ROW_RUN_T)[k]);
    if (taken < 1) return taken == 0 ? depth : 0;
  }
  depth++;
#endif
  int taken = leaves_table(rng, c, t);
  if (taken < 1) return taken == 0 ? depth : 0;
  depth++;
#if BACKGROUND
  taken = leaves_table(rng, word.customers, word.tables);
  if (taken < 1) return taken == 0 ? depth : 0;
  depth++;
#endif
  return depth;
}

// Counts of the topic side only; ``at_root`` are the customers of mu before.
DEV void move_topic(float *rows, Path &path, int k, int depth, int sign, int at_root) {
  for (int level = lane_id(); level < LEVELS; level += LANES) {
    int step = LEVELS - 1 - level;
    if (step < depth) {
      INTS(ROW_C + level)[k] += sign;
      if (level > 0 && step + 1 < depth) INTS(ROW_T + level)[k] += sign;
    }
  }
#pragma unroll
  for (int level = 0; level < LEVELS; level++) {
    int step = LEVELS - 1 - level;
    if (step < depth) {
      path.customers[level] += sign;
      if (level > 0 && step + 1 < depth) path.tables[level] += sign;
    }
  }
  if (depth == LEVELS)  // a topic's table at mu stands while anybody sits there
    path.tables[0] += (at_root + sign > 0 ? 1 : 0) - (at_root > 0 ? 1 : 0);
}

// Counts of the word side, and all weights of topic k that the two moves changed.
// ``c`` and ``t`` are phi_k's at the word before the move.
DEV void move_word(float *rows, Word &word, int k, int topic_depth, int word_depth, int sign,
                   bool single, int c, int t, const Betas &betas) {
  bool reaches_phi = word_depth > BURST;
  bool opens_phi = word_depth > BURST + 1;
  // the lane that moved a level's counts reads them: no wait is needed in between
  for (int level = lane_id(); level <= LEVELS; level += LANES) {
    if (level < LEVELS) {
      if (level > 0 && LEVELS - 1 - level < topic_depth) {
        Pair pair = weight_pair(level, INTS(ROW_C + level)[k], INTS(ROW_T + level)[k]);
        FLOATS(ROW_STAY + level)[k] = pair.stay;
        FLOATS(ROW_OPEN + level)[k] = pair.open;
      }
    } else if (reaches_phi) {
      Pair pair = weight_pair(TABLE_PHI, c + sign, opens_phi ? t + sign : t);
      FLOATS(ROW_WORD_STAY)[k] = pair.stay;
      FLOATS(ROW_WORD_OPEN)[k] = pair.open;
    }
  }
  if (lane_id() == 0) {
#if BURST
    INTS(ROW_TOKENS)[k] += sign;
    if (word_depth > 1) INTS(ROW_TABLES)[k] += sign;
    if (!single) {
      INTS(ROW_RUN_C)[k] += sign;
      if (word_depth > 1) INTS(ROW_RUN_T)[k] += sign;
    }
    refresh_bursts(rows, k, betas.burst);
#endif
    if (reaches_phi) {
      INTS(ROW_WORD_C)[k] += sign;
      INTS(ROW_TOTAL_C)[k] += sign;
      if (opens_phi) {
        INTS(ROW_WORD_T)[k] += sign;
        INTS(ROW_TOTAL_T)[k] += sign;
      }
      refresh_phi(rows, k, betas.phi);
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
    word.weight = weight_pair(TABLE_BACKGROUND, word.customers, word.tables);
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

// The topic where the sum of weights (eq:conditional_posterior) passes a share of the whole.
DEV int draw_topic(float share, float *rows, const float *scale, float fresh, float background,
                   bool single, const Betas &betas) {
  float mass = 0.0f;
#pragma unroll 4
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    int k = chunk * LANES + lane_id();
    if (k < K) {
      float topic = root_value(INTS(ROW_C)[k], topic_discount(0), fresh);
#pragma unroll
      for (int level = 1; level < LEVELS; level++)
        topic = FLOATS(ROW_STAY + level)[k] + FLOATS(ROW_OPEN + level)[k] * (scale[level] * topic);
      float value = FLOATS(ROW_WORD_STAY)[k] * FLOATS(ROW_INVERSE)[k] +
                    FLOATS(ROW_WORD_OPEN)[k] * FLOATS(ROW_OPENING)[k] * background;
#if BURST
      value *= FLOATS(ROW_BURST_OPENING)[k];
      if (!single) {  // topics that have the word here already weigh their own tables
        int c = INTS(ROW_RUN_C)[k];
        if (c > 0) {
          Pair own = weight_pair(TABLE_BURST, c, INTS(ROW_RUN_T)[k]);
          value = value * own.open + quotient(own.stay, betas.burst + (float)INTS(ROW_TOKENS)[k]);
        }
      }
#endif
      value *= topic;
      if (CHUNKS > 1) FLOATS(ROW_WEIGHT)[k] = value;
      mass += value;
    }
  }
  float running = group_scan(mass);
  float total = group_from(running, LANES - 1);
  float target = share * total;
  int who = group_first(mass > 0.0f && target < running);
  int heaviest = group_last(mass > 0.0f);
  if (who < 0) who = heaviest < 0 ? 0 : heaviest;  // rounding at the end of the sum
  int topic = lane_id();
  if (CHUNKS > 1) {  // the lane that was hit looks among its own topics
    target -= running - mass;
    int last = lane_id();
    bool found = false;
    for (int k = lane_id(); k < K && lane_id() == who && !found; k += LANES) {
      float value = FLOATS(ROW_WEIGHT)[k];
      if (value > 0.0f) last = k;
      found = target < value;
      target -= value;
    }
    topic = group_from(last, who);
  } else {
    topic = who;
  }
  return topic;
}

DEV int draw_topic_addition(Rng &rng, float *rows, const float *scale, float fresh, int k) {
  float climb[LEVELS];
  climb[0] = root_value(INTS(ROW_C)[k], topic_discount(0), fresh);
#pragma unroll
  for (int level = 1; level < LEVELS; level++)
    climb[level] = FLOATS(ROW_STAY + level)[k] +
                   FLOATS(ROW_OPEN + level)[k] * (scale[level] * climb[level - 1]);
  int depth = 1;
#pragma unroll
  for (int level = LEVELS - 1; level > 0; level--) {
    float stay = FLOATS(ROW_STAY + level)[k];
    if (stay > 0.0f && chance(rng) * climb[level] < stay) return depth;
    depth++;
  }
  return depth;
}

DEV int draw_word_addition(Rng &rng, float *rows, const Word &word, int k, bool single,
                           float background, const Betas &betas) {
  int depth = 1;
  float stay = FLOATS(ROW_WORD_STAY)[k] * FLOATS(ROW_INVERSE)[k];
  float weight = stay + FLOATS(ROW_WORD_OPEN)[k] * FLOATS(ROW_OPENING)[k] * background;
#if BURST
  if (!single) {
    int c = INTS(ROW_RUN_C)[k];
    if (c > 0) {
      Pair own = weight_pair(TABLE_BURST, c, INTS(ROW_RUN_T)[k]);
      float sit = quotient(own.stay, betas.burst + (float)INTS(ROW_TOKENS)[k]);
      float climb = own.open * FLOATS(ROW_BURST_OPENING)[k] * weight;
      if (chance(rng) * (sit + climb) < sit) return depth;
    }
  }
  depth++;
#endif
  if (stay > 0.0f && chance(rng) * weight < stay) return depth;
  depth++;
#if BACKGROUND
  if (word.weight.stay > 0.0f) {
    float total = betas.gamma + (float)word.total_customers;
    if (chance(rng) * (background * total) < word.weight.stay) return depth;
  }
  depth++;
#endif
  return depth;
}
