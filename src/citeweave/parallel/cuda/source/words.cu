// The snapshot sweep of words: a group of lanes a document (CPU twin: parallel/words.py).
// Lanes share the topics of a row; what concerns one topic is computed by all of them alike, and
// written by one. Lane l keeps level l of the path from mu to the document.

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

#define FLOATS(i) (rows + (i) * K)
#define INTS(i) ((int *)(rows + (i) * K))

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

#if NETWORK
// What a pending move would do to P and M: slopes by level, and what the two topics get besides.
// Differences are written out so that nothing cancels, and single precision suffices.
struct Change {
  float cite[CITED_LEVEL + 1], cited[CITED_LEVEL + 1];  // weights of the path's nodes
  float carry[CITED_LEVEL + 1], carried[CITED_LEVEL + 1];  // what they would gain
  float cite_slope[CITED_LEVEL + 1], cited_slope[CITED_LEVEL + 1];
  float cite_old, cited_old, cite_new, cited_new;
  bool all;
};

DEV void topic_change(float *rows, const Change &change, int k, int before, int after, float &cite,
                      float &cited) {
  cite = 0.0f;
  cited = 0.0f;
  if (change.all) {
#pragma unroll
    for (int level = 0; level <= CITED_LEVEL; level++) {
      int c = INTS(ROW_C + level)[k];
      int t = level == 0 ? (c > 0 ? 1 : 0) : INTS(ROW_T + level)[k];
      float own = (float)c - topic_discount(level) * (float)t;
      cite += change.cite_slope[level] * own;
      cited += change.cited_slope[level] * own;
    }
  }
  if (k == before) {
    cite += change.cite_old;
    cited += change.cited_old;
  }
  if (k == after) {
    cite += change.cite_new;
    cited += change.cited_new;
  }
}

// A topic's part of the change of E; ROW_CITE and ROW_CITED hold lambdaT_k P_k and lambdaT_k M_k.
DEV float rate_of(float *rows, int k, float cite, float cited) {
  return cite * (FLOATS(ROW_CITED)[k] + FLOATS(ROW_SCALE)[k] * cited) + FLOATS(ROW_CITE)[k] * cited;
}

// Change of E by a move already made in the counts (sampler/exponent.py, one path).
DEV float exponent_change(float *rows, const Path &path, Change &change, int before, int after,
                          int out, int into) {
  float carry = 0.0f, carried = 0.0f;
  change.cite_old = change.cited_old = change.cite_new = change.cited_new = 0.0f;
  change.all = false;
#pragma unroll
  for (int level = CITED_LEVEL; level >= 0; level--) {
    int step = CITED_LEVEL - level;
    int left = step < out, closed = step + 1 < out, came = step < into, opened = step + 1 < into;
    change.cite_slope[level] = change.cited_slope[level] = 0.0f;
    change.carry[level] = carry;
    change.carried[level] = carried;
    if (left + came == 0 && carry == 0.0f && carried == 0.0f) continue;
    if (level == 0) {
      int now_old = INTS(ROW_C)[before], now_new = INTS(ROW_C)[after];
      int was_old = now_old + left - (before == after ? came : 0);
      int was_new = now_new - came + (before == after ? left : 0);
      closed = (was_old > 0) - (now_old > 0);
      opened = before == after ? 0 : (now_new > 0) - (was_new > 0);
    }
    const float discount = topic_discount(level);
    float beta = path.beta[level], total = (float)path.customers[level];
    float now = quotient(1.0f, beta + total);
    float was = came == left ? now : quotient(1.0f, beta + total - (float)(came - left));
    float fall = (float)(left - came) * now * was;  // now - was
    float cite = change.cite[level], cited = change.cited[level];
    change.cite_slope[level] = carry * now + cite * fall;
    change.cited_slope[level] = carried * now + cited * fall;
    if (change.cite_slope[level] != 0.0f || change.cited_slope[level] != 0.0f) change.all = true;
    float went = was * ((float)left - discount * (float)closed);
    float arrived = was * ((float)came - discount * (float)opened);
    change.cite_old -= cite * went;
    change.cited_old -= cited * went;
    change.cite_new += cite * arrived;
    change.cited_new += cited * arrived;
    float gain = discount * (float)(opened - closed);
    float top = beta + discount * (float)path.tables[level];
    float rise = gain * now + (top - gain) * fall;  // of the share that children take
    carry = carry * top * now + cite * rise;
    carried = carried * top * now + cited * rise;
  }
  float sum = 0.0f;
  for (int k = lane_id(); k < K; k += LANES) {
    if (!change.all && k != before && k != after) continue;
    float cite, cited;
    topic_change(rows, change, k, before, after, cite, cited);
    sum += rate_of(rows, k, cite, cited);
  }
  return group_sum(sum);
}

