// Random streams, ratio weights and rows of topics, shared by all kernels.

#define LEVELS (N_SHARED + N_DOCUMENT)
#define CITED_LEVEL (LEVELS - 1 - BELOW)
#define CHUNKS ((K + LANES - 1) / LANES)
#define HELD (CHUNKS <= 16)  // whether a lane holds what it finds of its topics in registers
constexpr int CHUNK_UNROLL = HELD ? CHUNKS : 4;
#define DENSE_LIMIT 511
#define DENSE_SIZE ((DENSE_LIMIT + 1) * (DENSE_LIMIT + 2) / 2)
#define CELLS 128
#define TERMS 24  // 21, and room for whole reads of four
#define GOLDEN 0x9E3779B97F4A7C15ull

// A part of a chain holds copies of documents and nodes of other parts, after its own on every level.
#define N_DOCUMENTS ctx.extent[0]  // held
#define OWN_DOCUMENTS ctx.extent[1]
#define ALL_DOCUMENTS ctx.extent[2]  // of the whole corpus

#define TABLE_BACKGROUND LEVELS
#define TABLE_PHI (LEVELS + 1)
#define TABLE_BURST (LEVELS + 2)

enum { WORD_VISITED, WORD_BLOCKED, WORD_CORRECTED, WORD_REJECTED };
enum { CITE_VISITED = 4, CITE_BLOCKED, CITE_ACCEPTED, REPAIRED_TOPICS, REPAIRED_WORDS };
enum { WORD_OUTSIDE = 9, WORD_REFUSED, CITE_OUTSIDE, CITE_REFUSED };
enum { LOST_TOPICS = 16 };  // after what faults.cu counts

struct Pair { float stay, open; };
struct Seats { int customers, tables; };
struct ALIGNED_16 Four { float x, y, z, w; };

// Discounts are the model's: constants wherever the level is one.
DEV constexpr float topic_discount(int level) {
  const float values[] = {TOPIC_DISCOUNTS};
  return values[level];
}
DEV constexpr float word_discount(int level) {
  const float values[] = {WORD_DISCOUNTS};
  return values[level];
}

// ---- random numbers: xoshiro256++ streams and SplitMix64 by place, as engines/threads/streams.py

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

DEV u64 advance(Rng &rng) {
  u64 total = rng.a + rng.d;
  u64 result = ((total << 23) | (total >> 41)) + rng.a;
  u64 shifted = rng.b << 17;
  rng.c ^= rng.a;
  rng.d ^= rng.b;
  rng.b ^= rng.c;
  rng.a ^= rng.d;
  rng.c ^= shifted;
  rng.d = (rng.d << 45) | (rng.d >> 19);
  return result;
}

DEV double uniform(Rng &rng) { return to_unit(advance(rng)); }

