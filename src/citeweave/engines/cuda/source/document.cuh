// A document's words: its rows, and what one token does to them. Lanes share the topics of a row;
// what concerns one topic is computed by all of them alike, and written by one. Lane l keeps level l
// of the path from mu to the document.

// Pairs of small counts share a number where no document is long enough to need more (PACKED): the
// fewer rows, the more documents are at hand at a time. mu has one table a topic, and no row of them.
#define PAIR_ROWS (PACKED ? 1 : 2)
#define COUNT_ROWS (1 + 2 * (N_SHARED - 1) + PAIR_ROWS * N_DOCUMENT)
#define ROW_STAY(level) (COUNT_ROWS + 2 * (level) - 2)
#define ROW_OPEN(level) (COUNT_ROWS + 2 * (level) - 1)
#define ROW_PHI (COUNT_ROWS + 2 * (LEVELS - 1))
#define ROW_INVERSE (ROW_PHI + 0)
#define ROW_OPENING (ROW_PHI + 1)
#define ROW_WORD_STAY (ROW_PHI + 2)
#define ROW_WORD_OPEN (ROW_PHI + 3)
#define ROW_WORD (ROW_PHI + 4)  // what the document did to phi at the word: customers and tables
#define ROW_TOTAL (ROW_WORD + PAIR_ROWS)  // and to phi in all
#define ROW_BURST (ROW_TOTAL + PAIR_ROWS)
#define ROW_OWN (ROW_BURST + 0)  // tokens of the document, and tables they hold
#define ROW_RUN (ROW_BURST + PAIR_ROWS)  // those of the word at hand
#define ROW_NETWORK (ROW_BURST + 2 * PAIR_ROWS * BURST)
#define ROW_CITE (ROW_NETWORK + 0)
#define ROW_CITED (ROW_NETWORK + 1)
#define ROW_WEIGHT (ROW_NETWORK + 2 * NETWORK)
#define WORD_ROWS (ROW_WEIGHT + (HELD ? 0 : 1))

struct Seats { int customers, tables; };

// Customers and tables of topic k in the rows of a pair; either may be negative.
DEV Seats read_pair(float *rows, int row, int k) {
  int value = INTS(row)[k];
#if PACKED
  Seats seats = {(int)(short)value, 0};
  seats.tables = (value - seats.customers) >> 16;
#else
  Seats seats = {value, INTS(row + 1)[k]};
#endif
  return seats;
}

DEV void write_pair(float *rows, int row, int k, int customers, int tables) {
#if PACKED
  INTS(row)[k] = customers + tables * 65536;
#else
  INTS(row)[k] = customers;
  INTS(row + 1)[k] = tables;
#endif
}

DEV void add_pair(float *rows, int row, int k, int customers, int tables) {
#if PACKED
  INTS(row)[k] += customers + tables * 65536;
#else
  INTS(row)[k] += customers;
  INTS(row + 1)[k] += tables;
#endif
}

// Counts of a level of the path below mu.
DEV int count_row(int level) {
  if (level < N_SHARED) return 2 * level - 1;
  return 2 * N_SHARED - 1 + PAIR_ROWS * (level - N_SHARED);
}

DEV Seats read_seats(float *rows, int level, int k) {
  if (level >= N_SHARED) return read_pair(rows, count_row(level), k);
  Seats seats = {INTS(count_row(level))[k], INTS(count_row(level) + 1)[k]};
  return seats;
}

DEV void write_seats(float *rows, int level, int k, int customers, int tables) {
  if (level >= N_SHARED) {
    write_pair(rows, count_row(level), k, customers, tables);
  } else {
    INTS(count_row(level))[k] = customers;
    INTS(count_row(level) + 1)[k] = tables;
  }
}

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
  Seats change = read_pair(rows, ROW_TOTAL, k);
  int customers = (int)ctx.word_total_customers[k] + change.customers;
  int tables = (int)ctx.word_total_tables[k] + change.tables;
  float inverse = quotient(1.0f, beta + (float)customers);
  FLOATS(ROW_INVERSE)[k] = inverse;
  FLOATS(ROW_OPENING)[k] = (beta + word_discount(1) * (float)tables) * inverse;
}

