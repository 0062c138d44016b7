// The two ends of a citation: nodes in slots, those of the citing end by level, those of the cited end
// DEPTHS further, except where the two paths have met: there both ends use the citing end's slot.

#if NETWORK
#define DEPTHS (CITED_LEVEL + 1)
#define SLOTS (2 * DEPTHS)
#define CROW_C 0
#define CROW_T SLOTS
#define CROW_SCALE (2 * SLOTS)  // lambdaT; CROW_CITE and CROW_CITED are lambdaT P and lambdaT M
#define CROW_SECOND (2 * SLOTS + 1)
#define CROW_MASS (2 * SLOTS + 2)
#define CROW_CITE (2 * SLOTS + 3)
#define CROW_CITED (2 * SLOTS + 4)
#define CITE_ROWS (2 * SLOTS + 5)

#if SPARSE
#define CROW_TOPIC (CROW_C + DEPTHS)  // the place of mu's customers at the cited end, never used
typedef Cells<CITE_ROWS, CROW_TOPIC> Rows;  // a topic is known by its slot
#undef FLOATS
#undef INTS
#define FLOATS(i) (Column<float, Rows>{rows, i})
#define INTS(i) (Column<int, Rows>{rows, i})
#else
typedef float *Rows;
#endif

// What is known of a slot's node besides its rows; the same in all lanes.
struct Slots {
  int node[SLOTS], customers[SLOTS], tables[SLOTS];
  float beta[SLOTS], cite[SLOTS], cited[SLOTS];
  float carry[SLOTS], carried[SLOTS];  // what a pending change would add to the weights
  float cite_slope[SLOTS], cited_slope[SLOTS];
  float cite_old, cited_old, cite_new, cited_new;
  int meet;  // the lowest level where both ends have the same node
  bool all;
};

DEV void load_node(Slots &slots, int slot, int node) {
  slots.node[slot] = node;
  slots.customers[slot] = (int)ctx.total_customers[node];
  slots.tables[slot] = (int)ctx.total_tables[node];
  slots.beta[slot] = (float)ctx.topic_concentration[node];
  slots.cite[slot] = (float)ctx.cite_weight[node];
  slots.cited[slot] = (float)ctx.cited_weight[node];
}

DEV bool met(const Slots &slots, int level) { return level <= slots.meet; }

DEV int ancestor(int document, int level) {
  int n = ctx.level_start[CITED_LEVEL] + document;
  for (int step = 0; step < CITED_LEVEL - level; step++) n = ctx.parent[n];
  return n;
}

// The slot of an end on a level, as a constant once loops are unrolled; SIDE is 0 or 1.
#define EACH_SLOT(SIDE, level, ...)       \
  if (SIDE == 0 || met(slots, level)) {   \
    const int slot = (level);             \
    __VA_ARGS__                           \
  } else {                                \
    const int slot = DEPTHS + (level);    \
    __VA_ARGS__                           \
  }

template <int SIDE> DEV int draw_cite_removal(Rng &rng, Rows rows, const Slots &slots, int k) {
  int depth = 1;
#pragma unroll
  for (int level = CITED_LEVEL; level > 0; level--) {
    int row = SIDE == 0 || met(slots, level) ? level : DEPTHS + level;
    int c = INTS(CROW_C + row)[k], t = INTS(CROW_T + row)[k];
    if (t < c) {
      if (chance(rng) * (float)c >= (float)t) return depth;
      if (t == 1) return 0;
    }
    depth++;
  }
  return depth;
}

// ``at_root`` are mu's customers of the topic before; nobody may read the rows meanwhile.
template <int SIDE>
DEV void move_cite(Rows rows, Slots &slots, int k, int depth, int sign, int at_root) {
#pragma unroll
  for (int level = CITED_LEVEL; level >= 0; level--) {
    int step = CITED_LEVEL - level;
    if (step < depth) {
      int opened = step + 1 < depth ? sign : 0;
      if (level == 0) opened = (at_root + sign > 0) - (at_root > 0);
      EACH_SLOT(SIDE, level, {
        slots.customers[slot] += sign;
        slots.tables[slot] += opened;
        if (lane_id() == 0) {
          INTS(CROW_C + slot)[k] += sign;
          INTS(CROW_T + slot)[k] += opened;
        }
      })
    }
  }
}

