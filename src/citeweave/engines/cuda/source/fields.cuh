// What a document keeps of a topic while its words are walked: the numbers of a column.

// Pairs of small counts share a number where no document is long enough to need more (PACKED): the
// fewer rows, the more documents are at hand at a time. Slots are few, and have a number for each.
#if SPARSE
#define PAIR_FIELDS 2
#define FIELD_TOPIC 1  // mu has no tables and no pair of weights: their places serve for others
#define FIELD_COUNTS(level) (2 * (level))
#define FIELD_STAY(level) (2 * LEVELS + 2 * (level))
#define FIELD_WEIGHT FIELD_STAY(0)  // of the token at hand; below zero for topics that count as outside
#else
#define PAIR_FIELDS (PACKED ? 1 : 2)
#define FIELD_COUNTS(level)                       \
  ((level) == 0         ? 0                       \
   : (level) < N_SHARED ? 2 * (level) - 1         \
                        : 2 * N_SHARED - 1 + PAIR_FIELDS * ((level) - N_SHARED))
#define FIELD_STAY(level) (FIELD_COUNTS(LEVELS) + 2 * (level) - 2)
#define FIELD_WEIGHT FIELD_END  // where a lane does not hold it
#endif
#define FIELD_PHI FIELD_STAY(LEVELS)
#define FIELD_INVERSE (FIELD_PHI + 0)
#define FIELD_OPENING (FIELD_PHI + 1)
#define FIELD_WORD_STAY (FIELD_PHI + 2)
#define FIELD_WORD (FIELD_PHI + 4)  // what the document did to phi at the word: customers and tables
#define FIELD_TOTAL (FIELD_WORD + PAIR_FIELDS)  // and to phi in all; slots have phi's totals here
#define FIELD_OWN (FIELD_TOTAL + PAIR_FIELDS)  // tokens of the document, and tables they hold
#define FIELD_RUN (FIELD_OWN + PAIR_FIELDS)  // those of the word at hand
#define FIELD_BURST_OPENING (FIELD_RUN + PAIR_FIELDS)  // slots alone
#define FIELD_CITE (FIELD_OWN + (2 * PAIR_FIELDS + SPARSE) * BURST)
#define FIELD_CITED (FIELD_CITE + 1)
#define FIELD_SCALE (FIELD_CITE + 2)  // slots alone
#define FIELD_END (FIELD_CITE + (2 + SPARSE) * NETWORK)
#define WORD_FIELDS (FIELD_END + (SPARSE || HELD ? 0 : 1))

// A topic of the document at hand.
struct Topic : Column {
#if SPARSE
  METHOD int number() const { return whole(FIELD_TOPIC); }
#else
  int k;
  METHOD int number() const { return k; }
#endif

  // Two counts beside each other, or in one number; either may be negative.
  METHOD Seats pair(int field) const {
    int value = whole(field);
#if PAIR_FIELDS == 1
    int customers = (int)(short)value;
    return {customers, (value - customers) >> 16};
#else
    return {value, whole(field + 1)};
#endif
  }
  METHOD void set_pair(int field, int customers, int tables) const {
#if PAIR_FIELDS == 1
    whole(field) = customers + tables * 65536;
#else
    whole(field) = customers;
    whole(field + 1) = tables;
#endif
  }
  METHOD void add_pair(int field, int customers, int tables) const {
#if PAIR_FIELDS == 1
    whole(field) += customers + tables * 65536;
#else
    whole(field) += customers;
    whole(field + 1) += tables;
#endif
  }
  // One more token; several lanes may count at a time.
  METHOD void count_token(int field, int held) const {
#if PAIR_FIELDS == 1
    add_to(&whole(field), 1 + held * 65536);
#else
    add_to(&whole(field), 1);
    add_to(&whole(field + 1), held);
#endif
  }

  // Counts of the path's nodes; mu has one table a topic, and no number for it.
  METHOD int root() const { return whole(FIELD_COUNTS(0)); }
  METHOD Seats seats(int level) const {
    int field = FIELD_COUNTS(level);
    if (PAIR_FIELDS == 1 && level >= N_SHARED) return pair(field);
    return {whole(field), whole(field + 1)};
  }
  METHOD void set_seats(int level, int customers, int tables) const {
    int field = FIELD_COUNTS(level);
    if (PAIR_FIELDS == 1 && level >= N_SHARED) {
      set_pair(field, customers, tables);
    } else {
      whole(field) = customers;
      if (level > 0) whole(field + 1) = tables;
    }
  }
  METHOD void add_seats(int level, Seats change) const {
    int field = FIELD_COUNTS(level);
    if (PAIR_FIELDS == 1 && level >= N_SHARED) {
      add_pair(field, change.customers, change.tables);
    } else {
      whole(field) += change.customers;
      if (level > 0) whole(field + 1) += change.tables;
    }
  }

  // Weights of the path's nodes below mu.
  METHOD Pair weights(int level) const {
    return {real(FIELD_STAY(level)), real(FIELD_STAY(level) + 1)};
  }
  METHOD void set_weights(int field, Pair weights) const {
    real(field) = weights.stay;
    real(field + 1) = weights.open;
  }

  // phi in all, as the document sees it.
  METHOD Seats phi_totals() const {
    Seats totals = pair(FIELD_TOTAL);
#if !SPARSE
    totals.customers = (int)ctx.word_total_customers[k] + totals.customers;
    totals.tables = (int)ctx.word_total_tables[k] + totals.tables;
#endif
    return totals;
  }

  // phi'_dk, beta its concentration: the share of a token that opens a table there, and weights of
  // staying and of opening one. Slots keep the share, rows have no room for it; so the two round
  // otherwise, and each stays as it is: a seed keeps its bytes.
  METHOD float burst_top(float beta) const {
    return beta + word_discount(2) * (float)pair(FIELD_OWN).tables;
  }
  METHOD float burst_inverse(float beta) const {
    return quotient(1.0f, beta + (float)pair(FIELD_OWN).customers);
  }
#if SPARSE
  METHOD float burst_share(float) const { return real(FIELD_BURST_OPENING); }
  METHOD float burst_stay(float stay, float beta) const {
    return quotient(stay, beta + (float)whole(FIELD_OWN));
  }
  METHOD float burst_open(float open, float) const { return open * real(FIELD_BURST_OPENING); }
  METHOD float burst_sum(float sit, float climb) const { return sum_apart(sit, climb); }
#else
  METHOD float burst_share(float beta) const { return burst_top(beta) * burst_inverse(beta); }
  METHOD float burst_stay(float stay, float beta) const { return stay * burst_inverse(beta); }
  METHOD float burst_open(float open, float beta) const {
    return open * burst_top(beta) * burst_inverse(beta);
  }
  METHOD float burst_sum(float sit, float climb) const { return sit + climb; }
#endif

  // For the exponential.
  METHOD float own(int level) const {
    Seats at = {root(), 0};
    if (level > 0) at = seats(level);
    return own_share<float>(level, at.customers, at.tables);
  }
  METHOD bool passed_over(const Change<DEPTHS> &, int) const { return false; }
  METHOD float scale() const {
#if SPARSE
    return real(FIELD_SCALE);
#else
    return topic_scale(k);
#endif
  }
  METHOD float rate(const Gain &gain) const {
    return rate_of(gain, scale(), real(FIELD_CITE), real(FIELD_CITED));
  }
  METHOD void add_gain(const Gain &gain) const {
    real(FIELD_CITE) += scale() * gain.cite;
    real(FIELD_CITED) += scale() * gain.cited;
  }
};
