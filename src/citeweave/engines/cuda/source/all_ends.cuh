// Citations of a document over all topics: a column for each (slot_ends.cuh: over those that matter to
// the two ends). A citation's topic is drawn from the product of the ends' weights.

#if NETWORK
struct CiteWalk {
  Rows rows;
  Stream draws;
  i64 first;  // the document's first citation
};

DEV CiteWalk begin_cite_walk() {
  CiteWalk walk;
  walk.rows.begin = group_rows(END_FIELDS);
  return walk;
}

DEV void fill_counts(CiteWalk &walk, int place, int node) {
  for (int k = lane_id(); k < K; k += LANES) {
    walk.rows[k].whole(END_C + place) = ctx.customers[(i64)node * K + k];
    walk.rows[k].whole(END_T + place) = ctx.tables[(i64)node * K + k];
  }
}

DEV void enter_citing(CiteWalk &walk, const Ends &ends) {
#pragma unroll
  for (int place = 0; place < END_PLACES; place++) fill_counts(walk, place, ends.node[place]);
  for (int k = lane_id(); k < K; k += LANES) {
    Column topic = walk.rows[k];
    topic.real(END_SCALE) = (float)ctx.topic_scale[k];
    topic.real(END_CITE) = (float)(ctx.topic_scale[k] * ctx.cite_sum[k]);
    topic.real(END_CITED) = (float)(ctx.topic_scale[k] * ctx.cited_sum[k]);
  }
}

DEV void enter_cited(CiteWalk &walk, const Ends &ends, i64, bool live) {
#pragma unroll
  for (int level = CITED_LEVEL; level > 0; level--)
    if (live && !ends.met(level)) fill_counts(walk, DEPTHS + level, ends.node[DEPTHS + level]);
  group_sync();
}

// Let the cited end's node of a level have what the document's citations before e did to it when it
// was their cited end. Nothing is done where ``asked`` is false; every group of a warp takes part.
DEV void add_own_moves(CiteWalk &walk, Ends &ends, int level, i64 e, bool asked) {
  if (!warp_any(asked)) return;
  const int place = DEPTHS + level;
  int customers = 0, tables = 0, latest = -1;
  for (i64 before = walk.first + lane_id(); before < e && asked; before += LANES) {
    Moves moves;
    if (!moved_node(moves, before, ends.node[place], level)) continue;
    latest = (int)(before - walk.first);
    Column old = walk.rows[ctx.move_old[before]], fresh = walk.rows[ctx.move_new[before]];
    if (moves.left) add_to(&old.whole(END_C + place), -1);
    if (moves.closed) add_to(&old.whole(END_T + place), -1);
    if (moves.came) add_to(&fresh.whole(END_C + place), 1);
    if (moves.opened) add_to(&fresh.whole(END_T + place), 1);
    customers += moves.came - moves.left;
    tables += moves.opened - moves.closed;
  }
  ends.customers[place] += group_sum(customers);
  ends.tables[place] += group_sum(tables);
  latest = group_max(latest);
  if (latest >= 0 && level < CITED_LEVEL) take_weights(ends, level, walk.first + latest);
}

DEV int find_topic(const CiteWalk &, int number) { return number; }

// Every topic's weight at both ends, up to one factor each, and a draw from their product.
DEV Choice choose_citing(CiteWalk &walk, const Ends &ends, int old, int, bool moves, bool draws,
                         i64) {
  EndScales scales = end_scales(ends);
  Listed all = {false, false};
  float mass = 0.0f, share = draws ? walk.draws.at(DRAW_PICK) : 0.5f;
  for (int k = lane_id(); k < K; k += LANES) {
    bool inside;
    float value = weigh_ends(walk.rows[k], ends, scales, all, inside);
    walk.rows[k].real(END_MASS) = value;
    mass += value;
  }
  Hit hit = find_hit(share, mass);
  int last = lane_id();
  bool found = false;
  for (int k = lane_id(); k < K && lane_id() == hit.lane && !found; k += LANES) {
    float value = walk.rows[k].real(END_MASS);
    if (value > 0.0f) last = k;
    found = hit.target < value;
    hit.target -= value;
  }
  group_sync();
  int k = group_from(last, hit.lane);
  return {k, k, walk.rows[old].real(END_SECOND), walk.rows[k].real(END_SECOND), moves};
}

DEV Gain cite_gain(const Column &column, const Ends &ends, bool before, bool after) {
  Gain gain = {0.0f, 0.0f};
  if (ends.all) add_slopes(ends, CiteTopic{column, ends}, gain);
  add_moved(ends, before, after, gain);
  return gain;
}

// Change of E by a pending change.
DEV float cite_change(CiteWalk &walk, Ends &ends, int before, int after, bool, i64) {
  float sum = 0.0f;
  for (int k = lane_id(); k < K; k += LANES) {
    if (!ends.all && k != before && k != after) continue;
    CiteTopic topic = {walk.rows[k], ends};
    sum += topic.rate(cite_gain(topic, ends, k == before, k == after));
  }
  return group_sum(sum);
}

DEV void commit_cite_change(CiteWalk &walk, Ends &ends, int before, int after) {
  for (int k = lane_id(); k < K; k += LANES) {
    if (!ends.all && k != before && k != after) continue;
    CiteTopic topic = {walk.rows[k], ends};
    topic.add_gain(cite_gain(topic, ends, k == before, k == after));
  }
  commit_weights(ends);
}

DEV void note_slopes(const CiteWalk &, const Ends &, i64, bool) {}

DEV void leave_cited(CiteWalk &, const Ends &, i64, bool, int) {}

DEV void tell_cite_choices(const CiteWalk &) {}
#endif
