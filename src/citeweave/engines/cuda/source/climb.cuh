// The maths of one customer on its way along a path of nodes, for words and for citations, over all
// topics and over slots: how far it climbs, what its move does to counts, and what that does to the
// citations' exponential (CPU twins: engines/core/climb.py and engines/core/exponent.py).

#define DEPTHS (CITED_LEVEL + 1)
#define STRIDE (SPARSE ? LANES : K)

// What a group keeps of one topic: a column of numbers. Columns of all topics lie side by side, those
// of slots LANES at a time.
struct Column {
  float *at;
  METHOD float &real(int field) const { return at[field * STRIDE]; }
  METHOD int &whole(int field) const { return ((int *)at)[field * STRIDE]; }
};

// ---- how far a customer climbs

// Places of the random numbers of a token, by what they decide; a stream has no use for them.
#define DRAW_LEAVE 0  // a level each
#define DRAW_WORD_LEAVE (LEVELS - 1)
#define DRAW_PICK (LEVELS + 2)
#define DRAW_GUESS (LEVELS + 3)
#define DRAW_STAND (LEVELS + 4)
#define DRAW_ALLOW (LEVELS + 5)
#define DRAW_COME (LEVELS + 6)
#define DRAW_WORD_COME (2 * LEVELS + 5)
#define DRAWS (2 * LEVELS + 8)

// Numbers one after the other, drawn only where one is asked for.
struct Stream {
  Rng rng;
  METHOD float at(int) { return chance(rng); }
  METHOD bool below(int, float weight, float part, bool asked) {
    return asked && chance(rng) * weight < part;
  }
};

// A customer on the way up, without branches, so that groups of a warp stay together.
struct Climber {
  int depth;
  bool goes_on, blocked;

  METHOD void step(bool on) {
    goes_on = goes_on && on;
    depth += goes_on ? 1 : 0;
  }
  // It takes its table along with probability t / c, but not the only table of others.
  // Of a paper's tables, ``held`` are served by authors who do not serve it now: they stay.
  template <typename Draws> METHOD void leave(Draws &draws, int place, Seats seats, int held = 0) {
#if AUTHORS
    bool draws_seat = seats.tables < seats.customers || held > 0;
    float seat = goes_on && draws_seat ? draws.at(place) * (float)seats.customers : 0.0f;
    bool takes_table = !draws_seat || seat < (float)seats.tables;
    bool stays = seat < (float)held || (seats.tables == 1 && seats.customers > 1);
    blocked = blocked || (goes_on && draws_seat && takes_table && stays);
    step(takes_table && !blocked);
    return;
#endif
    bool shared = seats.tables < seats.customers;
    bool takes = !shared || draws.below(place, (float)seats.customers, (float)seats.tables,
                                        goes_on && shared);
    blocked = blocked || (goes_on && takes && shared && seats.tables == 1);
    step(takes && !blocked);
  }
  // It sits down with the probability that ``stay`` has in ``weight``.
  template <typename Draws>
  METHOD void come(Draws &draws, int place, float weight, float stay) {
    step(!draws.below(place, weight, stay, goes_on && stay > 0.0f));
  }
  METHOD int result() const { return blocked ? 0 : depth; }
};

DEV Climber new_climber() { return {1, true, false}; }

// Tables of a topic that are held at a paper's upper node.
DEV int held_tables(int node, int topic) {
#if AUTHORS
  return ctx.held[(i64)node * K + topic];
#else
  return 0;
#endif
}

// The contribution of the author who serves a paper, by its upper node; 1 for all other nodes.
DEV float share_of(int node) {
#if AUTHORS
  return (float)ctx.share[node];
#else
  return 1.0f;
#endif
}

// How far the customer of level TOP that leaves had climbed; 0 where it may not leave.
template <int TOP, typename Draws, typename View>
DEV int draw_topic_removal(Draws &draws, const View &topic, int held) {
  Climber climber = new_climber();
#pragma unroll
  for (int level = TOP; level > 0; level--)
    climber.leave(draws, DRAW_LEAVE + level - 1, topic.seats(level), level == N_SHARED ? held : 0);
  return climber.result();
}

// How far one that comes climbs; ``climb`` and ``stay`` are a topic's weights by level.
template <int TOP, typename Draws>
DEV int draw_topic_addition(Draws &draws, const float *climb, const float *stay) {
  Climber climber = new_climber();
#pragma unroll
  for (int level = TOP; level > 0; level--)
    climber.come(draws, DRAW_COME + level - 1, climb[level], stay[level]);
  return climber.depth;
}

// A topic's weight on a level, from that on the level above.
DEV float weight_below(Pair pair, float scale, float above) {
  return pair.stay + pair.open * (scale * above);
}

// ---- what its move does to the counts of a level

// ``depth`` levels from TOP upwards; ``sign`` is 1 for a customer that comes, -1 for one that leaves.
template <int TOP> DEV Seats moved(int level, int depth, int sign) {
  int step = TOP - level;
  return {step < depth ? sign : 0, step + 1 < depth ? sign : 0};
}

// mu has a table for a topic while anybody sits there.
DEV int root_tables(int customers, int sign) {
  return (customers + sign > 0 ? 1 : 0) - (customers > 0 ? 1 : 0);
}

// ---- what it does to the exponential

