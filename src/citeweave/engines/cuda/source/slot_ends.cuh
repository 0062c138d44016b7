// Citations of a document over slots (all_ends.cuh: over all topics). Topics of the citing document keep
// their slots; most that only the cited paper has lose them when the next is at hand. As with words, a
// topic is proposed: from those that either end or its listed author has without the citation, or from
// guesses.

#if NETWORK
DEV CiteWalk begin_cite_walk() {
  CiteWalk walk;
  walk.rows = group_cells<END_FIELDS, END_TOPIC>(BIT_WORDS);
  walk.have = (unsigned *)(walk.rows.near_cells + NEAR_TILES * END_FIELDS * LANES);
  walk.guess_mass = ctx.guess_mass[N_WORDS];
  walk.guess_unit = quotient(walk.guess_mass, (float)ctx.cite_guess[K - 1]);
  walk.n_outside = walk.n_refused = 0;
  return walk;
}

// Fill a slot whose topic is written: mu, the citing end, and P and M.
static __device__ __noinline__ void fill_citing(Column slot, Standing standing) {
  int k = slot.whole(END_TOPIC);
#pragma unroll
  for (int level = 0; level <= CITED_LEVEL; level++) {
    Seats seats = path_seats(level, standing.node[level], k);
    slot.whole(END_C + level) = seats.customers;
    slot.whole(END_T + level) = seats.tables;
  }
  slot.real(END_SCALE) = (float)ctx.topic_scale[k];
  Pair sums = stranger_sums(standing, k);
  slot.real(END_CITE) = sums.stay;
  slot.real(END_CITED) = sums.open;
}

// A slot's part of the sums over topics without one: to be taken out when it gets the slot, and to be
// put back when it loses it, its counts being the snapshot's at both times.
struct BeyondPart {
  double x, y, z;
  METHOD void add(Column slot) {
    double own = (float)slot.whole(END_C) - topic_discount(0) * (float)slot.whole(END_T);
    x += own * slot.real(END_CITED);
    y += own * slot.real(END_CITE);
    z += own * own * slot.real(END_SCALE);
  }
  METHOD void sum() {
    x = group_sum(x);
    y = group_sum(y);
    z = group_sum(z);
  }
};

// This lane's first slot from one on.
DEV int own_slot(int from) {
  int slot = from / LANES * LANES + lane_id();
  return slot < from ? slot + LANES : slot;
}

// Fill the slots whose topics are written; every group of a warp takes part.
DEV void fill_slots(CiteWalk &walk, const Ends &ends, i64 e) {
  BeyondPart part = {0.0, 0.0, 0.0};
  Standing standing = standing_of(walk, ends, e);
#pragma unroll 1
  for (int slot = own_slot(walk.filled); slot < walk.n_slots; slot += LANES) {
    fill_citing(walk.rows[slot], standing);
    part.add(walk.rows[slot]);
  }
  part.sum();
  walk.beyond.x -= part.x;
  walk.beyond.y -= part.y;
  walk.beyond.z -= part.z;
  walk.filled = walk.n_slots;
}

// Whether a change's slopes are those of nodes whose topics all have slots. Then these stay: what the
// slopes did to them is written nowhere else.
DEV bool keeps_slots(const Ends &ends, const Listed &all) {
  bool keeps = false;
#pragma unroll
  for (int level = 1; level <= CITED_LEVEL; level++) {
    bool in_slots = level >= N_SHARED || (level == N_SHARED - 1 && all.cited);
    keeps = keeps || (has_slope(ends, DEPTHS + level) && in_slots && !ends.met(level));
  }
  return keeps;
}

