// The snapshot sweep of citations: a group of lanes a citing document (CPU twins:
// engines/threads/citations.py over all topics, engines/slots/citations.py over slots). The document sees
// the snapshot and what its own earlier citations did, at both ends. What differs between all topics and
// slots is in all_ends.cuh and slot_ends.cuh, behind a ``CiteWalk``.

#if NETWORK
#define SEEN (32 / LANES)

// Nodes of the last 32 cited ends, spread over the lanes.
struct Seen {
  int node[SEEN][DEPTHS];

  METHOD void forget() {
#pragma unroll
    for (int i = 0; i < SEEN * DEPTHS; i++) node[i / DEPTHS][i % DEPTHS] = -1;
  }
  // Whether the i-th citation's node of a level may have been seen.
  METHOD bool knows(const Ends &ends, int level, int i) const {
    bool known = i > 32;
#pragma unroll
    for (int j = 0; j < SEEN; j++) known = known || node[j][level] == ends.node[DEPTHS + level];
    return group_first(known) >= 0;
  }
  METHOD void add(const Ends &ends, int i) {
    if (i % LANES != lane_id()) return;
#pragma unroll
    for (int j = 0; j < SEEN; j++)
      if (i / LANES % SEEN == j) {
#pragma unroll
        for (int level = 1; level < DEPTHS; level++) node[j][level] = ends.node[DEPTHS + level];
      }
  }
};

// Leave what a citation did for those after it, and for the repair.
DEV void note_move(const Ends &ends, i64 e, int old, int fresh, bool accepted,
                   const Depths &depths) {
  ctx.move_old[e] = (short)old;
  ctx.move_new[e] = (short)(accepted ? fresh : old);
  if (accepted) ctx.citing_topic[e] = (short)fresh;
  unsigned char *depth = ctx.move_depth + 4 * e;
  depth[0] = (unsigned char)(accepted ? depths.first_out : 0);
  depth[1] = (unsigned char)(accepted ? depths.first_in : 0);
  depth[2] = (unsigned char)(accepted ? depths.second_out : 0);
  depth[3] = (unsigned char)(accepted ? depths.second_in : 0);
#pragma unroll
  for (int level = 1; level < CITED_LEVEL; level++) {
    AT_PLACE(1, level, {
      ctx.move_weight[(e * CITED_LEVEL + level) * 2] = ends.cite[place];
      ctx.move_weight[(e * CITED_LEVEL + level) * 2 + 1] = ends.cited[place];
    })
  }
}