// Customers and tables that a move takes from a node's old topic and brings to its new one.
struct Moves { int left, closed, came, opened; };

DEV Moves moves_at(int step, int out, int into) {
  return {step < out, step + 1 < out, step < into, step + 1 < into};
}

// Tables at mu, from its customers of both topics after the move.
DEV void count_root_tables(Moves &moves, int now_old, int now_new, bool same) {
  int was_old = now_old + moves.left - (same ? moves.came : 0);
  int was_new = now_new - moves.came + (same ? moves.left : 0);
  moves.closed = (was_old > 0) - (now_old > 0);
  moves.opened = same ? 0 : (now_new > 0) - (was_new > 0);
}

// Of P and M.
struct Gain { float cite, cited; };

// What a pending move would do to P and M: slopes of the nodes it reaches, and what the two topics get
// besides. Differences are written out so that nothing cancels, and single precision suffices.
template <int PLACES> struct Change {
  float cite[PLACES], cited[PLACES];  // weights of the nodes
  float carry[PLACES], carried[PLACES];  // what they would gain
  float cite_slope[PLACES], cited_slope[PLACES];
  Gain of_old, of_new;
  bool all;  // whether any slope is not zero
};

template <int PLACES> DEV void clear_change(Change<PLACES> &change) {
#pragma unroll
  for (int place = 0; place < PLACES; place++) {
    change.carry[place] = change.carried[place] = 0.0f;
    change.cite_slope[place] = change.cited_slope[place] = 0.0f;
  }
  change.of_old = change.of_new = {0.0f, 0.0f};
  change.all = false;
}

// One node's term; what its parent's weights gain is left in carry and carried. ``customers`` and
// ``tables`` are those after the move.
template <int PLACES>
DEV void change_node(Change<PLACES> &change, int place, float discount, float beta, int customers,
                     int tables, const Moves &moves, float &carry, float &carried) {
  float total = (float)customers;
  float now = quotient(1.0f, beta + total);
  float was = moves.came == moves.left
                  ? now
                  : quotient(1.0f, beta + total - (float)(moves.came - moves.left));
  float fall = (float)(moves.left - moves.came) * now * was;  // now - was
  float cite = change.cite[place], cited = change.cited[place];
  change.carry[place] = carry;
  change.carried[place] = carried;
  change.cite_slope[place] = carry * now + cite * fall;
  change.cited_slope[place] = carried * now + cited * fall;
  if (change.cite_slope[place] != 0.0f || change.cited_slope[place] != 0.0f) change.all = true;
  float went = was * ((float)moves.left - discount * (float)moves.closed);
  float arrived = was * ((float)moves.came - discount * (float)moves.opened);
  change.of_old.cite -= cite * went;
  change.of_old.cited -= cited * went;
  change.of_new.cite += cite * arrived;
  change.of_new.cited += cited * arrived;
  float gain = discount * (float)(moves.opened - moves.closed);
  float top = beta + discount * (float)tables;
  float rise = gain * now + (top - gain) * fall;  // of the share that children take
  carry = carry * top * now + cite * rise;
  carried = carried * top * now + cited * rise;
}

// A count less its discounted tables; mu has one table for a topic that has customers.
template <typename T> DEV T own_share(int level, int customers, int tables) {
  int t = level == 0 ? (customers > 0 ? 1 : 0) : tables;
  return (T)customers - (T)topic_discount(level) * (T)t;
}

// A topic's gain by the slopes.
template <int PLACES, typename View>
DEV void add_slopes(const Change<PLACES> &change, const View &topic, Gain &gain) {
#pragma unroll
  for (int place = 0; place < PLACES; place++) {
    if (topic.passed_over(change, place)) continue;
    float own = topic.own(place);
    gain.cite += change.cite_slope[place] * own;
    gain.cited += change.cited_slope[place] * own;
  }
}

// What it gets besides where it is one of the two.
template <int PLACES>
DEV void add_moved(const Change<PLACES> &change, bool before, bool after, Gain &gain) {
  if (before) {
    gain.cite += change.of_old.cite;
    gain.cited += change.of_old.cited;
  }
  if (after) {
    gain.cite += change.of_new.cite;
    gain.cited += change.of_new.cited;
  }
}

// A topic's part of the change of E; ``cite`` and ``cited`` are lambdaT_k P_k and lambdaT_k M_k.
DEV float rate_of(const Gain &gain, float scale, float cite, float cited) {
  return gain.cite * (cited + scale * gain.cited) + cite * gain.cited;
}

template <int PLACES> DEV void commit_weights(Change<PLACES> &change) {
#pragma unroll
  for (int place = 0; place < PLACES; place++) {
    change.cite[place] += change.carry[place];
    change.cited[place] += change.carried[place];
  }
}

// ---- which topic a sum of weights hits

// Where a share of the whole falls: the lane, and how far into its own part.
struct Hit {
  int lane;
  float target;
};

DEV Hit find_hit(float share, float mass) {
  float running = group_scan(mass);
  float total = group_from(running, LANES - 1);
  float target = share * total;
  int who = group_first(mass > 0.0f && target < running);
  int heaviest = group_last(mass > 0.0f);
  if (who < 0) who = heaviest < 0 ? 0 : heaviest;  // rounding at the end of the sum
  return {who, target - (running - mass)};
}