// Slots from ``kept`` on are given up, but for that of a topic which the citation has moved to: it
// becomes the last one kept. Every group of a warp takes part.
DEV void drop_slots(CiteWalk &walk, int moved_to) {
  const Rows &rows = walk.rows;
  if (moved_to >= walk.kept) {
    if (moved_to > walk.kept)
      for (int field = lane_id(); field < END_FIELDS; field += LANES) {
        float own = rows[walk.kept].real(field);
        rows[walk.kept].real(field) = rows[moved_to].real(field);
        rows[moved_to].real(field) = own;
      }
    walk.kept++;
  }
  group_sync();
  BeyondPart part = {0.0, 0.0, 0.0};
#pragma unroll 1
  for (int slot = own_slot(walk.kept); slot < walk.n_slots; slot += LANES) {
    int k = rows[slot].whole(END_TOPIC);
    part.add(rows[slot]);
    add_to((int *)walk.have + k / 32, -(int)(1u << (k % 32)));  // the bit is set
  }
  part.sum();
  walk.beyond.x += part.x;
  walk.beyond.y += part.y;
  walk.beyond.z += part.z;
  group_sync();
  walk.n_slots = walk.filled = walk.kept;
}

// Counts of the cited end's nodes in one slot; ``marked`` where nodes' bits may tell their topics.
DEV void fill_cited(const CiteWalk &walk, const Ends &ends, int slot, bool marked) {
  Column column = walk.rows[slot];
#pragma unroll
  for (int level = 1; level <= CITED_LEVEL; level++) {
    if (ends.met(level)) continue;
    const int node = ends.node[DEPTHS + level];
    bool has_bits = marked && (level == N_SHARED || (level == N_SHARED - 1 && walk.all.cited));
    int k = column.whole(END_TOPIC);
    Seats seats = {0, 0};
    if (!has_bits || has_bit(bits_of(node), k)) seats = seats_of(node, k);
    column.whole(END_C + DEPTHS + level) = seats.customers;
    column.whole(END_T + DEPTHS + level) = seats.tables;
  }
}

// The topics of the citing end get slots, which are filled together with the first citation's.
DEV void enter_citing(CiteWalk &walk, const Ends &ends) {
  int above = N_SHARED > 1 ? ends.node[N_SHARED - 1] : -1;
  walk.all.citing = N_SHARED == 1 || listed(above);
  Beyond &beyond = walk.beyond;
  beyond.x = ctx.outer[0];
  beyond.y = ctx.outer[1];
  beyond.z = ctx.outer[2];
#pragma unroll
  for (int level = 0; level < N_SHARED; level++) beyond.cite[level] = beyond.cited[level] = 0.0f;
  beyond.recorded = false;
  for (int i = lane_id(); i < BIT_WORDS; i += LANES) walk.have[i] = 0u;
  group_sync();
  walk.kept = list_topics(walk.rows, 0, walk.have, ends.node[N_SHARED],
                          walk.all.citing ? above : -1);
  walk.filled = 0;
}

// Counts of a citation's cited end in all slots; topics that have no slot yet get one. Every group of a
// warp takes part.
DEV void enter_cited(CiteWalk &walk, const Ends &ends, i64 e, bool live) {
  int above = N_SHARED > 1 ? ends.node[DEPTHS + N_SHARED - 1] : -1;
  walk.all.cited = N_SHARED == 1 || listed(above);
  walk.n_slots =
      list_topics(walk.rows, walk.kept, walk.have, live ? ends.node[DEPTHS + N_SHARED] : -1,
                  live && walk.all.cited ? above : -1);
  if (warp_any(walk.n_slots > walk.filled)) fill_slots(walk, ends, e);
  for (int slot = lane_id(); slot < walk.n_slots && live; slot += LANES)
    fill_cited(walk, ends, slot, true);
  group_sync();
}

// Let the cited end's node of a level have what the document's citations before e did to it when it
// was their cited end. Every lane goes through all of them, for its own slots.
DEV void add_own_moves(CiteWalk &walk, Ends &ends, int level, i64 e, bool asked) {
  if (!asked) return;
  const int place = DEPTHS + level;
  i64 latest = -1;
  for (i64 before = walk.first; before < e; before++) {
    Moves moves;
    if (!moved_node(moves, before, ends.node[place], level)) continue;
    latest = before;
    int old = ctx.move_old[before], fresh = ctx.move_new[before];
    for (int slot = lane_id(); slot < walk.n_slots; slot += LANES) {
      Column topic = walk.rows[slot];
      int k = topic.whole(END_TOPIC);
      topic.whole(END_C + place) += (k == fresh ? moves.came : 0) - (k == old ? moves.left : 0);
      topic.whole(END_T + place) += (k == fresh ? moves.opened : 0) - (k == old ? moves.closed : 0);
    }
    ends.customers[place] += moves.came - moves.left;
    ends.tables[place] += moves.opened - moves.closed;
  }
  if (latest >= 0 && level < CITED_LEVEL) take_weights(ends, level, latest);
}

