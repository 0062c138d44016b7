// Weights and parameters that are no numbers, counted in every step: sweeps would go on with them
// and say nothing (engines/core/finite.py). Places of the tally are those after the sweeps' own.

enum { FAULTY_WEIGHTS = 13, FAULTY_CONCENTRATIONS, FAULTY_RATES };

#define LEAST_SINGLE 1.17549435e-38
#define MOST_SINGLE 3.4028234e38

// How many of a thread's share are below ``least``, infinite or nan.
template <typename T> DEV int faults(const T *values, i64 size, T least) {
  int found = 0;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < size;
       i += (i64)gridDim.x * blockDim.x)
    found += !(values[i] >= least && values[i] <= (T)MOST_SINGLE);
  return found;
}

KERNEL count_faults(int network_on) {
  int weights = faults(ctx.stay, (i64)N_WORDS * K, 0.0f) + faults(ctx.open, (i64)N_WORDS * K, 0.0f);
  int concentrations =
      faults(ctx.topic_concentration, (i64)ctx.level_start[LEVELS], (double)LEAST_SINGLE) +
      faults(ctx.topic_word_concentration, (i64)K, (double)LEAST_SINGLE);
#if BACKGROUND
  weights += faults((const float *)ctx.background_pair, 2 * (i64)N_WORDS, 0.0f);
  concentrations += faults(ctx.word_concentration, (i64)1, (double)LEAST_SINGLE);
#endif
#if BURST
  concentrations += faults(ctx.word_concentration + 1, (i64)1, (double)LEAST_SINGLE);
#endif
#if SPARSE
  weights += faults(ctx.guess_root, (i64)K, 0.0f) + faults(ctx.guess_mass, (i64)N_WORDS, 0.0f);
#endif
  add_count(ctx.tally + FAULTY_WEIGHTS, weights);
  add_count(ctx.tally + FAULTY_CONCENTRATIONS, concentrations);
#if NETWORK
  if (!network_on) return;
  int rates = faults(ctx.cite, (i64)N_DOCUMENTS, 0.0) + faults(ctx.cited, (i64)N_DOCUMENTS, 0.0) +
              faults(ctx.topic_scale, (i64)K, 0.0) + faults(ctx.cite_sum, (i64)K, -MOST_SINGLE) +
              faults(ctx.cited_sum, (i64)K, -MOST_SINGLE);
  add_count(ctx.tally + FAULTY_RATES, rates);
#endif
}