// How far the customer that leaves had climbed; 0 where it may not leave.
DEV int draw_topic_removal(Rng &rng, float *rows, int k) {
  int depth = 1;
#pragma unroll
  for (int level = LEVELS - 1; level > 0; level--) {
    Seats seats = read_seats(rows, level, k);
    if (seats.tables < seats.customers) {
      if (chance(rng) * (float)seats.customers >= (float)seats.tables) return depth;
      if (seats.tables == 1) return 0;
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
    Seats run = read_pair(rows, ROW_RUN, k);
    int taken = leaves_table(rng, run.customers, run.tables);
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
    int opened = step + 1 < depth ? sign : 0;
    if (step < depth) {
      if (level >= N_SHARED) {
        add_pair(rows, count_row(level), k, sign, opened);
      } else if (level > 0) {
        INTS(count_row(level))[k] += sign;
        INTS(count_row(level) + 1)[k] += opened;
      } else {
        INTS(0)[k] += sign;
      }
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
// ``c`` and ``t`` are phi_k's at the word before the move; after the ``last`` of a word's run nobody
// asks for the word's own weights again.
DEV void move_word(float *rows, Word &word, int k, int topic_depth, int word_depth, int sign,
                   bool single, bool last, int c, int t, const Betas &betas) {
  bool reaches_phi = word_depth > BURST;
  bool opens_phi = word_depth > BURST + 1;
  // the lane that moved a level's counts reads them: no wait is needed in between. mu has no weights
  // to renew, so its lane takes phi's
  for (int level = lane_id(); level < LEVELS; level += LANES) {
    bool renews = reaches_phi && !last;
    int table = TABLE_PHI, row = ROW_WORD_STAY;
    Seats seats = {c + sign, opens_phi ? t + sign : t};
    if (level > 0) {
      renews = LEVELS - 1 - level < topic_depth;
      table = level;
      row = ROW_STAY(level);
      seats = read_seats(rows, level, k);
    }
    if (renews) {
      Pair pair = weight_pair(table, seats.customers, seats.tables);
      FLOATS(row)[k] = pair.stay;
      FLOATS(row + 1)[k] = pair.open;
    }
  }
  if (lane_id() == LANES - 1) {
#if BURST
    int opened = word_depth > 1 ? sign : 0;
    add_pair(rows, ROW_OWN, k, sign, opened);
    if (!single) add_pair(rows, ROW_RUN, k, sign, opened);
#endif
    if (reaches_phi) {
      int phi_opened = opens_phi ? sign : 0;
      add_pair(rows, ROW_WORD, k, sign, phi_opened);
      add_pair(rows, ROW_TOTAL, k, sign, phi_opened);
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

// Weight of a topic for the token at hand (eq:conditional_posterior), up to one factor.
DEV float topic_weight(float *rows, int k, const float *scale, float fresh, float background,
                       bool single, const Betas &betas) {
  float topic = root_value(INTS(0)[k], topic_discount(0), fresh);
#pragma unroll
  for (int level = 1; level < LEVELS; level++)
    topic = FLOATS(ROW_STAY(level))[k] + FLOATS(ROW_OPEN(level))[k] * (scale[level] * topic);
  float value = FLOATS(ROW_WORD_STAY)[k] * FLOATS(ROW_INVERSE)[k] +
                FLOATS(ROW_WORD_OPEN)[k] * FLOATS(ROW_OPENING)[k] * background;
#if BURST
  Seats own = read_pair(rows, ROW_OWN, k);
  float total = quotient(1.0f, betas.burst + (float)own.customers);
  value *= (betas.burst + word_discount(2) * (float)own.tables) * total;
  if (!single) {  // topics that have the word here already weigh their own tables
    Seats run = read_pair(rows, ROW_RUN, k);
    if (run.customers > 0) {
      Pair pair = weight_pair(TABLE_BURST, run.customers, run.tables);
      value = value * pair.open + pair.stay * total;
    }
  }
#endif
  return value * topic;
}

// The topic where the sum of weights passes a share of the whole.
DEV int draw_topic(float share, float *rows, const float *scale, float fresh, float background,
                   bool single, const Betas &betas) {
  float mass = 0.0f;
#if HELD
  float weight[CHUNKS];
#pragma unroll
#else
#pragma unroll 4
#endif
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    int k = chunk * LANES + lane_id();
    float value = 0.0f;
    if (k < K) value = topic_weight(rows, k, scale, fresh, background, single, betas);
#if HELD
    weight[chunk] = value;
#else
    if (k < K) FLOATS(ROW_WEIGHT)[k] = value;
#endif
    mass += value;
  }
  float running = group_scan(mass);
  float total = group_from(running, LANES - 1);
  float target = share * total;
  int who = group_first(mass > 0.0f && target < running);
  int heaviest = group_last(mass > 0.0f);
  if (who < 0) who = heaviest < 0 ? 0 : heaviest;  // rounding at the end of the sum
  // the lane that was hit looks among its own topics
  target -= running - mass;
  int last = lane_id();
  bool found = false;
#if HELD
#pragma unroll
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    float value = weight[chunk];
    if (!found && value > 0.0f) last = chunk * LANES + lane_id();
    found = found || target < value;
    target -= value;
  }
#else
  for (int k = lane_id(); k < K && lane_id() == who && !found; k += LANES) {
    float value = FLOATS(ROW_WEIGHT)[k];
    if (value > 0.0f) last = k;
    found = target < value;
    target -= value;
  }
#endif
  return group_from(last, who);
}

DEV int draw_topic_addition(Rng &rng, float *rows, const float *scale, float fresh, int k) {
  float climb[LEVELS];
  climb[0] = root_value(INTS(0)[k], topic_discount(0), fresh);
#pragma unroll
  for (int level = 1; level < LEVELS; level++)
    climb[level] = FLOATS(ROW_STAY(level))[k] +
                   FLOATS(ROW_OPEN(level))[k] * (scale[level] * climb[level - 1]);
  int depth = 1;
#pragma unroll
  for (int level = LEVELS - 1; level > 0; level--) {
    float stay = FLOATS(ROW_STAY(level))[k];
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
    Seats run = read_pair(rows, ROW_RUN, k);
    if (run.customers > 0) {
      Pair pair = weight_pair(TABLE_BURST, run.customers, run.tables);
      Seats own = read_pair(rows, ROW_OWN, k);
      float total = quotient(1.0f, betas.burst + (float)own.customers);
      float sit = pair.stay * total;
      float climb = pair.open * (betas.burst + word_discount(2) * (float)own.tables) * total * weight;
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