template <int SIDE> DEV float scale_at(const Slots &slots, int level) {
  float top = 0.0f, below = 1.0f;
  EACH_SLOT(SIDE, level, {
    top = slots.beta[slot] + topic_discount(level) * (float)slots.tables[slot];
  })
  EACH_SLOT(SIDE, level - 1, { below = slots.beta[slot] + (float)slots.customers[slot]; })
  return quotient(top, below);
}

DEV float fresh_weight(const Slots &slots) {
  int unused = K - slots.tables[0];
  return quotient(slots.beta[0] + topic_discount(0) * (float)slots.tables[0],
                  (float)(unused > 1 ? unused : 1));
}

// Probability of the next customer of an end having topic k; ``climb`` as on the CPU.
template <int SIDE>
DEV float path_weight(Rows rows, const Slots &slots, int k, float *climb, float *stay) {
  float weight = root_value(INTS(CROW_C)[k], topic_discount(0), fresh_weight(slots));
  climb[0] = weight;
#pragma unroll
  for (int level = 1; level <= CITED_LEVEL; level++) {
    int row = SIDE == 0 || met(slots, level) ? level : DEPTHS + level;
    Pair pair = weight_pair(level, INTS(CROW_C + row)[k], INTS(CROW_T + row)[k]);
    weight = pair.stay + pair.open * (weight * scale_at<SIDE>(slots, level));
    climb[level] = weight;
    stay[level] = pair.stay;
  }
  float total = 1.0f;
  EACH_SLOT(SIDE, CITED_LEVEL, { total = slots.beta[slot] + (float)slots.customers[slot]; })
  return quotient(weight, total);
}

DEV int draw_cite_addition(Rng &rng, const float *climb, const float *stay) {
  int depth = 1;
#pragma unroll
  for (int level = CITED_LEVEL; level > 0; level--) {
    if (stay[level] > 0.0f && chance(rng) * climb[level] < stay[level]) return depth;
    depth++;
  }
  return depth;
}

// One node's term of a pending change (as in words.cu): what its parent's weights gain is left in
// carry and carried.
template <int SLOT, int LEVEL>
DEV void node_change(Rows rows, Slots &slots, int before, int after, int left, int closed,
                     int came, int opened, float &carry, float &carried) {
  const float discount = topic_discount(LEVEL);
  if (LEVEL == 0) {
    int now_old = INTS(CROW_C + SLOT)[before], now_new = INTS(CROW_C + SLOT)[after];
    int was_old = now_old + left - (before == after ? came : 0);
    int was_new = now_new - came + (before == after ? left : 0);
    closed = (was_old > 0) - (now_old > 0);
    opened = before == after ? 0 : (now_new > 0) - (was_new > 0);
  }
  float beta = slots.beta[SLOT], total = (float)slots.customers[SLOT];
  float now = quotient(1.0f, beta + total);
  float was = came == left ? now : quotient(1.0f, beta + total - (float)(came - left));
  float fall = (float)(left - came) * now * was;  // now - was
  float cite = slots.cite[SLOT], cited = slots.cited[SLOT];
  slots.carry[SLOT] = carry;
  slots.carried[SLOT] = carried;
  slots.cite_slope[SLOT] = carry * now + cite * fall;
  slots.cited_slope[SLOT] = carried * now + cited * fall;
  if (slots.cite_slope[SLOT] != 0.0f || slots.cited_slope[SLOT] != 0.0f) slots.all = true;
  float went = was * ((float)left - discount * (float)closed);
  float arrived = was * ((float)came - discount * (float)opened);
  slots.cite_old -= cite * went;
  slots.cited_old -= cited * went;
  slots.cite_new += cite * arrived;
  slots.cited_new += cited * arrived;
  float gain = discount * (float)(opened - closed);
  float top = beta + discount * (float)slots.tables[SLOT];
  float rise = gain * now + (top - gain) * fall;
  carry = carry * top * now + cite * rise;
  carried = carried * top * now + cited * rise;
}

