// Random streams, ratio weights and rows of topics, shared by all kernels.

#define LEVELS (N_SHARED + N_DOCUMENT)
#define CITED_LEVEL (LEVELS - 1 - BELOW)
#define CHUNKS ((K + LANES - 1) / LANES)
#define DENSE_LIMIT 511
#define DENSE_SIZE ((DENSE_LIMIT + 1) * (DENSE_LIMIT + 2) / 2)
#define CELLS 128
#define TERMS 21
#define GOLDEN 0x9E3779B97F4A7C15ull

#define TABLE_BACKGROUND LEVELS
#define TABLE_PHI (LEVELS + 1)
#define TABLE_BURST (LEVELS + 2)

enum { WORD_VISITED, WORD_BLOCKED, WORD_CORRECTED, WORD_REJECTED };
enum { CITE_VISITED = 4, CITE_BLOCKED, CITE_ACCEPTED, REPAIRED_TOPICS, REPAIRED_WORDS };

struct Pair { float stay, open; };

// Discounts are the model's: constants wherever the level is one.
DEV constexpr float topic_discount(int level) {
  const float values[] = {TOPIC_DISCOUNTS};
  return values[level];
}
DEV constexpr float word_discount(int level) {
  const float values[] = {WORD_DISCOUNTS};
  return values[level];
}

// ---- random numbers: xoshiro256++ streams and SplitMix64 by place, as parallel/streams.py

struct Rng { u64 a, b, c, d; };

DEV u64 mix(u64 value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
  return value ^ (value >> 31);
}

DEV Rng open_stream(u64 key, u64 purpose, u64 document) {
  u64 start = mix(key + GOLDEN * (2 * document + purpose + 1));
  Rng rng;
  rng.a = mix(start + GOLDEN);
  rng.b = mix(start + GOLDEN * 2);
  rng.c = mix(start + GOLDEN * 3);
  rng.d = mix(start + GOLDEN * 4);
  return rng;
}

DEV double to_unit(u64 bits) { return (double)(i64)(bits >> 11) * 1.1102230246251565e-16; }

DEV double uniform(Rng &rng) {
  u64 total = rng.a + rng.d;
  u64 result = ((total << 23) | (total >> 41)) + rng.a;
  u64 shifted = rng.b << 17;
  rng.c ^= rng.a;
  rng.d ^= rng.b;
  rng.b ^= rng.c;
  rng.a ^= rng.d;
  rng.c ^= shifted;
  rng.d = (rng.d << 45) | (rng.d >> 19);
  return to_unit(result);
}

// The number at a place of a sequence of its own: needs no state.
DEV double uniform_at(u64 key, u64 place) { return to_unit(mix(key + GOLDEN * (place + 1))); }

DEV double standard_normal(Rng &rng) {
  while (true) {
    double x = 2.0 * uniform(rng) - 1.0;
    double y = 2.0 * uniform(rng) - 1.0;
    double s = x * x + y * y;
    if (s > 0.0 && s < 1.0) return x * sqrt(-2.0 * log(s) / s);
  }
}

// Marsaglia and Tsang's squeeze; shape >= 1.
DEV double gamma_above_one(Rng &rng, double shape) {
  double d = shape - 1.0 / 3.0;
  double c = 1.0 / sqrt(9.0 * d);
  while (true) {
    double x = standard_normal(rng);
    double v = 1.0 + c * x;
    if (v <= 0.0) continue;
    v = v * v * v;
    double u = 1.0 - uniform(rng);
    if (log(u) < 0.5 * x * x + d - d * v + d * log(v)) return d * v;
  }
}

DEV double standard_gamma(Rng &rng, double shape) {
  if (shape >= 1.0) return gamma_above_one(rng, shape);
  double u = 1.0 - uniform(rng);
  return gamma_above_one(rng, shape + 1.0) * pow(u, 1.0 / shape);
}

