// Where topics are many a document is walked over the topics that matter to it: its slots. They are
// those with customers in the document, and in its author where the author has few; topics that
// tokens join on the way get slots too. A slot is a column of numbers; LANES of them lie side by
// side, the first NEAR_SLOTS of a group in shared memory and all further ones in the card's.

#ifndef NEAR_TILES  // parts that need it may stand in one program
#define FIELD_C 0  // and the level: customers
#define FIELD_T LEVELS
#define FIELD_STAY (2 * LEVELS)
#define FIELD_OPEN (3 * LEVELS)
#define FIELD_TOPIC FIELD_T  // mu has no tables and no pair of weights: their places serve for others
#define FIELD_WEIGHT FIELD_STAY  // of the token at hand; below zero for topics that count as outside
#define FIELD_PHI (4 * LEVELS)
#define FIELD_INVERSE (FIELD_PHI + 0)
#define FIELD_OPENING (FIELD_PHI + 1)
#define FIELD_WORD_STAY (FIELD_PHI + 2)
#define FIELD_WORD_OPEN (FIELD_PHI + 3)
#define FIELD_WORD_C (FIELD_PHI + 4)
#define FIELD_WORD_T (FIELD_PHI + 5)
#define FIELD_TOTAL_C (FIELD_PHI + 6)
#define FIELD_TOTAL_T (FIELD_PHI + 7)
#define FIELD_BURST (FIELD_PHI + 8)
#define FIELD_TOKENS (FIELD_BURST + 0)
#define FIELD_TABLES (FIELD_BURST + 1)
#define FIELD_BURST_OPENING (FIELD_BURST + 2)
#define FIELD_RUN_C (FIELD_BURST + 3)
#define FIELD_RUN_T (FIELD_BURST + 4)
#define FIELD_NETWORK (FIELD_BURST + 5 * BURST)
#define FIELD_CITE (FIELD_NETWORK + 0)
#define FIELD_CITED (FIELD_NETWORK + 1)
#define FIELD_SCALE (FIELD_NETWORK + 2)
#define WORD_FIELDS (FIELD_NETWORK + 3 * NETWORK)

#define NEAR_TILES (NEAR_SLOTS / LANES)
#define FAR_TILES ((K + LANES - 1) / LANES)

// A group's slots: FIELDS numbers each, one of them the topic.
template <int FIELDS, int TOPIC> struct Cells {
  float *near_cells, *far_cells;
  __device__ __forceinline__ float *operator[](int slot) const {
    int tile = slot / LANES;
#if NEAR_TILES == 0
    return far_cells + tile * (FIELDS * LANES) + slot % LANES;
#endif
    float *begin = tile < NEAR_TILES ? near_cells + tile * (FIELDS * LANES)
                                     : far_cells + (tile - NEAR_TILES) * (FIELDS * LANES);
    return begin + slot % LANES;
  }
};

// One number of every slot.
template <typename T, typename C> struct Column {
  C cells;
  int field;
  __device__ __forceinline__ T &operator[](int slot) const {
    return ((T *)cells[slot])[field * LANES];
  }
};

// Groups of a warp begin in different banks of shared memory; after its slots each has room for
// ``besides`` numbers.
template <int FIELDS, int TOPIC> DEV Cells<FIELDS, TOPIC> group_cells(int besides) {
  Cells<FIELDS, TOPIC> cells;
  int stride = (NEAR_TILES * FIELDS * LANES + besides + 31) / 32 * 32 + LANES % 32;
  cells.near_cells = shared_pool + (i64)group_in_block() * stride;
  cells.far_cells = ctx.far_cells + first_group() * ((i64)FAR_TILES * FIELDS * LANES);
  return cells;
}

#define REAL(cell, field) (cell)[(field) * LANES]
#define WHOLE(cell, field) ((int *)(cell))[(field) * LANES]

// ---- which topics a node has customers in: a bit a topic

#define BIT_WORDS ((K + 31) / 32)
#define FIRST_MARKED (N_SHARED > 1 ? N_SHARED - 1 : N_SHARED)

DEV const unsigned *bits_of(int node) {
  return ctx.bits + (i64)(node - ctx.level_start[FIRST_MARKED]) * BIT_WORDS;
}

// Whether the documents of this node take its topics among their slots. It is settled with the
// proposals, not with the present counts: a token must not decide how it is moved.
DEV bool listed(int node) {
  return N_SHARED == 1 || ctx.listed[node - ctx.level_start[N_SHARED - 1]] != 0;
}