DEV int find_topic(const CiteWalk &walk, int number) {
  return find_slot(walk.rows, walk.n_slots, number);
}

// What turns the guesses' shares at mu into an end's weights (as ``outside`` of words in document.cuh).
template <int SIDE> DEV float end_outside(const Ends &ends, bool listed_end) {
  const int above = N_SHARED > 1 ? N_SHARED - 1 : 1;
  float value = 0.0f;
  AT_PLACE(SIDE, above, {
    value = ends.beta[place] + (listed_end ? topic_discount(above) * (float)ends.tables[place]
                                           : (float)ends.customers[place]);
  })
#pragma unroll
  for (int level = above + 1; level <= CITED_LEVEL; level++) value *= scale_at<SIDE>(ends, level);
  return value;
}

// Weight at an end of a topic that has no slot, up to the end's factor.
template <int SIDE> DEV float stranger_end(const Ends &ends, int k, float fresh) {
  float weight = root_value(root_seats(k).customers, topic_discount(0), fresh);
#pragma unroll
  for (int level = 1; level <= CITED_LEVEL; level++) {
    float scale = scale_at<SIDE>(ends, level);
    if (level < N_SHARED) {
      int node = SIDE == 0 || ends.met(level) ? ends.node[level] : ends.node[DEPTHS + level];
      Seats seats = path_seats(level, node, k);
      Pair pair = weight_pair(level, seats.customers, seats.tables);
      weight = weight_below(pair, scale, weight);
    } else {
      weight *= scale;
    }
  }
  return weight;
}

// Every slot's weight at both ends; below zero for topics that neither end has. Gives this lane's sum
// of the others.
DEV float weigh_slots(const CiteWalk &walk, int n_slots, const Ends &ends) {
  EndScales scales = end_scales(ends);
  float mass = 0.0f;
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots; slot += LANES) {
    bool inside;
    float value = weigh_ends(walk.rows[slot], ends, scales, walk.all, inside);
    walk.rows[slot].real(END_MASS) = inside ? value : -value;
    if (inside) mass += value;
  }
  return mass;
}

// A topic gets a slot, the last one: it is filled from the snapshot, which has all there is of this
// topic. Every group of a warp takes part.
DEV void add_slot(CiteWalk &walk, const Ends &ends, bool joins, int number, i64 e) {
  group_sync();
  int slot = walk.n_slots;
  walk.n_slots += joins;
  if (joins && lane_id() == 0) {
    walk.rows[slot].whole(END_TOPIC) = number;
    walk.have[number / 32] |= 1u << (number % 32);
  }
  group_sync();
  fill_slots(walk, ends, e);
  if (joins && lane_id() == slot % LANES) fill_cited(walk, ends, slot, false);
  group_sync();
}