DEV void commit_change(float *rows, Change &change, int before, int after) {
  for (int k = lane_id(); k < K; k += LANES) {
    if (!change.all && k != before && k != after) continue;
    float cite, cited;
    topic_change(rows, change, k, before, after, cite, cited);
    FLOATS(ROW_CITE)[k] += FLOATS(ROW_SCALE)[k] * cite;
    FLOATS(ROW_CITED)[k] += FLOATS(ROW_SCALE)[k] * cited;
  }
#pragma unroll
  for (int level = 0; level <= CITED_LEVEL; level++) {
    change.cite[level] += change.carry[level];
    change.cited[level] += change.carried[level];
  }
}
#endif

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
    for (int k = lane_id(); k < K; k += LANES) {
      int c = ctx.customers[(i64)node[level] * K + k];
      INTS(ROW_C + level)[k] = c;
      if (level > 0) {
        int t = ctx.tables[(i64)node[level] * K + k];
        Pair pair = weight_pair(level, c, t);
        INTS(ROW_T + level)[k] = t;
        FLOATS(ROW_STAY + level)[k] = pair.stay;
        FLOATS(ROW_OPEN + level)[k] = pair.open;
      }
    }
  }
  for (int k = lane_id(); k < K; k += LANES) {
    INTS(ROW_TOTAL_C)[k] = (int)ctx.word_total_customers[k];
    INTS(ROW_TOTAL_T)[k] = (int)ctx.word_total_tables[k];
    refresh_phi(rows, k, betas.phi);
    INTS(ROW_WORD_C)[k] = 0;
    INTS(ROW_WORD_T)[k] = 0;
#if BURST
    INTS(ROW_TOKENS)[k] = 0;
    INTS(ROW_TABLES)[k] = 0;
    INTS(ROW_RUN_C)[k] = 0;
    INTS(ROW_RUN_T)[k] = 0;
#endif
#if NETWORK
    FLOATS(ROW_SCALE)[k] = (float)ctx.topic_scale[k];
    FLOATS(ROW_CITE)[k] = (float)(ctx.topic_scale[k] * ctx.cite_sum[k]);
    FLOATS(ROW_CITED)[k] = (float)(ctx.topic_scale[k] * ctx.cited_sum[k]);
#endif
  }
  group_sync();
#if BURST
  for (i64 i = begin + lane_id(); i < end; i += LANES) {
    add_to(INTS(ROW_TOKENS) + ctx.topic[i], 1);
    add_to(INTS(ROW_TABLES) + ctx.topic[i], (int)ctx.burst_table[i]);
  }
  group_sync();
  for (int k = lane_id(); k < K; k += LANES) refresh_bursts(rows, k, betas.burst);
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
      int c = INTS(ROW_C + level)[k], t = INTS(ROW_T + level)[k];
      if (level >= N_SHARED) {
        ctx.customers[row + k] = c;
        ctx.tables[row + k] = t;
      } else {
        int customers = c - ctx.customers[row + k], tables = t - ctx.tables[row + k];
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

// Groups of a warp take documents of about the same length and go through them in step, token by
// token; a group that has nothing to do in a step takes part all the same.
KERNEL_OF(WORD_THREADS, WORD_BLOCKS) sweep_words(u64 key, int first, int last, int network_on) {
  float *rows = group_rows(WORD_ROWS);
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
          if (!single && lane_id() == 0)
            for (int j = run_begin; j < run_end; j++) {
              INTS(ROW_RUN_C)[topics[j]] += 1;
              INTS(ROW_RUN_T)[topics[j]] += ctx.burst_table[begin + j];
            }
#endif
        }
        group_sync();
      }
      // the token leaves
      int old = 0, topic_out = 0, word_out = 0, c = 0, t = 0;
      if (live) {
        old = topics[i];
        c = ctx.word_customers[word_row + old] + INTS(ROW_WORD_C)[old];
        t = ctx.word_tables[word_row + old] + INTS(ROW_WORD_T)[old];
        topic_out = draw_topic_removal(rng, rows, old);
        word_out = draw_word_removal(rng, rows, word, old, single, c, t);
      }
      bool moves = topic_out > 0 && word_out > 0;
      n_blocked += live && !moves;
      int at_root = INTS(ROW_C)[old];
      group_sync();
      if (moves) {
        move_topic(rows, path, old, topic_out, -1, at_root);
        move_word(rows, word, old, topic_out, word_out, -1, single, c, t, betas);
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
      // it comes back
      float target = moves ? chance(rng) : 0.5f;
      int k = draw_topic(target, rows, scale, fresh, background, single, betas);
      int topic_in = 0, word_in = 0;
      if (moves) {
        c = ctx.word_customers[word_row + k] + INTS(ROW_WORD_C)[k];
        t = ctx.word_tables[word_row + k] + INTS(ROW_WORD_T)[k];
        topic_in = draw_topic_addition(rng, rows, scale, fresh, k);
        word_in = draw_word_addition(rng, rows, word, k, single, background, betas);
      } else {
        k = old;
      }
      at_root = INTS(ROW_C)[k];
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
            at_root = INTS(ROW_C)[k];
            group_sync();
            if (!stands) {
              move_topic(rows, path, k, topic_in, -1, at_root);
              k = old;
              topic_in = topic_out;
              word_in = word_out;
              c = ctx.word_customers[word_row + k] + INTS(ROW_WORD_C)[k];
              t = ctx.word_tables[word_row + k] + INTS(ROW_WORD_T)[k];
            }
            group_sync();
            at_root = INTS(ROW_C)[k];
            group_sync();
            if (!stands) move_topic(rows, path, k, topic_in, 1, at_root);
          }
        }
      }
