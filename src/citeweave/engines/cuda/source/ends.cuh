// The two ends of a citation: nodes in places, those of the citing end by level, those of the cited end
// DEPTHS further, except where the two paths have met: there both ends use the citing end's place.

#if NETWORK
#define END_PLACES (2 * DEPTHS)
#define END_C 0  // counts by place
#define END_T END_PLACES
#define END_SCALE (2 * END_PLACES)  // lambdaT; END_CITE and END_CITED are lambdaT P and lambdaT M
#define END_SECOND (2 * END_PLACES + 1)
#define END_MASS (2 * END_PLACES + 2)
#define END_CITE (2 * END_PLACES + 3)
#define END_CITED (2 * END_PLACES + 4)
#define END_FIELDS (2 * END_PLACES + 5)

// Columns of topics, by their numbers or by their slots.
#if SPARSE
#define END_TOPIC (END_C + DEPTHS)  // the place of mu's customers at the cited end, never used
typedef Cells<END_FIELDS, END_TOPIC> Rows;
#else
struct Rows {
  float *begin;
  METHOD Column operator[](int k) const { return {begin + k}; }
};
#endif

// What is known of a place's node besides its counts; the same in all lanes.
struct Ends : Change<END_PLACES> {
  int node[END_PLACES], customers[END_PLACES], tables[END_PLACES];
  float beta[END_PLACES];
#if AUTHORS
  float share[END_PLACES];
#endif
  int meet;  // the lowest level where both ends have the same node

  METHOD bool met(int level) const { return level <= meet; }
  // the place of an end's node
  template <int SIDE> METHOD int place(int level) const {
    return SIDE == 0 || met(level) ? level : DEPTHS + level;
  }
};

DEV void load_node(Ends &ends, int place, int node) {
  ends.node[place] = node;
  ends.customers[place] = (int)ctx.total_customers[node];
  ends.tables[place] = (int)ctx.total_tables[node];
  ends.beta[place] = (float)ctx.topic_concentration[node];
#if AUTHORS
  ends.share[place] = share_of(node);
#endif
  ends.cite[place] = (float)ctx.cite_weight[node];
  ends.cited[place] = (float)ctx.cited_weight[node];
}

DEV void load_citing(Ends &ends, int document) {
  int n = ctx.level_start[CITED_LEVEL] + document;
#pragma unroll
  for (int level = CITED_LEVEL; level >= 0; level--) {
    load_node(ends, level, n);
    load_node(ends, DEPTHS + level, n);  // so that all places hold something
    n = ctx.parent[n];
  }
}

DEV void load_cited(Ends &ends, int document) {
  int n = ctx.level_start[CITED_LEVEL] + document;
#pragma unroll
  for (int level = CITED_LEVEL; level > 0; level--) {
    if (n == ends.node[level]) {
      if (level > ends.meet) ends.meet = level;
      ends.node[DEPTHS + level] = n;
      ends.cite[DEPTHS + level] = ends.cited[DEPTHS + level] = 0.0f;
    } else {
      load_node(ends, DEPTHS + level, n);
    }
    n = ctx.parent[n];
  }
}

DEV int ancestor(int document, int level) {
  int n = ctx.level_start[CITED_LEVEL] + document;
  for (int step = 0; step < CITED_LEVEL - level; step++) n = ctx.parent[n];
  return n;
}

// Whether an earlier citation of the document moved a node of the cited end, and how.
DEV bool moved_node(Moves &moves, i64 e, int node, int level) {
  const unsigned char *depth = ctx.move_depth + 4 * e;
  int out = depth[2], into = depth[3];
  if (depth[0] + out + depth[1] + into == 0) return false;
  if (ancestor(ctx.cited_document[e], level) != node) return false;
  moves = moves_at(CITED_LEVEL - level, out, into);
  return true;
}

// The weights that citation e left to its cited end's node of a level.
DEV void take_weights(Ends &ends, int level, i64 e) {
  const float *weight = ctx.move_weight + (e * CITED_LEVEL + level) * 2;
  ends.cite[DEPTHS + level] = weight[0];
  ends.cited[DEPTHS + level] = weight[1];
}

// The place of an end on a level, as a constant once loops are unrolled; SIDE is 0 or 1.
#define AT_PLACE(SIDE, level, ...)        \
  if (SIDE == 0 || ends.met(level)) {     \
    const int place = (level);            \
    __VA_ARGS__                           \
  } else {                                \
    const int place = DEPTHS + (level);   \
    __VA_ARGS__                           \
  }

