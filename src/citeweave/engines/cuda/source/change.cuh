// What a word's move does to the citations' exponential (engines/core/exponent.py), on one path.

#if NETWORK
// What a pending move would do to P and M: slopes by level, and what the two topics get besides.
// Differences are written out so that nothing cancels, and single precision suffices.
struct Change {
  float cite[CITED_LEVEL + 1], cited[CITED_LEVEL + 1];  // weights of the path's nodes
  float carry[CITED_LEVEL + 1], carried[CITED_LEVEL + 1];  // what they would gain
  float cite_slope[CITED_LEVEL + 1], cited_slope[CITED_LEVEL + 1];
  float cite_old, cited_old, cite_new, cited_new;
#if HELD
  float gain[CHUNKS], gained[CHUNKS];  // of P and M, topic by topic
#endif
};

DEV void topic_change(float *rows, const Change &change, int k, int before, int after, float &cite,
                      float &cited) {
  cite = 0.0f;
  cited = 0.0f;
#pragma unroll
  for (int level = 0; level <= CITED_LEVEL; level++) {
    Seats seats = {0, 0};
    if (level > 0) {
      seats = read_seats(rows, level, k);
    } else {
      seats.customers = INTS(0)[k];
      seats.tables = seats.customers > 0 ? 1 : 0;
    }
    float own = (float)seats.customers - topic_discount(level) * (float)seats.tables;
    cite += change.cite_slope[level] * own;
    cited += change.cited_slope[level] * own;
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
  return cite * (FLOATS(ROW_CITED)[k] + topic_scale(k) * cited) + FLOATS(ROW_CITE)[k] * cited;
}

// Change of E by a move already made in the counts (engines/core/exponent.py, one path).
// Nothing is left out where it would be zero: of the documents of a warp some ask for all of it.
DEV float exponent_change(float *rows, const Path &path, Change &change, int before, int after,
                          int out, int into) {
  float carry = 0.0f, carried = 0.0f;
  change.cite_old = change.cited_old = change.cite_new = change.cited_new = 0.0f;
#pragma unroll
  for (int level = CITED_LEVEL; level >= 0; level--) {
    int step = CITED_LEVEL - level;
    int left = step < out, closed = step + 1 < out, came = step < into, opened = step + 1 < into;
    change.carry[level] = carry;
    change.carried[level] = carried;
    if (level == 0) {
      int now_old = INTS(0)[before], now_new = INTS(0)[after];
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
#pragma unroll CHUNK_UNROLL
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    int k = chunk * LANES + lane_id();
    float cite = 0.0f, cited = 0.0f;
    if (k < K) {
      topic_change(rows, change, k, before, after, cite, cited);
      sum += rate_of(rows, k, cite, cited);
    }
#if HELD
    change.gain[chunk] = cite;
    change.gained[chunk] = cited;
#endif
  }
  return group_sum(sum);
}

DEV void commit_change(float *rows, Change &change, int before, int after) {
#pragma unroll CHUNK_UNROLL
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    int k = chunk * LANES + lane_id();
    if (k >= K) continue;
#if HELD
    float cite = change.gain[chunk], cited = change.gained[chunk];
#else
    float cite, cited;
    topic_change(rows, change, k, before, after, cite, cited);
#endif
    FLOATS(ROW_CITE)[k] += topic_scale(k) * cite;
    FLOATS(ROW_CITED)[k] += topic_scale(k) * cited;
  }
#pragma unroll
  for (int level = 0; level <= CITED_LEVEL; level++) {
    change.cite[level] += change.carry[level];
    change.cited[level] += change.carried[level];
  }
}
#endif
