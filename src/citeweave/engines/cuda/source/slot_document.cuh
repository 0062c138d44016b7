// What one token does to the slots of its document (document.cuh has the same over all topics).
// Lanes share the slots; what concerns one slot is computed by all of them alike, and written by one.

typedef Cells<WORD_FIELDS, FIELD_TOPIC> WordCells;

// Random numbers of one token: places by what they decide.
#define DRAW_LEAVE 0  // a level each
#define DRAW_WORD_LEAVE (LEVELS - 1)
#define DRAW_PICK (LEVELS + 2)
#define DRAW_GUESS (LEVELS + 3)
#define DRAW_STAND (LEVELS + 4)
#define DRAW_ALLOW (LEVELS + 5)
#define DRAW_COME (LEVELS + 6)
#define DRAW_WORD_COME (2 * LEVELS + 5)
#define DRAWS (2 * LEVELS + 8)

// Numbers of 32 bits at places of the document's sequence: lanes make two each and share them, which
// takes far fewer instructions than a generator that every lane moves on.
struct Numbers {
  unsigned *bits;  // in shared memory
  __device__ __forceinline__ float operator[](int i) const {
    return (float)(int)(bits[i] >> 8) * (1.0f / (float)(1 << 24));
  }
};

// Nobody may read the numbers of the token before meanwhile.
DEV void draw_numbers(const Numbers &numbers, u64 start, int token) {
  for (int i = lane_id(); i < DRAWS / 2; i += LANES) {
    u64 own = mix(start + GOLDEN * (u64)(token * (DRAWS / 2) + i + 1));
    numbers.bits[2 * i] = (unsigned)own;
    numbers.bits[2 * i + 1] = (unsigned)(own >> 32);
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

// What a topic's weight depends on besides its own counts; as it is without the token.
struct Scales {
  float level[LEVELS];
  float fresh, background, outside;
};

DEV void refresh_phi(float *cell, float beta) {
  float inverse = quotient(1.0f, beta + (float)WHOLE(cell, FIELD_TOTAL_C));
  REAL(cell, FIELD_INVERSE) = inverse;
  REAL(cell, FIELD_OPENING) =
      (beta + word_discount(1) * (float)WHOLE(cell, FIELD_TOTAL_T)) * inverse;
}

DEV void refresh_bursts(float *cell, float beta) {
  float inverse = quotient(1.0f, beta + (float)WHOLE(cell, FIELD_TOKENS));
  REAL(cell, FIELD_BURST_OPENING) =
      (beta + word_discount(2) * (float)WHOLE(cell, FIELD_TABLES)) * inverse;
}

// Fill a slot from the snapshot, all but what concerns words and citations.
DEV void fill_slot(float *cell, int k, const int *node, const Betas &betas) {
  WHOLE(cell, FIELD_TOPIC) = k;
  WHOLE(cell, FIELD_C) = ctx.customers[k];
#pragma unroll
  for (int level = 1; level < LEVELS; level++) {
    int c = ctx.customers[(i64)node[level] * K + k], t = ctx.tables[(i64)node[level] * K + k];
    Pair pair = weight_pair(level, c, t);
    WHOLE(cell, FIELD_C + level) = c;
    WHOLE(cell, FIELD_T + level) = t;
    REAL(cell, FIELD_STAY + level) = pair.stay;
    REAL(cell, FIELD_OPEN + level) = pair.open;
  }
  WHOLE(cell, FIELD_TOTAL_C) = (int)ctx.word_total_customers[k];
  WHOLE(cell, FIELD_TOTAL_T) = (int)ctx.word_total_tables[k];
  refresh_phi(cell, betas.phi);
  WHOLE(cell, FIELD_WORD_C) = 0;
  WHOLE(cell, FIELD_WORD_T) = 0;
#if BURST
  WHOLE(cell, FIELD_TOKENS) = 0;
  WHOLE(cell, FIELD_TABLES) = 0;
  WHOLE(cell, FIELD_RUN_C) = 0;
  WHOLE(cell, FIELD_RUN_T) = 0;
  refresh_bursts(cell, betas.burst);
#endif
}

DEV void fill_word(float *cell, i64 word_row) {
  int k = WHOLE(cell, FIELD_TOPIC);
  REAL(cell, FIELD_WORD_STAY) = ctx.stay[word_row + k];
  REAL(cell, FIELD_WORD_OPEN) = ctx.open[word_row + k];
}

// A customer on the way up, without branches, so that groups of a warp stay together.
struct Climber {
  int depth;
  bool goes_on, allowed;

  __device__ __forceinline__ void step(bool on) {
    goes_on = goes_on && on;
    depth += goes_on ? 1 : 0;
  }
  // it takes its table along with probability t / c, but not the only table of others
  __device__ __forceinline__ void leave(float chance, int customers, int tables) {
    bool takes = tables == customers || chance * (float)customers < (float)tables;
    allowed = allowed && !(goes_on && takes && tables == 1 && customers > 1);
    step(takes);
  }
  __device__ __forceinline__ int result() const { return allowed ? depth : 0; }
};

// How far the customer that leaves had climbed; 0 where it may not leave.
DEV int draw_topic_removal(const Numbers &numbers, float *cell) {
  Climber climber = {1, true, true};
#pragma unroll
  for (int level = LEVELS - 1; level > 0; level--)
    climber.leave(numbers[DRAW_LEAVE + level - 1], WHOLE(cell, FIELD_C + level),
                  WHOLE(cell, FIELD_T + level));
  return climber.result();
}

DEV int draw_word_removal(const Numbers &numbers, float *cell, const Word &word, bool single, int c,
                          int t) {
  Climber climber = {1, true, true};
#if BURST
  // a word that stands alone holds its own table
  climber.leave(numbers[DRAW_WORD_LEAVE], single ? 1 : WHOLE(cell, FIELD_RUN_C),
                single ? 1 : WHOLE(cell, FIELD_RUN_T));
#endif
  climber.leave(numbers[DRAW_WORD_LEAVE + 1], c, t);
#if BACKGROUND
  climber.leave(numbers[DRAW_WORD_LEAVE + 2], word.customers, word.tables);
#endif
  return climber.result();
}

// Counts of the topic side only; ``at_root`` are the customers of mu before.
DEV void move_topic(float *cell, Path &path, int depth, int sign, int at_root) {
  for (int level = lane_id(); level < LEVELS; level += LANES) {
    int step = LEVELS - 1 - level;
    if (step < depth) {
      WHOLE(cell, FIELD_C + level) += sign;
      if (level > 0 && step + 1 < depth) WHOLE(cell, FIELD_T + level) += sign;
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

// Counts of the word side, and all weights of the slot that the two moves changed.
// ``c`` and ``t`` are phi_k's at the word before the move.
DEV void move_word(float *cell, Word &word, int topic_depth, int word_depth, int sign, bool single,
                   int c, int t, const Betas &betas) {
  bool reaches_phi = word_depth > BURST;
  bool opens_phi = word_depth > BURST + 1;
  // the lane that moved a level's counts reads them: no wait is needed in between
  for (int level = lane_id(); level <= LEVELS; level += LANES) {
    if (level < LEVELS) {
      if (level > 0 && LEVELS - 1 - level < topic_depth) {
        Pair pair =
            weight_pair(level, WHOLE(cell, FIELD_C + level), WHOLE(cell, FIELD_T + level));
        REAL(cell, FIELD_STAY + level) = pair.stay;
        REAL(cell, FIELD_OPEN + level) = pair.open;
      }
    } else if (reaches_phi) {
      Pair pair = weight_pair(TABLE_PHI, c + sign, opens_phi ? t + sign : t);
      REAL(cell, FIELD_WORD_STAY) = pair.stay;
      REAL(cell, FIELD_WORD_OPEN) = pair.open;
    }
  }
  if (lane_id() == 0) {
#if BURST
    WHOLE(cell, FIELD_TOKENS) += sign;
    if (word_depth > 1) WHOLE(cell, FIELD_TABLES) += sign;
    if (!single) {
      WHOLE(cell, FIELD_RUN_C) += sign;
      if (word_depth > 1) WHOLE(cell, FIELD_RUN_T) += sign;
    }
    refresh_bursts(cell, betas.burst);
#endif
    if (reaches_phi) {
      WHOLE(cell, FIELD_WORD_C) += sign;
      WHOLE(cell, FIELD_TOTAL_C) += sign;
      if (opens_phi) {
        WHOLE(cell, FIELD_WORD_T) += sign;
        WHOLE(cell, FIELD_TOTAL_T) += sign;
      }
      refresh_phi(cell, betas.phi);
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

DEV float opening_of(const Path &path, int level) {
  return path.beta[level] + topic_discount(level) * (float)path.tables[level];
}

DEV float seats_of(const Path &path, int level) {
  return path.beta[level] + (float)path.customers[level];
}

// ``outside`` is what turns a word's guesses, which are shares at mu times shares of the word, into
// weights of topics that the document does not have: those of its author count as inside where
// they are listed; elsewhere the author's topics are taken to be spread as the corpus's are.
DEV Scales scales_of(const Path &path, const Word &word, bool author_listed, const Betas &betas) {
  Scales scales;
#pragma unroll
  for (int level = 1; level < LEVELS; level++)
    scales.level[level] = quotient(opening_of(path, level), seats_of(path, level - 1));
  int unused = K - path.tables[0];
  scales.fresh = quotient(opening_of(path, 0), (float)(unused > 1 ? unused : 1));
  scales.background = background_weight(word, betas.gamma);
  const int above = N_SHARED > 1 ? N_SHARED - 1 : 1;
  float outside = author_listed ? opening_of(path, above) : seats_of(path, above);
#pragma unroll
  for (int level = above + 1; level < LEVELS; level++) outside *= scales.level[level];
  scales.outside = outside;
  return scales;
}

// Weight of a slot's topic (eq:conditional_posterior).
DEV float slot_weight(float *cell, const Scales &scales, bool single, const Betas &betas) {
  float topic = root_value(WHOLE(cell, FIELD_C), topic_discount(0), scales.fresh);
#pragma unroll
  for (int level = 1; level < LEVELS; level++)
    topic = REAL(cell, FIELD_STAY + level) +
            REAL(cell, FIELD_OPEN + level) * (scales.level[level] * topic);
  float value = REAL(cell, FIELD_WORD_STAY) * REAL(cell, FIELD_INVERSE) +
                REAL(cell, FIELD_WORD_OPEN) * REAL(cell, FIELD_OPENING) * scales.background;
#if BURST
  value *= REAL(cell, FIELD_BURST_OPENING);
  if (!single) {  // topics that have the word here already weigh their own tables
    int c = WHOLE(cell, FIELD_RUN_C);
    if (c > 0) {
      Pair own = weight_pair(TABLE_BURST, c, WHOLE(cell, FIELD_RUN_T));
      value = value * own.open + quotient(own.stay, betas.burst + (float)WHOLE(cell, FIELD_TOKENS));
    }
  }
#endif
  return value * topic;
}

// Weight of a topic that has no slot: the document has nothing of it, and has done nothing to it.
DEV float stranger_weight(int k, const int *node, i64 word_row, const Scales &scales,
                          const Betas &betas) {
  float topic = root_value(ctx.customers[k], topic_discount(0), scales.fresh);
#pragma unroll
  for (int level = 1; level < LEVELS; level++) {
    topic *= scales.level[level];
    if (level < N_SHARED) {
      i64 place = (i64)node[level] * K + k;
      Pair pair = weight_pair(level, ctx.customers[place], ctx.tables[place]);
      topic = pair.stay + pair.open * topic;
    }
  }
  float inverse = quotient(1.0f, betas.phi + (float)ctx.word_total_customers[k]);
  float opening = (betas.phi + word_discount(1) * (float)ctx.word_total_tables[k]) * inverse;
  return topic * (ctx.stay[word_row + k] * inverse +
                  ctx.open[word_row + k] * opening * scales.background);
}

DEV int draw_topic_addition(const Numbers &numbers, float *cell, const Scales &scales) {
  float climb[LEVELS];
  climb[0] = root_value(WHOLE(cell, FIELD_C), topic_discount(0), scales.fresh);
#pragma unroll
  for (int level = 1; level < LEVELS; level++)
    climb[level] = REAL(cell, FIELD_STAY + level) +
                   REAL(cell, FIELD_OPEN + level) * (scales.level[level] * climb[level - 1]);
  Climber climber = {1, true, true};
#pragma unroll
  for (int level = LEVELS - 1; level > 0; level--)
    climber.step(numbers[DRAW_COME + level - 1] * climb[level] >= REAL(cell, FIELD_STAY + level));
  return climber.depth;
}

DEV int draw_word_addition(const Numbers &numbers, float *cell, const Word &word, bool single,
                           const Scales &scales, const Betas &betas) {
  Climber climber = {1, true, true};
  float stay = REAL(cell, FIELD_WORD_STAY) * REAL(cell, FIELD_INVERSE);
  float weight =
      stay + REAL(cell, FIELD_WORD_OPEN) * REAL(cell, FIELD_OPENING) * scales.background;
#if BURST
  float sit = 0.0f, climb = 1.0f;
  if (!single) {
    int c = WHOLE(cell, FIELD_RUN_C);
    if (c > 0) {
      Pair own = weight_pair(TABLE_BURST, c, WHOLE(cell, FIELD_RUN_T));
      sit = quotient(own.stay, betas.burst + (float)WHOLE(cell, FIELD_TOKENS));
      climb = own.open * REAL(cell, FIELD_BURST_OPENING) * weight;
    }
  }
  climber.step(numbers[DRAW_WORD_COME] * (sit + climb) >= sit);
#endif
  climber.step(numbers[DRAW_WORD_COME + 1] * weight >= stay);
#if BACKGROUND
  float total = betas.gamma + (float)word.total_customers;
  climber.step(numbers[DRAW_WORD_COME + 2] * (scales.background * total) >= word.weight.stay);
#endif
  return climber.depth;
}