// Add the topics of up to two nodes (-1 for none) to a number of slots, in rising order; gives the
// new number. ``have`` holds a bit for each topic that has a slot, or is null where none has one.
// Every group of a warp takes part.
template <int FIELDS, int TOPIC>
DEV int list_topics(const Cells<FIELDS, TOPIC> &cells, int count, unsigned *have, int a, int b) {
  for (int first = 0; first < BIT_WORDS; first += LANES) {
    int i = first + lane_id();
    unsigned bits = 0u;
    if (i < BIT_WORDS) {
      if (a >= 0) bits |= bits_of(a)[i];
      if (b >= 0) bits |= bits_of(b)[i];
      if (have) {
        bits &= ~have[i];
        have[i] |= bits;
      }
    }
    if (!warp_any(bits != 0u)) continue;
    float own = (float)bit_count(bits);
    float until = group_scan(own);
    int slot = count + (int)(until - own);
    while (bits) {
      int bit = lowest_bit(bits);
      bits &= bits - 1u;
      WHOLE(cells[slot], TOPIC) = i * 32 + bit;
      slot++;
    }
    count += (int)group_from(until, LANES - 1);
  }
  group_sync();
  return count;
}

// The slot of a topic, or -1; every lane looks through its own.
template <int FIELDS, int TOPIC>
DEV int find_slot(const Cells<FIELDS, TOPIC> &cells, int n_slots, int topic) {
  int found = -1;
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots; slot += LANES)
    if (WHOLE(cells[slot], TOPIC) == topic) found = slot;
  return group_max(found);
}

// The same among slots in rising order that have it; one lane alone.
template <int FIELDS, int TOPIC>
DEV int look_up(const Cells<FIELDS, TOPIC> &cells, int n_slots, int topic) {
  int low = 0, high = n_slots;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (WHOLE(cells[middle], TOPIC) <= topic)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// The slots that a lane goes through where a change reaches all of them, or only two: then the lane
// that has them.
DEV int first_changed(bool all, int before, int after) {
  if (all) return lane_id();
  if (before % LANES == lane_id()) return before;
  return after % LANES == lane_id() ? after : K;
}

DEV int next_changed(int slot, bool all, int before, int after, int n_slots) {
  if (all) return slot + LANES;
  return slot == before && after != before && after % LANES == lane_id() ? after : n_slots;
}

// ---- proposals of topics outside: whole numbers, cumulative over topics, so that the probability
// ---- that enters the acceptance is the one drawn from

DEV unsigned guess_at(const unsigned *guess, int k) { return guess[k] - (k > 0 ? guess[k - 1] : 0u); }

// The first topic whose cumulative weight passes the target: lanes cut what is left into parts.
DEV int search_guess(const unsigned *guess, unsigned target) {
  int low = 0, high = K;
  while (warp_any(high - low > 1)) {
    int width = (high - low + LANES) / (LANES + 1);
    int last = low + (lane_id() + 1) * width - 1;
    bool passed = last < high - 1 ? guess[last] > target : true;
    int part = group_first(passed);
    if (part < 0) part = LANES;
    low += part * width;
    high = low + width < high ? low + width : high;
  }
  return low;
}

// A topic drawn from guesses with 32 random bits; every group of a warp takes part.
DEV int draw_guess(unsigned bits, const unsigned *guess) {
  return search_guess(guess, (unsigned)(((u64)bits * guess[K - 1]) >> 32));
}

// Cumulative whole numbers from weights, about 2^31 in all, a hundredth of it spread over all topics;
// gives the sum of the weights. They lie in the place of the numbers.
DEV float accumulate_guess(unsigned *guess, float sum) {
  const float *weight = (const float *)guess;
  sum = group_sum(sum);
  float scale = 0.99f * 2147483648.0f / sum, least = 0.01f * 2147483648.0f / (float)K;
  unsigned before = 0u;
  for (int first = 0; first < K; first += LANES) {
    int k = first + lane_id();
    unsigned own = k < K ? (unsigned)(weight[k] * scale + least) + 1u : 0u;
    unsigned until = own;
    for (int step = 1; step < LANES; step *= 2) {
      unsigned below = group_from(until, lane_id() >= step ? lane_id() - step : 0);
      if (lane_id() >= step) until += below;
    }
    if (k < K) guess[k] = before + until;
    before += group_from(until, LANES - 1);
  }
  return sum;
}
#endif