DEV void cite_topic_change(Rows rows, const Slots &slots, int k, int before, int after,
                           float &cite, float &cited) {
  cite = 0.0f;
  cited = 0.0f;
  if (slots.all) {
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++) {
      if (slots.cite_slope[slot] == 0.0f && slots.cited_slope[slot] == 0.0f) continue;
      float own = (float)INTS(CROW_C + slot)[k] -
                  topic_discount(slot % DEPTHS) * (float)INTS(CROW_T + slot)[k];
      cite += slots.cite_slope[slot] * own;
      cited += slots.cited_slope[slot] * own;
    }
  }
  if (k == before) {
    cite += slots.cite_old;
    cited += slots.cited_old;
  }
  if (k == after) {
    cite += slots.cite_new;
    cited += slots.cited_new;
  }
}

struct Depths { int first_out, second_out, first_in, second_in; };

template <int LEVEL> struct Climb {
  DEV void go(Rows rows, Slots &slots, int before, int after, const Depths &depths, float carry_a,
              float carried_a, float carry_b, float carried_b) {
    const int step = CITED_LEVEL - LEVEL;
    bool together = met(slots, LEVEL);
    if (together) {
      carry_a += carry_b;
      carried_a += carried_b;
      carry_b = carried_b = 0.0f;
    }
    int left = step < depths.first_out, closed = step + 1 < depths.first_out;
    int came = step < depths.first_in, opened = step + 1 < depths.first_in;
    int left_b = step < depths.second_out, closed_b = step + 1 < depths.second_out;
    int came_b = step < depths.second_in, opened_b = step + 1 < depths.second_in;
    if (together) {
      left += left_b;
      closed += closed_b;
      came += came_b;
      opened += opened_b;
    }
    if (left + came > 0 || carry_a != 0.0f || carried_a != 0.0f)
      node_change<LEVEL, LEVEL>(rows, slots, before, after, left, closed, came, opened, carry_a,
                                carried_a);
    if (!together && (left_b + came_b > 0 || carry_b != 0.0f || carried_b != 0.0f))
      node_change<DEPTHS + LEVEL, LEVEL>(rows, slots, before, after, left_b, closed_b, came_b,
                                         opened_b, carry_b, carried_b);
    Climb<LEVEL - 1>::go(rows, slots, before, after, depths, carry_a, carried_a, carry_b, carried_b);
  }
};

template <> struct Climb<-1> {
  DEV void go(Rows, Slots &, int, int, const Depths &, float, float, float, float) {}
};

// Slopes and special terms of a move already made in the counts (engines/core/exponent.py).
DEV void pending_change(Rows rows, Slots &slots, int before, int after, const Depths &depths) {
#pragma unroll
  for (int slot = 0; slot < SLOTS; slot++) {
    slots.carry[slot] = slots.carried[slot] = 0.0f;
    slots.cite_slope[slot] = slots.cited_slope[slot] = 0.0f;
  }
  slots.cite_old = slots.cited_old = slots.cite_new = slots.cited_new = 0.0f;
  slots.all = false;
  Climb<CITED_LEVEL>::go(rows, slots, before, after, depths, 0.0f, 0.0f, 0.0f, 0.0f);
}

DEV void commit_weights(Slots &slots) {
#pragma unroll
  for (int slot = 0; slot < SLOTS; slot++) {
    slots.cite[slot] += slots.carry[slot];
    slots.cited[slot] += slots.carried[slot];
  }
}
#endif
