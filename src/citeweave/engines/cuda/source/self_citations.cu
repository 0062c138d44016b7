// Self-citations that nobody has observed: every paper of a round is offered one more or one less (CPU
// twin: engines/core/self_citations.py, which says why and with what chance). A group of lanes a paper,
// all from one snapshot; what they do to nodes above papers is noted as a change.

#if NETWORK && MOST_SELF
// One topic on the way from mu to a paper, with what is known of the nodes besides.
struct SelfPath {
  int node[DEPTHS], customers[DEPTHS], tables[DEPTHS], c[DEPTHS], t[DEPTHS];
  float beta[DEPTHS];

  METHOD Seats seats(int level) const { return {c[level], t[level]}; }

  METHOD void move(int depth, int sign) {
#pragma unroll
    for (int level = CITED_LEVEL; level >= 0; level--) {
      Seats change = moved<CITED_LEVEL>(level, depth, sign);
      if (change.customers == 0) continue;
      if (level == 0) change.tables = root_tables(c[0], sign);
      c[level] += change.customers;
      t[level] += change.tables;
      customers[level] += change.customers;
      tables[level] += change.tables;
    }
  }

  // Probability of the paper's next customer having the topic; ``climb`` and ``stay`` by level.
  METHOD float weight(float *climb, float *stay) const {
    int unused = K - tables[0];
    float fresh = quotient(beta[0] + topic_discount(0) * (float)tables[0],
                           (float)(unused > 1 ? unused : 1));
    climb[0] = root_value(c[0], topic_discount(0), fresh);
#pragma unroll
    for (int level = 1; level <= CITED_LEVEL; level++) {
      Pair pair = weight_pair(level, c[level], t[level]);
      float scale = quotient(beta[level] + topic_discount(level) * (float)tables[level],
                             beta[level - 1] + (float)customers[level - 1]);
      if (AUTHORS) scale *= share_of(node[level]);
      climb[level] = weight_below(pair, scale, climb[level - 1]);
      stay[level] = pair.stay;
    }
    return quotient(climb[CITED_LEVEL], beta[CITED_LEVEL] + (float)customers[CITED_LEVEL]);
  }
};

DEV SelfPath self_path(int document, int k) {
  SelfPath path;
  int n = ctx.level_start[CITED_LEVEL] + document;
#pragma unroll
  for (int level = CITED_LEVEL; level >= 0; level--) {
    path.node[level] = n;
    path.customers[level] = (int)ctx.total_customers[n];
    path.tables[level] = (int)ctx.total_tables[n];
    path.beta[level] = (float)ctx.topic_concentration[n];
    Seats seats = seats_of(n, k);
    path.c[level] = seats.customers;
    path.t[level] = seats.tables;
    n = ctx.parent[n];
  }
  return path;
}

// A topic by the paper's customers, or any; the same in all lanes.
DEV int propose_self(Rng &rng, i64 node) {
  i64 total = ctx.total_customers[node];
  double share = uniform(rng);
  if (total == 0) return (int)(share * K);
  if (share >= 0.5) return (int)((2.0 * share - 1.0) * K);
  int left = (int)(2.0 * share * (double)total);
  CountRow row = count_row(node);
  for (int base = 0; base < row.used; base += LANES) {
    int place = base + lane_id();
    int c = place < row.used ? row.seats(place).customers : 0;
    float running = group_scan((float)c);
    int sum = group_sum(c);
    if (left < sum) return row.topic(base + group_first((float)left < running));
    left -= sum;
  }
  return K - 1;
}

// The chance of that, the topic having ``c`` of ``total`` customers.
DEV float chance_of_self(int c, int total) {
  if (total == 0) return 1.0f / (float)K;
  return 0.5f * quotient((float)c, (float)total) + 0.5f / (float)K;
}

