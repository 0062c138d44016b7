// The snapshot sweep of citations: a group of lanes a citing document (CPU twin:
// engines/threads/citations.py). The document sees the snapshot and what its own earlier citations did, at
// both ends.

#if NETWORK
#define SEEN (32 / LANES)

// With ``starting``, citations get their first topics instead: each drawn from the proposal given the
// snapshot alone, and seated without tables of its own, which the repair opens where needed.
// Groups of a warp take documents of about as many citations and go through them in step.
KERNEL_OF(CITE_THREADS, CITE_BLOCKS)
sweep_citations(u64 key, int first_number, int last_number, int starting) {
  float *rows = group_rows(CITE_ROWS);
  int n_visited = 0, n_blocked = 0, n_accepted = 0;
  while (true) {
    int number = first_number + next_documents(1);
    if (number >= last_number) break;
    number += group_in_warp();
    bool mine = number < last_number;
    int d = ctx.cite_order[mine ? number : last_number - 1];
    i64 begin = ctx.cites[d];
    int length = mine ? (int)(ctx.cites[d + 1] - begin) : 0;
    if (!warp_any(length > 0)) continue;
    Slots slots;
    int n = ctx.level_start[CITED_LEVEL] + d;
#pragma unroll
    for (int level = CITED_LEVEL; level >= 0; level--) {
      load_slot(rows, slots, level, n);
      load_slot(rows, slots, DEPTHS + level, n);  // so that all slots hold something
      n = ctx.parent[n];
    }
    for (int k = lane_id(); k < K; k += LANES) {
      FLOATS(CROW_SCALE)[k] = (float)ctx.topic_scale[k];
      FLOATS(CROW_CITE)[k] = (float)(ctx.topic_scale[k] * ctx.cite_sum[k]);
      FLOATS(CROW_CITED)[k] = (float)(ctx.topic_scale[k] * ctx.cited_sum[k]);
    }
    Rng rng = open_stream(key, 1, (u64)d);
    int seen[SEEN][DEPTHS];  // nodes of the last 32 cited ends, spread over the lanes
#pragma unroll
    for (int i = 0; i < SEEN * DEPTHS; i++) seen[i / DEPTHS][i % DEPTHS] = -1;
    n_visited += length;
    for (int i = 0; warp_any(i < length); i++) {
      bool live = i < length;
      i64 e = begin + i;
      group_sync();
      slots.meet = 0;
      if (live) {
        n = ctx.level_start[CITED_LEVEL] + ctx.cited_document[e];
#pragma unroll
        for (int level = CITED_LEVEL; level > 0; level--) {
          if (n == slots.node[level]) {
            if (level > slots.meet) slots.meet = level;
            slots.node[DEPTHS + level] = n;
            slots.cite[DEPTHS + level] = slots.cited[DEPTHS + level] = 0.0f;
          } else {
            load_slot(rows, slots, DEPTHS + level, n);
          }
          n = ctx.parent[n];
        }
      }
      group_sync();
      int old = live && !starting ? ctx.citing_topic[e] : 0;
      if (starting) {
        int fresh = draw_citing_topic(live ? chance(rng) : 0.5f, rows, slots);
        if (live && lane_id() == 0) {
          ctx.citing_topic[e] = ctx.move_old[e] = ctx.move_new[e] = (short)fresh;
          for (int j = 0; j < 4; j++) ctx.move_depth[4 * e + j] = (unsigned char)(j & 1);
        }
        continue;
      }
#pragma unroll
      for (int level = CITED_LEVEL; level > 0; level--) {
        bool known = i > 32;
#pragma unroll
        for (int j = 0; j < SEEN; j++) known = known || seen[j][level] == slots.node[DEPTHS + level];
        bool asked = group_first(known) >= 0 && live && !met(slots, level);
        if (warp_any(asked)) add_own_moves(rows, slots, DEPTHS + level, level, begin, e, asked);
      }
      group_sync();
      if (i % LANES == lane_id()) {
#pragma unroll
        for (int j = 0; j < SEEN; j++)
          if (i / LANES % SEEN == j) {
#pragma unroll
            for (int level = 1; level < DEPTHS; level++)
              seen[j][level] = slots.node[DEPTHS + level];
          }
      }
      Depths depths = {0, 0, 0, 0};
      float climb[DEPTHS], stay[DEPTHS];
      // both ends leave, the cited one first
      if (live) depths.second_out = draw_cite_removal<1>(rng, rows, slots, old);
      bool goes = depths.second_out > 0;
      int at_root = INTS(CROW_C)[old];
      group_sync();
      if (goes) move_cite<1>(rows, slots, old, depths.second_out, -1, at_root);
      group_sync();
      float weight_old = path_weight<1>(rows, slots, old, climb, stay);
      if (goes) depths.first_out = draw_cite_removal<0>(rng, rows, slots, old);
      bool moves = depths.first_out > 0;
      n_blocked += live && !moves;
      at_root = INTS(CROW_C)[old];
      group_sync();
      if (goes && !moves) move_cite<1>(rows, slots, old, depths.second_out, 1, at_root);
      if (moves) move_cite<0>(rows, slots, old, depths.first_out, -1, at_root);
      group_sync();
      // a topic for both; then they come back, the citing one first
      int k = draw_citing_topic(moves ? chance(rng) : 0.5f, rows, slots);
      float proposed_old = FLOATS(CROW_SECOND)[old], proposed_new = FLOATS(CROW_SECOND)[k];
      path_weight<0>(rows, slots, k, climb, stay);
      if (moves) depths.first_in = draw_cite_addition(rng, climb, stay);
      at_root = INTS(CROW_C)[k];
      group_sync();
      if (moves) move_cite<0>(rows, slots, k, depths.first_in, 1, at_root);
      group_sync();
      float weight_new = path_weight<1>(rows, slots, k, climb, stay);
      if (moves) depths.second_in = draw_cite_addition(rng, climb, stay);
      at_root = INTS(CROW_C)[k];
      group_sync();
      if (moves) move_cite<1>(rows, slots, k, depths.second_in, 1, at_root);
      group_sync();
      // the second end's weight beside the first's new tables, over the weight proposed with
      float coupling = weight_new * proposed_old / (weight_old * proposed_new);
      bool changes = moves && (k != old || depths.first_in != depths.first_out ||
                               depths.second_in != depths.second_out);
      float change = 0.0f;
      if (warp_any(changes)) change = cite_change(rows, slots, old, k, depths);
      if (!changes) change = 0.0f;
      bool accepted = moves && chance(rng) < coupling * expf(-change);
      n_accepted += accepted;
      group_sync();
      if (accepted && changes) commit_cite_change(rows, slots, old, k);
      bool undone = moves && !accepted;
      if (warp_any(undone)) {
        at_root = INTS(CROW_C)[k];
        group_sync();
        if (undone) {  // both at once: only mu's table needs to know how many are left
          move_cite<1>(rows, slots, k, depths.second_in, -1, at_root);
          if (depths.second_in == DEPTHS) at_root--;
          move_cite<0>(rows, slots, k, depths.first_in, -1, at_root);
        }
        group_sync();
        at_root = INTS(CROW_C)[old];
        group_sync();
        if (undone) {
          move_cite<0>(rows, slots, old, depths.first_out, 1, at_root);
          if (depths.first_out == DEPTHS) at_root++;
          move_cite<1>(rows, slots, old, depths.second_out, 1, at_root);
        }
        group_sync();
      }
      if (live && lane_id() == 0) {
        ctx.move_old[e] = (short)old;
        ctx.move_new[e] = (short)(accepted ? k : old);
        if (accepted) ctx.citing_topic[e] = (short)k;
        unsigned char *depth = ctx.move_depth + 4 * e;
        depth[0] = (unsigned char)(accepted ? depths.first_out : 0);
        depth[1] = (unsigned char)(accepted ? depths.first_in : 0);
        depth[2] = (unsigned char)(accepted ? depths.second_out : 0);
        depth[3] = (unsigned char)(accepted ? depths.second_in : 0);
#pragma unroll
        for (int level = 1; level < CITED_LEVEL; level++) {
          EACH_SLOT(1, level, {
            ctx.move_weight[(e * CITED_LEVEL + level) * 2] = slots.cite[slot];
            ctx.move_weight[(e * CITED_LEVEL + level) * 2 + 1] = slots.cited[slot];
          })
        }
      }
    }
    group_sync();
  }
  if (lane_id() == 0) {
    add_to(ctx.tally + CITE_VISITED, (u64)n_visited);
    add_to(ctx.tally + CITE_BLOCKED, (u64)n_blocked);
    add_to(ctx.tally + CITE_ACCEPTED, (u64)n_accepted);
  }
}
#endif