// A topic as one end sees it.
template <int SIDE> struct EndTopic : Column {
  const Ends &ends;
  METHOD Seats seats(int level) const {
    int place = ends.place<SIDE>(level);
    return {whole(END_C + place), whole(END_T + place)};
  }
  METHOD Pair weights(int level) const {
    Seats at = seats(level);
    return weight_pair(level, at.customers, at.tables);
  }
};

// A topic as a change of P and M sees it.
struct CiteTopic : Column {
  const Ends &ends;
  METHOD float own(int place) const {
    float value = (float)whole(END_C + place) -
                  topic_discount(place % DEPTHS) * (float)whole(END_T + place);
    // a cited end's place is stale where the paths have met; no slope is set there
    if (SPARSE && place > DEPTHS && ends.met(place - DEPTHS)) value = 0.0f;
    return value;
  }
  // Over slots all slopes are taken but that of mu's second place: their reads need not wait.
  METHOD bool passed_over(const Change<END_PLACES> &change, int place) const {
    if (SPARSE) return place == DEPTHS;
    return change.cite_slope[place] == 0.0f && change.cited_slope[place] == 0.0f;
  }
  METHOD float rate(const Gain &gain) const {
    return rate_of(gain, real(END_SCALE), real(END_CITE), real(END_CITED));
  }
  METHOD void add_gain(const Gain &gain) const {
    real(END_CITE) += real(END_SCALE) * gain.cite;
    real(END_CITED) += real(END_SCALE) * gain.cited;
  }
};

template <int SIDE>
DEV int draw_cite_removal(Stream &draws, const Rows &rows, const Ends &ends, int k) {
  int held = 0;
#if AUTHORS
  int number = k;
#if SPARSE
  number = rows[k].whole(END_TOPIC);
#endif
  AT_PLACE(SIDE, N_SHARED, { held = held_tables(ends.node[place], number); })
#endif
  return draw_topic_removal<CITED_LEVEL>(draws, EndTopic<SIDE>{rows[k], ends}, held);
}

// ``at_root`` are mu's customers of the topic before; nobody may read the rows meanwhile.
template <int SIDE>
DEV void move_cite(const Rows &rows, Ends &ends, int k, int depth, int sign, int at_root) {
#pragma unroll
  for (int level = CITED_LEVEL; level >= 0; level--) {
    Seats change = moved<CITED_LEVEL>(level, depth, sign);
    if (level == 0) change.tables = root_tables(at_root, sign);
    if (change.customers != 0) {
      AT_PLACE(SIDE, level, {
        ends.customers[place] += change.customers;
        ends.tables[place] += change.tables;
        if (lane_id() == 0) {
          rows[k].whole(END_C + place) += change.customers;
          rows[k].whole(END_T + place) += change.tables;
        }
      })
    }
  }
}

DEV float share_at(const Ends &ends, int place) {
#if AUTHORS
  return ends.share[place];
#else
  return 1.0f;
#endif
}

template <int SIDE> DEV float scale_at(const Ends &ends, int level) {
  float top = 0.0f, below = 1.0f;
  AT_PLACE(SIDE, level, {
    top = ends.beta[place] + topic_discount(level) * (float)ends.tables[place];
    if (AUTHORS) top *= share_at(ends, place);
  })
  AT_PLACE(SIDE, level - 1, { below = ends.beta[place] + (float)ends.customers[place]; })
  return quotient(top, below);
}

DEV float fresh_weight(const Ends &ends) {
  int unused = K - ends.tables[0];
  return quotient(ends.beta[0] + topic_discount(0) * (float)ends.tables[0],
                  (float)(unused > 1 ? unused : 1));
}

// Probability of the next customer of an end having topic k; ``climb`` as on the CPU.
template <int SIDE>
DEV float path_weight(const Rows &rows, const Ends &ends, int k, float *climb, float *stay) {
  EndTopic<SIDE> topic = {rows[k], ends};
  climb[0] = root_value(topic.whole(END_C), topic_discount(0), fresh_weight(ends));
#pragma unroll
  for (int level = 1; level <= CITED_LEVEL; level++) {
    Pair pair = topic.weights(level);
    climb[level] = weight_below(pair, scale_at<SIDE>(ends, level), climb[level - 1]);
    stay[level] = pair.stay;
  }
  float total = 1.0f;
  AT_PLACE(SIDE, CITED_LEVEL, { total = ends.beta[place] + (float)ends.customers[place]; })
  return quotient(climb[CITED_LEVEL], total);
}