// The same number cut to 24 bits, for sweeps: their weights have no more.
DEV float chance(Rng &rng) {
  return (float)(int)(advance(rng) >> 40) * (1.0f / (float)(1 << 24));
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

// ---- ratio weights A0 and B1 (engines/core/stirling.py)

// G(t, e) from the polynomial of its cell, a quarter octave each way.
DEV float scaled_ratio(const float *patches, float t, float e) {
  unsigned t_bits = float_bits(t), e_bits = float_bits(e);
  const unsigned mask = (1u << 21) - 1u;
  const float scale = 1.0f / (float)(1u << 21);
  int row = (int)(t_bits >> 21) - (127 << 2), column = (int)(e_bits >> 21) - (127 << 2);
  float u = (float)(t_bits & mask) * scale, v = (float)(e_bits & mask) * scale;
  const Four *cell = (const Four *)(patches + (i64)(row * CELLS + column) * TERMS);
  Four a = cell[0], b = cell[1], c = cell[2], d = cell[3], f = cell[4], g = cell[5];
  float row0 = a.x + v * (a.y + v * (a.z + v * (a.w + v * (b.x + v * b.y))));
  float row1 = b.z + v * (b.w + v * (c.x + v * (c.y + v * c.z)));
  float row2 = c.w + v * (d.x + v * (d.y + v * d.z));
  float row3 = d.w + v * (f.x + v * f.y);
  float row4 = f.z + v * f.w;
  return row0 + u * (row1 + u * (row2 + u * (row3 + u * (row4 + u * g.x))));
}

static __device__ __noinline__ Pair large_pair(int table, int customers, int tables) {
  const float *patches = ctx.patches + (i64)table * CELLS * CELLS * TERMS;
  float discount = (float)ctx.table_discount[table];
  float c = (float)customers, t = (float)tables, e = (float)(customers - tables + 1);
  float inverse = quotient(1.0f, c + 1.0f);
  Pair pair;
  pair.stay = (c - t * discount) * (e * inverse) +
              (t - 1.0f) * (c * inverse) * scaled_ratio(patches, t, e);
  pair.open = 1.0f;
  if (tables == customers) return pair;
  e = (float)(customers - tables);
  float ratio = t * c * scaled_ratio(patches, t + 1.0f, e);
  pair.open = (t + 1.0f) * inverse * (1.0f + quotient((c - (t + 1.0f) * discount) * e, ratio));
  return pair;
}

// ``place`` is a level: topic side root first, then the three of the word side.
DEV Pair weight_pair(int place, int customers, int tables) {
  int table = (TABLE_PLACES >> (4 * place)) & 15;
  if (customers <= DENSE_LIMIT)
    return ctx.dense[(i64)table * DENSE_SIZE + ((customers * (customers + 1)) >> 1) + tables];
  return large_pair(table, customers, tables);
}

// Floats of a group's rows: groups of a warp begin in different banks of shared memory.
#define ROW_STRIDE(rows) ((rows) * K + (LANES % 32 + 32 - (rows) * K % 32) % 32)

// lambdaT in shared memory, before the rows of all groups: the block's own copy.
#if LAMBDAS && ROWS_SHARED
#define BLOCK_FLOATS ((K + 3) / 4 * 4)
DEV void read_topic_scales() {
  for (int k = threadIdx.x; k < K; k += blockDim.x) shared_pool[k] = (float)ctx.topic_scale[k];
  block_sync();
}
DEV float topic_scale(int k) { return shared_pool[k]; }
#else
#define BLOCK_FLOATS 0
DEV void read_topic_scales() {}
DEV float topic_scale(int k) { return (float)ctx.topic_scale[k]; }
#endif

// ---- rows over topics of one group: in shared memory, or in the card's where they do not fit

DEV float *group_rows(int rows) {
#if ROWS_SHARED
  return shared_pool + BLOCK_FLOATS + (i64)group_in_block() * ROW_STRIDE(rows);
#else
  return ctx.scratch +
         ((i64)blockIdx.x * groups_in_block() + group_in_block()) * ROW_STRIDE(rows);
#endif
}

// Groups share nodes out: each begins with its own number and goes on in steps of all.
DEV i64 first_group() { return (i64)blockIdx.x * groups_in_block() + group_in_block(); }
DEV i64 all_groups() { return (i64)gridDim.x * groups_in_block(); }

// What lanes counted, to a place that other groups add to as well.
DEV void add_count(u64 *place, int count) {
  count = group_sum(count);
  if (lane_id() == 0 && count) add_to(place, (u64)count);
}

// Totals of a node, from what lanes counted of their topics.
DEV void set_totals(i64 n, int customers, int tables) {
  customers = group_sum(customers);
  tables = group_sum(tables);
  if (lane_id() == 0) {
    ctx.total_customers[n] = customers;
    ctx.total_tables[n] = tables;
  }
}

// Sum over the threads of a block, in a fixed tree; ``room`` holds a number a thread.
template <typename T> DEV T block_sum(T value, T *room) {
  room[threadIdx.x] = value;
  block_sync();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if ((int)threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
    block_sync();
  }
  T sum = room[0];
  block_sync();
  return sum;
}

DEV double block_max(double value, double *room) {
  room[threadIdx.x] = value;
  block_sync();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if ((int)threadIdx.x < half)
      room[threadIdx.x] = fmax(room[threadIdx.x], room[threadIdx.x + half]);
    block_sync();
  }
  double most = room[0];
  block_sync();
  return most;
}

// A document that a group goes through: its tokens or its citations.
struct Turn {
  int document, length;
  i64 begin;
};

// The next document of every group of the warp, by the counter at ``slot``; false where none is left.
// A group that gets none has one of length 0.
DEV bool take_turn(Turn &turn, int slot, const int *order, const i64 *start, int first, int last) {
  while (true) {
    int number = 0;
    if (first_of_warp()) number = take_numbers(ctx.counter + slot, groups_in_warp());
    number = first + warp_from_first(number);
    if (number >= last) return false;
    number += group_in_warp();
    bool mine = number < last;
    turn.document = order[mine ? number : last - 1];
    turn.begin = start[turn.document];
    turn.length = mine ? (int)(start[turn.document + 1] - turn.begin) : 0;
    if (warp_any(turn.length > 0)) return true;
  }
}

// Weight of a topic at mu before division by (beta + C): c - alpha, or a share of the new topic's.
DEV float root_value(int customers, float discount, float fresh) {
  return customers > 0 ? (float)customers - discount : fresh;
}