#endif
      if (moves) {
        move_word(rows, word, k, topic_in, word_in, 1, single, c, t, betas);
        if (lane_id() == 0) topics[i] = (short)k;
      }
      group_sync();
      bool closes = live && i + 1 == run_end;
      if (warp_any(closes)) {
        if (closes) {
#if BURST
          if (lane_id() == 0) {
            if (single) ctx.burst_table[begin + i] = 1;
            // who holds a table is forgotten: the first tokens of each topic get the bits
            for (int j = run_begin; j < run_end && !single; j++) {
              int held = INTS(ROW_RUN_T)[topics[j]] > 0 ? 1 : 0;
              ctx.burst_table[begin + j] = (unsigned char)held;
              INTS(ROW_RUN_T)[topics[j]] -= held;
              INTS(ROW_RUN_C)[topics[j]] = 0;
            }
          }
#endif
          // the word comes again in no later run: what was done to it leaves the document here
          for (int j = lane_id(); j < K; j += LANES) {
            int customers = INTS(ROW_WORD_C)[j], tables = INTS(ROW_WORD_T)[j];
            if (customers != 0) {
              add_to(ctx.change_customers + word_row + j, customers);
              INTS(ROW_WORD_C)[j] = 0;
            }
            if (tables != 0) {
              add_to(ctx.change_tables + word_row + j, tables);
              INTS(ROW_WORD_T)[j] = 0;
            }
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

// Give every token a uniformly random topic. A word of a topic has one table a document, a topic one
// table a document level; shared levels get their customers as changes, and tables by the repair.
KERNEL start_words(u64 key) {
  int *tokens = (int *)group_rows(2);
  for (i64 d = (i64)blockIdx.x * groups_in_block() + group_in_block(); d < N_DOCUMENTS;
       d += (i64)gridDim.x * groups_in_block()) {
    i64 begin = ctx.document_start[d], end = ctx.document_start[d + 1];
    u64 place = mix(key ^ mix((u64)d + 1));
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
      for (int k = lane_id(); k < K; k += LANES) {
        int used = tokens[k] > 0 ? 1 : 0;
        int customers = level == LEVELS - 1 ? tokens[k] : used;
        ctx.customers[(i64)n * K + k] = customers;
        ctx.tables[(i64)n * K + k] = used;
        customers_total += customers;
        tables_total += used;
      }
      customers_total = group_sum(customers_total);
      tables_total = group_sum(tables_total);
      if (lane_id() == 0) {
        ctx.total_customers[n] = customers_total;
        ctx.total_tables[n] = tables_total;
      }
      n = ctx.parent[n];
    }
    if (N_SHARED > 1)
      for (int k = lane_id(); k < K; k += LANES)
        if (tokens[k] > 0) add_to(ctx.node_customers + (i64)n * K + k, 1);
    group_sync();
  }
}