// log(1 - xi) with xi ~ Beta(customers, concentration), in logarithms throughout.
DEV double log_beta_complement(Rng &rng, double customers, double concentration) {
  double log_small = log(gamma_above_one(rng, concentration + 1.0));
  log_small += log(1.0 - uniform(rng)) / concentration;
  double log_large = log(gamma_above_one(rng, customers));
  double top = log_small > log_large ? log_small : log_large;
  return log_small - (top + log(exp(log_small - top) + exp(log_large - top)));
}

// ---- ratio weights A0 and B1 (sampler/stirling.py)

DEV double scaled_ratio(const double *patches, double t, double e) {
  u64 t_bits, e_bits;
#ifdef __CUDACC__
  t_bits = (u64)__double_as_longlong(t);
  e_bits = (u64)__double_as_longlong(e);
#else
  __builtin_memcpy(&t_bits, &t, 8);
  __builtin_memcpy(&e_bits, &e, 8);
#endif
  const u64 mask = (1ull << 50) - 1;
  const double scale = 1.0 / (double)(1ull << 50);
  i64 row = (i64)(t_bits >> 50) - (1023ll << 2);
  i64 column = (i64)(e_bits >> 50) - (1023ll << 2);
  double u = (double)(i64)(t_bits & mask) * scale;
  double v = (double)(i64)(e_bits & mask) * scale;
  const double *p = patches + (row * CELLS + column) * TERMS;
  double row0 = p[0] + v * (p[1] + v * (p[2] + v * (p[3] + v * (p[4] + v * p[5]))));
  double row1 = p[6] + v * (p[7] + v * (p[8] + v * (p[9] + v * p[10])));
  double row2 = p[11] + v * (p[12] + v * (p[13] + v * p[14]));
  double row3 = p[15] + v * (p[16] + v * p[17]);
  double row4 = p[18] + v * p[19];
  return row0 + u * (row1 + u * (row2 + u * (row3 + u * (row4 + u * p[20]))));
}

static __device__ __noinline__ Pair large_pair(int table, int customers, int tables) {
  const double *patches = ctx.patches + (i64)table * CELLS * CELLS * TERMS;
  double discount = ctx.table_discount[table];
  double c = customers, t = tables, e = c - t + 1.0;
  Pair pair;
  pair.stay = (float)(((c - t * discount) * e + (t - 1.0) * c * scaled_ratio(patches, t, e)) /
                      (c + 1.0));
  if (tables == customers) {
    pair.open = 1.0f;
    return pair;
  }
  e -= 1.0;
  double product = t * c * scaled_ratio(patches, t + 1.0, e);
  double numerator = (t + 1.0) * (product + (c - (t + 1.0) * discount) * e);
  pair.open = (float)(numerator / ((c + 1.0) * product));
  return pair;
}

// ``place`` is a level: topic side root first, then the three of the word side.
DEV Pair weight_pair(int place, int customers, int tables) {
  int table = (TABLE_PLACES >> (4 * place)) & 15;
  if (customers <= DENSE_LIMIT)
    return ctx.dense[(i64)table * DENSE_SIZE + ((customers * (customers + 1)) >> 1) + tables];
  return large_pair(table, customers, tables);
}

// ---- rows over topics of one group: in shared memory, or in the card's where they do not fit

DEV float *group_rows(int rows) {
#if ROWS_SHARED
  return shared_pool + (i64)group_in_block() * rows * K;
#else
  return ctx.scratch + ((i64)blockIdx.x * groups_in_block() + group_in_block()) * rows * K;
#endif
}

// The number of the first of as many documents as the warp has groups; each takes one of them.
DEV int next_documents(int slot) {
  int number = 0;
  if (first_of_warp()) number = take_numbers(ctx.counter + slot, groups_in_warp());
  return warp_from_first(number);
}

// Weight of a topic at mu before division by (beta + C): c - alpha, or a share of the new topic's.
DEV float root_value(int customers, float discount, float fresh) {
  return customers > 0 ? (float)customers - discount : fresh;
}