// Change of E by customers of topic k who have come to a paper, or left it (engines/core/exponent.py).
DEV float self_change(const SelfPath &path, int k, const int *out, const int *into) {
  Change<DEPTHS> change;
  clear_change(change);
  float carry = 0.0f, carried = 0.0f;
#pragma unroll
  for (int level = CITED_LEVEL; level >= 0; level--) {
    change.cite[level] = (float)ctx.cite_weight[path.node[level]];
    change.cited[level] = (float)ctx.cited_weight[path.node[level]];
    Moves moves = moves_at(CITED_LEVEL - level, out[0], into[0]);
    Moves second = moves_at(CITED_LEVEL - level, out[1], into[1]);
    moves.left += second.left;
    moves.closed += second.closed;
    moves.came += second.came;
    moves.opened += second.opened;
    if (level == 0) count_root_tables(moves, path.c[0], path.c[0], true);
    change_node(change, level, topic_discount(level), path.beta[level], path.customers[level],
                path.tables[level], moves, carry, carried);
  }
  float sum = 0.0f;
  for (int other = lane_id(); other < K; other += LANES) {
    Gain gain = {0.0f, 0.0f};
#pragma unroll
    for (int level = 0; level <= CITED_LEVEL; level++) {
      Seats seats = other == k ? path.seats(level) : seats_of(path.node[level], other);
      if (seats.customers == 0) continue;
      float own = own_share<float>(level, seats.customers, seats.tables);
      gain.cite += change.cite_slope[level] * own;
      gain.cited += change.cited_slope[level] * own;
    }
    add_moved(change, other == k, other == k, gain);
    double scale = ctx.topic_scale[other];
    sum += rate_of(gain, (float)scale, (float)(scale * ctx.cite_sum[other]),
                   (float)(scale * ctx.cited_sum[other]));
  }
  return group_sum(sum);
}

// Counts of the paper's own levels are set, those above it get a change.
DEV void keep_self(const SelfPath &path, int k, const int *out, const int *into) {
  if (lane_id() != 0) return;
#pragma unroll
  for (int level = CITED_LEVEL; level > 0; level--) {
    i64 place = (i64)path.node[level] * K + k;
    if (level >= N_SHARED) {
      write_seats(path.node[level], k, path.seats(level));
      ctx.total_customers[path.node[level]] = path.customers[level];
      ctx.total_tables[path.node[level]] = path.tables[level];
      continue;
    }
    for (int end = 0; end < 2; end++) {
      Moves moves = moves_at(CITED_LEVEL - level, out[end], into[end]);
      if (moves.came != moves.left) add_to(ctx.node_customers + place, moves.came - moves.left);
      if (moves.opened != moves.closed)
        add_to(ctx.node_tables + place, moves.opened - moves.closed);
    }
  }
}

KERNEL draw_self_citations(u64 key, int round, int rounds) {
  for (i64 d = first_group(); d < OWN_DOCUMENTS; d += all_groups()) {
    int number = ctx.document_number[d];
    if (number % rounds != round) continue;
    short *topics = ctx.self_topic + d * MOST_SELF;
    Stream draws = {open_stream(key, 0, (u64)number)};
    int n = 0;
    while (n < MOST_SELF && topics[n] >= 0) n++;
    bool more = uniform(draws.rng) < 0.5;
    if (n == (more ? MOST_SELF : 0)) continue;
    int taken = more ? n : (int)(uniform(draws.rng) * n);
    int k = more ? propose_self(draws.rng, ctx.level_start[CITED_LEVEL] + d) : topics[taken];
    SelfPath path = self_path((int)d, k);
    float climb[DEPTHS], stay[DEPTHS];
    int out[2] = {0, 0}, into[2] = {0, 0};
    float share = (float)(ctx.cite[d] * ctx.cited[d] * ctx.topic_scale[k]);
    share = quotient(share, (float)(more ? n + 1 : n));
    bool stands;
    if (more) {
      share = quotient(share, chance_of_self(path.c[CITED_LEVEL], path.customers[CITED_LEVEL]));
      for (int end = 0; end < 2; end++) {
        share *= path.weight(climb, stay);
        into[end] = draw_topic_addition<CITED_LEVEL>(draws, climb, stay);
        path.move(into[end], 1);
      }
      stands = chance(draws.rng) < share;
    } else {
      stands = true;
      for (int end = 1; end >= 0 && stands; end--) {  // the second is the first to go
        out[end] = draw_topic_removal<CITED_LEVEL>(
            draws, path, held_tables(path.node[N_SHARED], k));
        stands = out[end] > 0;
        if (stands) path.move(out[end], -1);
        share *= path.weight(climb, stay);
      }
      share = quotient(share, chance_of_self(path.c[CITED_LEVEL], path.customers[CITED_LEVEL]));
      stands = stands && chance(draws.rng) * share < 1.0f;
    }
    if (!stands) continue;
    float change = self_change(path, k, out, into);
    if (chance(draws.rng) >= expf(-change)) continue;
    keep_self(path, k, out, into);
    if (lane_id() == 0) {
      topics[taken] = more ? (short)k : topics[n - 1];
      if (!more) topics[n - 1] = -1;
    }
    group_sync();
  }
}
#endif