// A topic is proposed for both ends, and taken or not.
DEV Choice choose_citing(CiteWalk &walk, const Ends &ends, int old, int old_number, bool moves,
                         bool draws, i64 e) {
  const Rows &rows = walk.rows;
  float scale = end_outside<0>(ends, walk.all.citing) * end_outside<1>(ends, walk.all.cited);
  // where nothing is drawn the cited end's counts are not there
  float mass = weigh_slots(walk, draws ? walk.n_slots : 0, ends);
  float total = group_sum(mass) + scale * walk.guess_mass;
  float target = (draws ? walk.draws.at(DRAW_PICK) : 0.0f) * total;
  int k = pick_slot(rows, END_MASS, walk.n_slots, target, mass, group_scan(mass));
  bool outside = draws && k < 0;
  walk.n_outside += outside;
  int number = 0;
  if (warp_any(outside)) {
    number = draw_guess(outside ? (unsigned)(advance(walk.draws.rng) >> 32) : 0u, ctx.cite_guess);
    int slot = find_slot(rows, walk.n_slots, number);
    if (outside) k = slot;
  }
  group_sync();
  if (k >= 0) number = rows[k].whole(END_TOPIC);
  bool stands = moves;
  float second_old = rows[old].real(END_SECOND), second_new = second_old;
  if (moves && k >= 0) second_new = rows[k].real(END_SECOND);
  if (moves && k != old) {
    float unit = scale * walk.guess_unit;
    float before = rows[old].real(END_MASS), after;
    if (k >= 0) {
      after = rows[k].real(END_MASS);
    } else {
      float fresh = fresh_weight(ends);
      second_new = stranger_end<1>(ends, number, fresh);
      after = -(float)ctx.topic_scale[number] * stranger_end<0>(ends, number, fresh) * second_new;
    }
    stands = accepts(walk.draws.at(DRAW_STAND), before, after,
                     unit * (float)guess_at(ctx.cite_guess, old_number),
                     unit * (float)guess_at(ctx.cite_guess, number));
    walk.n_refused += !stands;
  }
  bool joins = stands && k < 0;
  if (joins) k = walk.n_slots;
  if (warp_any(joins)) add_slot(walk, ends, joins, number, e);
  return {k, number, second_old, second_new, stands};
}

DEV Gain cite_gain(const CiteTopic &topic, const Ends &ends, bool before, bool after) {
  Gain gain = {0.0f, 0.0f};
  add_moved(ends, before, after, gain);
  if (ends.all) add_slopes(ends, topic, gain);
  return gain;
}

// Change of E by a pending change; every group of a warp takes part.
DEV float cite_change(CiteWalk &walk, Ends &ends, int before, int after, bool changes, i64 e) {
  walk.wide = changes ? how_wide(ends, walk.all) : not_wide();
  float sum = 0.0f;
  each_changed(ends.all, before, after, walk.n_slots, [&](int slot) {
    CiteTopic topic = {walk.rows[slot], ends};
    sum += topic.rate(cite_gain(topic, ends, slot == before, slot == after));
  });
#if N_SHARED > 2
  if (walk.wide.loop) sum += wide_change(walk, ends, e);
#endif
  sum = group_sum(sum);
  double outside = change_beyond(walk, ends, e);
  if (ends.all && !walk.wide.loop) sum += (float)outside;
  return sum;
}

DEV void commit_cite_change(CiteWalk &walk, Ends &ends, int before, int after) {
  each_changed(ends.all, before, after, walk.n_slots, [&](int slot) {
    CiteTopic topic = {walk.rows[slot], ends};
    topic.add_gain(cite_gain(topic, ends, slot == before, slot == after));
  });
  commit_weights(ends);
}

// Put the slopes of the cited end's nodes on record whose topics need not have slots.
DEV void note_slopes(const CiteWalk &walk, const Ends &ends, i64 e, bool made) {
#pragma unroll
  for (int level = 1; level < N_SHARED; level++) {
    float *slope = ctx.move_slope + (e * N_SHARED + level) * 2;
    bool apart = made && !ends.met(level) && !(level == N_SHARED - 1 && walk.all.cited);
    slope[0] = apart ? ends.cite_slope[DEPTHS + level] : 0.0f;
    slope[1] = apart ? ends.cited_slope[DEPTHS + level] : 0.0f;
  }
}

// A citation is done; ``moved_to`` is the slot that it has moved to, -1 for none.
DEV void leave_cited(CiteWalk &walk, const Ends &ends, i64 e, bool made, int moved_to) {
  if (warp_any(made)) commit_beyond(walk, ends, made, e);
  if (made && keeps_slots(ends, walk.all)) walk.kept = walk.n_slots;
  drop_slots(walk, moved_to);
}

DEV void tell_cite_choices(const CiteWalk &walk) {
  add_to(ctx.tally + CITE_OUTSIDE, (u64)walk.n_outside);
  add_to(ctx.tally + CITE_REFUSED, (u64)walk.n_refused);
}
#endif