// With ``starting``, citations get their first topics instead: each drawn from the proposal given the
// snapshot alone, and seated without tables of its own, which the repair opens where needed.
// Groups of a warp take documents of about as many citations and go through them in step.
KERNEL_OF(CITE_THREADS, CITE_BLOCKS)
sweep_citations(u64 key, int first_number, int last_number, int starting) {
  CiteWalk walk = begin_cite_walk();
  const Rows &rows = walk.rows;
  int n_visited = 0, n_blocked = 0, n_accepted = 0;
  Turn turn;
  while (take_turn(turn, 1, ctx.cite_order, ctx.cites, first_number, last_number)) {
    const int length = turn.length;
    Ends ends;
    load_citing(ends, turn.document);
    walk.first = turn.begin;
    enter_citing(walk, ends);
    walk.draws.rng = open_stream(key, 1, (u64)ctx.document_number[turn.document]);
    Seen seen;
    seen.forget();
    n_visited += length;
    for (int i = 0; warp_any(i < length); i++) {
      bool live = i < length, goes_on = live && !starting;
      i64 e = turn.begin + i;
      group_sync();
      ends.meet = 0;
      if (live) load_cited(ends, ctx.cited_document[e]);
      enter_cited(walk, ends, e, live);
      if (!starting) {
#pragma unroll
        for (int level = CITED_LEVEL; level > 0; level--) {
          bool known = seen.knows(ends, level, i);
          add_own_moves(walk, ends, level, e, known && live && !ends.met(level));
        }
        seen.add(ends, i);
      }
      group_sync();
      int old_number = goes_on ? ctx.citing_topic[e] : -1;
      int old = find_topic(walk, old_number);
      if (old < 0) old = 0;
      Depths depths = {0, 0, 0, 0};
      float climb[DEPTHS], stay[DEPTHS];
      // both ends leave, the cited one first
      if (goes_on) depths.second_out = draw_cite_removal<1>(walk.draws, rows, ends, old);
      bool goes = depths.second_out > 0;
      int at_root = rows[old].whole(END_C);
      group_sync();
      if (goes) move_cite<1>(rows, ends, old, depths.second_out, -1, at_root);
      group_sync();
      float weight_old = goes ? path_weight<1>(rows, ends, old, climb, stay) : 1.0f;
      if (goes) depths.first_out = draw_cite_removal<0>(walk.draws, rows, ends, old);
      bool moves = depths.first_out > 0;
      n_blocked += goes_on && !moves;
      at_root = rows[old].whole(END_C);
      group_sync();
      if (goes && !moves) move_cite<1>(rows, ends, old, depths.second_out, 1, at_root);
      if (moves) move_cite<0>(rows, ends, old, depths.first_out, -1, at_root);
      group_sync();
      // a topic for both
      bool draws = moves || (live && starting);
      Choice choice = choose_citing(walk, ends, old, old_number, moves, draws, e);
      if (starting) {
        if (live && lane_id() == 0) {
          ctx.citing_topic[e] = ctx.move_old[e] = ctx.move_new[e] = (short)choice.number;
          for (int j = 0; j < 4; j++) ctx.move_depth[4 * e + j] = (unsigned char)(j & 1);
        }
        group_sync();
        leave_cited(walk, ends, e, false, -1);
        continue;
      }
      // they come back, the citing one first
      bool stands = choice.stands;
      int k = stands ? choice.k : old;
      if (stands) {
        path_weight<0>(rows, ends, k, climb, stay);
        depths.first_in = draw_topic_addition<CITED_LEVEL>(walk.draws, climb, stay);
      }
      at_root = rows[k].whole(END_C);
      group_sync();
      if (stands) move_cite<0>(rows, ends, k, depths.first_in, 1, at_root);
      group_sync();
      float weight_new = 1.0f;
      if (stands) {
        weight_new = path_weight<1>(rows, ends, k, climb, stay);
        depths.second_in = draw_topic_addition<CITED_LEVEL>(walk.draws, climb, stay);
      }
      at_root = rows[k].whole(END_C);
      group_sync();
      if (stands) move_cite<1>(rows, ends, k, depths.second_in, 1, at_root);
      group_sync();
      // the second end's weight beside the first's new tables, over the weight proposed with
      float coupling = weight_new * choice.second_old / (weight_old * choice.second_new);
      bool changes = stands && (k != old || depths.first_in != depths.first_out ||
                                depths.second_in != depths.second_out);
      float change = 0.0f;
      if (warp_any(changes)) {
        pending_change(rows, ends, old, k, depths);
        change = cite_change(walk, ends, old, k, changes, e);
      }
      if (!changes) change = 0.0f;
      bool accepted = stands && walk.draws.at(DRAW_ALLOW) < coupling * expf(-change);
      n_accepted += accepted;
      bool made = accepted && changes;
      group_sync();
      if (made) commit_cite_change(walk, ends, old, k);
      bool undone = stands && !accepted;
      if (warp_any(undone)) {
        at_root = rows[k].whole(END_C);
        group_sync();
        if (undone) {  // both at once: only mu's table needs to know how many are left
          move_cite<1>(rows, ends, k, depths.second_in, -1, at_root);
          if (depths.second_in == DEPTHS) at_root--;
          move_cite<0>(rows, ends, k, depths.first_in, -1, at_root);
        }
        group_sync();
      }
      bool back = moves && !accepted;
      if (warp_any(back)) {
        at_root = rows[old].whole(END_C);
        group_sync();
        if (back) {
          move_cite<0>(rows, ends, old, depths.first_out, 1, at_root);
          if (depths.first_out == DEPTHS) at_root++;
          move_cite<1>(rows, ends, old, depths.second_out, 1, at_root);
        }
        group_sync();
      }
      if (live && lane_id() == 0) {
        note_move(ends, e, old_number, choice.number, accepted, depths);
        note_slopes(walk, ends, e, made);
      }
      group_sync();
      leave_cited(walk, ends, e, made, accepted ? k : -1);
    }
    group_sync();
  }
  if (lane_id() == 0) {
    add_to(ctx.tally + CITE_VISITED, (u64)n_visited);
    add_to(ctx.tally + CITE_BLOCKED, (u64)n_blocked);
    add_to(ctx.tally + CITE_ACCEPTED, (u64)n_accepted);
    tell_cite_choices(walk);
  }
}
#endif