// What weights at both ends depend on besides a topic's counts.
struct EndScales {
  float first[DEPTHS], second[DEPTHS];
  float fresh;
};

DEV EndScales end_scales(const Ends &ends) {
  EndScales scales;
#pragma unroll
  for (int level = 1; level <= CITED_LEVEL; level++) {
    scales.first[level] = scale_at<0>(ends, level);
    scales.second[level] = scale_at<1>(ends, level);
  }
  scales.fresh = fresh_weight(ends);
  return scales;
}

// Which ends have all topics of the last level above documents in slots.
struct Listed { bool citing, cited; };

// A topic's weight at both ends, up to one factor each; ``inside`` tells whether either end has it, in
// the document or the author that is listed.
DEV float weigh_ends(Column topic, const Ends &ends, const EndScales &scales, const Listed &all,
                     bool &inside) {
  float first = root_value(topic.whole(END_C), topic_discount(0), scales.fresh), second = first;
  inside = false;
#pragma unroll
  for (int level = 1; level <= CITED_LEVEL; level++) {
    int c = topic.whole(END_C + level);
    Pair pair = weight_pair(level, c, topic.whole(END_T + level));
    first = weight_below(pair, scales.first[level], first);
    if (level == N_SHARED || (level == N_SHARED - 1 && all.citing)) inside = inside || c > 0;
    if (!ends.met(level)) {
      c = topic.whole(END_C + DEPTHS + level);
      pair = weight_pair(level, c, topic.whole(END_T + DEPTHS + level));
      if (level == N_SHARED || (level == N_SHARED - 1 && all.cited)) inside = inside || c > 0;
    }
    second = weight_below(pair, scales.second[level], second);
  }
  topic.real(END_SECOND) = second;
  return topic.real(END_SCALE) * first * second;
}

// The topic that a citation is to take, by its column and its number; the second end's weights of the
// old one and of this; and whether it is taken.
struct Choice {
  int k, number;
  float second_old, second_new;
  bool stands;
};

// How far the two ends climbed when they left and when they came.
struct Depths { int first_out, second_out, first_in, second_in; };

template <int LEVEL> struct Climb {
  DEV void go(const Rows &rows, Ends &ends, int before, int after, const Depths &depths,
              float carry_a, float carried_a, float carry_b, float carried_b) {
    Moves a = moves_at(CITED_LEVEL - LEVEL, depths.first_out, depths.first_in);
    Moves b = moves_at(CITED_LEVEL - LEVEL, depths.second_out, depths.second_in);
    bool together = ends.met(LEVEL);
    if (together) {
      carry_a += carry_b;
      carried_a += carried_b;
      carry_b = carried_b = 0.0f;
      a.left += b.left;
      a.closed += b.closed;
      a.came += b.came;
      a.opened += b.opened;
    }
    const float discount = topic_discount(LEVEL);
    if (a.left + a.came > 0 || carry_a != 0.0f || carried_a != 0.0f) {
      if (LEVEL == 0)
        count_root_tables(a, rows[before].whole(END_C), rows[after].whole(END_C), before == after);
      change_node(ends, LEVEL, discount, ends.beta[LEVEL], ends.customers[LEVEL],
                  ends.tables[LEVEL], a, carry_a, carried_a);
    }
    if (!together && (b.left + b.came > 0 || carry_b != 0.0f || carried_b != 0.0f)) {
      const int place = DEPTHS + LEVEL;
      change_node(ends, place, discount, ends.beta[place], ends.customers[place],
                  ends.tables[place], b, carry_b, carried_b);
    }
    Climb<LEVEL - 1>::go(rows, ends, before, after, depths, carry_a, carried_a, carry_b, carried_b);
  }
};

template <> struct Climb<-1> {
  DEV void go(const Rows &, Ends &, int, int, const Depths &, float, float, float, float) {}
};

// Slopes and special terms of a move already made in the counts (engines/core/exponent.py).
DEV void pending_change(const Rows &rows, Ends &ends, int before, int after, const Depths &depths) {
  clear_change(ends);
  Climb<CITED_LEVEL>::go(rows, ends, before, after, depths, 0.0f, 0.0f, 0.0f, 0.0f);
}
#endif
