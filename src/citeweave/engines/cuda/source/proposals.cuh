// Where topics are many: which of them nodes have customers in, and the tables that others are
// proposed from (CPU twins: engines/slots/presence.py and engines/slots/proposal_tables.py).

// ---- which topics a node has customers in: a bit a topic

#define BIT_WORDS ((K + 31) / 32)
#define FIRST_MARKED (N_SHARED > 1 ? N_SHARED - 1 : N_SHARED)

DEV const unsigned *bits_of(int node) {
  return ctx.bits + (i64)(node - ctx.level_start[FIRST_MARKED]) * BIT_WORDS;
}

DEV bool has_bit(const unsigned *bits, int k) { return bits[k / 32] >> (k % 32) & 1u; }

// Counts of a node of a path: bits tell faster than a list which topics it does not have.
DEV Seats path_seats(int level, int node, int k) {
  if (level == 0) return root_seats(k);
#if COMPACT
  bool marked = level == N_SHARED || level == N_SHARED - 1;
  if (marked && !has_bit(bits_of(node), k)) return {0, 0};
#endif
  return seats_of(node, k);
}

// Whether the documents of this node take its topics among their slots. It is settled with the
// proposals, not with the present counts: a token must not decide how it is moved.
DEV bool listed(int node) {
  return N_SHARED == 1 || ctx.listed[node - ctx.level_start[N_SHARED - 1]] != 0;
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
