// What a group has at hand while it walks a document's words over slots.

// Numbers of 32 bits at places of the document's sequence: lanes make two each and share them, which
// takes far fewer instructions than a generator that every lane moves on.
struct Numbers {
  unsigned *bits;  // in shared memory
  u64 start;
  METHOD float at(int i) const {
    return (float)(int)(bits[i] >> 8) * (1.0f / (float)(1 << 24));
  }
  METHOD bool below(int i, float weight, float part, bool) const { return at(i) * weight < part; }
  // Nobody may read the numbers of the token before meanwhile.
  METHOD void draw(int token) const {
    for (int i = lane_id(); i < DRAWS / 2; i += LANES) {
      u64 own = mix(start + GOLDEN * (u64)(token * (DRAWS / 2) + i + 1));
      bits[2 * i] = (unsigned)own;
      bits[2 * i + 1] = (unsigned)(own >> 32);
    }
  }
};

#if NETWORK
// Over the topics without a slot: sums of own_l lambdaT M (x), of own_l lambdaT P (y) and of
// lambdaT own_l own_m (z), own_l being c - alpha t of level l; and by how much each level's slope
// has changed P and M since the snapshot.
#define OUTER_FLOATS (2 * (2 + N_SHARED) * N_SHARED + 2 * N_SHARED)
struct Outer {
  double x[N_SHARED], y[N_SHARED], z[N_SHARED][N_SHARED];
  float cite[N_SHARED], cited[N_SHARED];
};
#else
#define OUTER_FLOATS 0
#endif

struct Walk {
  Cells<WORD_FIELDS, FIELD_TOPIC> cells;
  Numbers draws;
#if NETWORK
  Outer *outer;  // in shared memory: the same for all lanes
#endif
  int n_slots;
  float guess_mass, guess_unit;  // of the word at hand
  int old_number;  // the topic of the token at hand
  unsigned old_guess;
  int n_outside, n_refused;
  METHOD Topic operator[](int slot) const { return {cells[slot]}; }
};

// Beside the slots: the numbers of a token, and what all lanes know of topics without a slot.
DEV Walk begin_walk() {
  Walk walk;
  walk.cells = group_cells<WORD_FIELDS, FIELD_TOPIC>(DRAWS + OUTER_FLOATS);
  walk.draws.bits = (unsigned *)(walk.cells.near_cells + NEAR_TILES * WORD_FIELDS * LANES);
#if NETWORK
  walk.outer = (Outer *)(walk.draws.bits + DRAWS);
#endif
  walk.guess_mass = walk.guess_unit = 0.0f;
  walk.n_outside = walk.n_refused = 0;
  return walk;
}
