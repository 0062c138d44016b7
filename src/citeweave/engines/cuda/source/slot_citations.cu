// The snapshot sweep of citations over slots (citations.cu has the same over all topics). As with words,
// a topic is proposed: from those that either end or its listed author has without the citation, or
// from guesses. The rest is as over all topics: both ends leave, both come back, and what the proposal
// left out (the coupling of the ends, the exponential) decides whether they stay.

#if NETWORK
#define SEEN (32 / LANES)

// The nodes of a citation's cited end, and their counts in all slots; topics that have no slot yet
// get one, and slots from ``from`` on are filled. Every group of a warp takes part; gives the number
// of slots.
DEV int enter_cited(Rows rows, int from, int n_slots, unsigned *have, Slots &slots,
                    Beyond &beyond, Listed &all, i64 first, i64 e, bool live) {
  slots.meet = 0;
  if (live) {
    int n = ctx.level_start[CITED_LEVEL] + ctx.cited_document[e];
#pragma unroll
    for (int level = CITED_LEVEL; level > 0; level--) {
      if (n == slots.node[level]) {
        if (level > slots.meet) slots.meet = level;
        slots.node[DEPTHS + level] = n;
        slots.cite[DEPTHS + level] = slots.cited[DEPTHS + level] = 0.0f;
      } else {
        load_node(slots, DEPTHS + level, n);
      }
      n = ctx.parent[n];
    }
  }
  int above = N_SHARED > 1 ? slots.node[DEPTHS + N_SHARED - 1] : -1;
  all.cited = N_SHARED == 1 || listed(above);
  n_slots =
      list_topics(rows, n_slots, have, live ? slots.node[DEPTHS + N_SHARED] : -1,
                  live && all.cited ? above : -1);
  if (warp_any(n_slots > from)) fill_slots(rows, from, n_slots, slots, beyond, first, e);
  for (int slot = lane_id(); slot < n_slots && live; slot += LANES) {
#pragma unroll
    for (int level = 1; level <= CITED_LEVEL; level++)
      if (!met(slots, level))
        fill_cited(rows, slot, level, slots.node[DEPTHS + level],
                   level == N_SHARED || (level == N_SHARED - 1 && all.cited));
  }
  group_sync();
  return n_slots;
}

KERNEL_OF(CITE_THREADS, CITE_BLOCKS)
sweep_citations(u64 key, int first_number, int last_number, int starting) {
  Rows rows = group_cells<CITE_ROWS, CROW_TOPIC>(BIT_WORDS);
  unsigned *have = (unsigned *)(rows.near_cells + NEAR_TILES * CITE_ROWS * LANES);
  int n_visited = 0, n_blocked = 0, n_accepted = 0, n_outside = 0, n_refused = 0;
  float guess_mass = ctx.guess_mass[N_WORDS];
  float guess_unit = quotient(guess_mass, (float)ctx.cite_guess[K - 1]);
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
    Listed all;
    int n = ctx.level_start[CITED_LEVEL] + d;
#pragma unroll
    for (int level = CITED_LEVEL; level >= 0; level--) {
      load_node(slots, level, n);
      load_node(slots, DEPTHS + level, n);  // so that all places hold something
      n = ctx.parent[n];
    }
    int above = N_SHARED > 1 ? slots.node[N_SHARED - 1] : -1;
    all.citing = N_SHARED == 1 || listed(above);
    Beyond beyond;
    beyond.x = ctx.outer[0];
    beyond.y = ctx.outer[1];
    beyond.z = ctx.outer[2];
#pragma unroll
    for (int level = 0; level < N_SHARED; level++) beyond.cite[level] = beyond.cited[level] = 0.0f;
    beyond.recorded = false;
    for (int i = lane_id(); i < BIT_WORDS; i += LANES) have[i] = 0u;
    group_sync();
    int kept = list_topics(rows, 0, have, slots.node[N_SHARED], all.citing ? above : -1);
    Rng rng = open_stream(key, 1, (u64)d);
    int seen[SEEN][DEPTHS];  // nodes of the last 32 cited ends, spread over the lanes
#pragma unroll
    for (int i = 0; i < SEEN * DEPTHS; i++) seen[i / DEPTHS][i % DEPTHS] = -1;
    n_visited += length;
    for (int i = 0; warp_any(i < length); i++) {
      bool live = i < length;
      i64 e = begin + i;
      group_sync();
      int n_slots = enter_cited(rows, i == 0 ? 0 : kept, kept, have, slots, beyond, all, begin, e,
                                live);
      if (!starting) {
#pragma unroll
        for (int level = CITED_LEVEL; level > 0; level--) {
          bool known = i > 32;
#pragma unroll
          for (int j = 0; j < SEEN; j++)
            known = known || seen[j][level] == slots.node[DEPTHS + level];
          if (group_first(known) >= 0 && live && !met(slots, level))
            add_own_moves(rows, n_slots, slots, DEPTHS + level, level, begin, e);
        }
        if (i % LANES == lane_id()) {
#pragma unroll
          for (int j = 0; j < SEEN; j++)
            if (i / LANES % SEEN == j) {
#pragma unroll
              for (int level = 1; level < DEPTHS; level++)
                seen[j][level] = slots.node[DEPTHS + level];
            }
        }
      }
      group_sync();
      int old_topic = live && !starting ? ctx.citing_topic[e] : -1;
      int old = find_slot(rows, n_slots, old_topic);
      if (old < 0) old = 0;
      Depths depths = {0, 0, 0, 0};
      float climb[DEPTHS], stay[DEPTHS];
      // both ends leave, the cited one first
      if (live && !starting) depths.second_out = draw_cite_removal<1>(rng, rows, slots, old);
      bool goes = depths.second_out > 0;
      int at_root = INTS(CROW_C)[old];
      group_sync();
      if (goes) move_cite<1>(rows, slots, old, depths.second_out, -1, at_root);
      group_sync();
      float weight_old = goes ? path_weight<1>(rows, slots, old, climb, stay) : 1.0f;
      if (goes) depths.first_out = draw_cite_removal<0>(rng, rows, slots, old);
      bool moves = depths.first_out > 0;
      n_blocked += live && !starting && !moves;
      at_root = INTS(CROW_C)[old];
      group_sync();
      if (goes && !moves) move_cite<1>(rows, slots, old, depths.second_out, 1, at_root);
      if (moves) move_cite<0>(rows, slots, old, depths.first_out, -1, at_root);
      group_sync();
      // a topic is proposed for both
      bool draws = moves || (live && starting);
      float outside_scale = end_outside<0>(slots, all.citing) * end_outside<1>(slots, all.cited);
      // where nothing is drawn the cited end's counts are not there
      float mass = weigh_ends(rows, draws ? n_slots : 0, slots, all);
      float total = group_sum(mass) + outside_scale * guess_mass;
      int k = pick_cite_slot(rows, n_slots, (draws ? chance(rng) : 0.0f) * total, mass);
      bool outside = draws && k < 0;
      n_outside += outside;
      int topic = 0;
      if (warp_any(outside)) {
        topic = draw_guess(outside ? (unsigned)(advance(rng) >> 32) : 0u, ctx.cite_guess);
        int slot = find_slot(rows, n_slots, topic);
        if (outside) k = slot;
      }
      group_sync();
      if (k >= 0) topic = INTS(CROW_TOPIC)[k];
      if (starting) {
        if (live && lane_id() == 0) {
          ctx.citing_topic[e] = ctx.move_old[e] = ctx.move_new[e] = (short)topic;
          for (int j = 0; j < 4; j++) ctx.move_depth[4 * e + j] = (unsigned char)(j & 1);
        }
        group_sync();
        kept = drop_slots(rows, kept, n_slots, have, beyond, -1);
        continue;
      }
      bool stands = moves;
      float proposed_old = FLOATS(CROW_SECOND)[old], proposed_new = proposed_old;
      if (moves && k >= 0) proposed_new = FLOATS(CROW_SECOND)[k];
      if (moves && k != old) {
        float unit = outside_scale * guess_unit;
        float before = FLOATS(CROW_MASS)[old], after;
        if (k >= 0) {
          after = FLOATS(CROW_MASS)[k];
        } else {
          float fresh = fresh_weight(slots);
          proposed_new = stranger_end<1>(slots, topic, fresh);
          after = -(float)ctx.topic_scale[topic] * stranger_end<0>(slots, topic, fresh) *
                  proposed_new;
        }
        float from = (before > 0.0f ? before : 0.0f) +
                     unit * (float)guess_at(ctx.cite_guess, old_topic);
        float to = (after > 0.0f ? after : 0.0f) + unit * (float)guess_at(ctx.cite_guess, topic);
        stands = chance(rng) * (fabsf(before) * to) < fabsf(after) * from;
        n_refused += !stands;
      }
      bool joins = stands && k < 0;
      if (warp_any(joins)) {
        group_sync();
        int from = n_slots;
        if (joins) {
          k = n_slots;
          n_slots++;
          if (lane_id() == 0) {
            INTS(CROW_TOPIC)[k] = topic;
            have[topic / 32] |= 1u << (topic % 32);
          }
        }
        group_sync();
        // the slot is filled from the snapshot, which has all there is of this topic
        fill_slots(rows, from, n_slots, slots, beyond, begin, e);
        if (joins && lane_id() == k % LANES) {
#pragma unroll
          for (int level = 1; level <= CITED_LEVEL; level++)
            if (!met(slots, level))
              fill_cited(rows, k, level, slots.node[DEPTHS + level], false);
        }
        group_sync();
      }
      // they come back, the citing one first
      if (!stands) k = old;
      if (stands) {
        path_weight<0>(rows, slots, k, climb, stay);
        depths.first_in = draw_cite_addition(rng, climb, stay);
      }
      at_root = INTS(CROW_C)[k];
      group_sync();
      if (stands) move_cite<0>(rows, slots, k, depths.first_in, 1, at_root);
      group_sync();
      float weight_new = 1.0f;
      if (stands) {
        weight_new = path_weight<1>(rows, slots, k, climb, stay);
        depths.second_in = draw_cite_addition(rng, climb, stay);
      }
      at_root = INTS(CROW_C)[k];
      group_sync();
      if (stands) move_cite<1>(rows, slots, k, depths.second_in, 1, at_root);
      group_sync();
      // the second end's weight beside the first's new tables, over the weight proposed with
      float coupling = weight_new * proposed_old / (weight_old * proposed_new);
      bool changes = stands && (k != old || depths.first_in != depths.first_out ||
                                depths.second_in != depths.second_out);
      float change = 0.0f;
      Wide wide = {false, false, false, 0.0, 0.0};
      if (warp_any(changes)) {
        pending_change(rows, slots, old, k, depths);
        if (changes) wide = how_wide(slots, all);
        change = cite_change(rows, n_slots, have, slots, beyond, wide, old, k, begin, e);
      }
      if (!changes) change = 0.0f;
      bool accepted = stands && chance(rng) < coupling * expf(-change);
      n_accepted += accepted;
      bool made = accepted && changes;
      group_sync();
      if (made) commit_cite_change(rows, n_slots, slots, old, k);
      bool undone = stands && !accepted;
      if (warp_any(undone)) {
        at_root = INTS(CROW_C)[k];
        group_sync();
        if (undone) {  // both at once: only mu's table needs to know how many are left
          move_cite<1>(rows, slots, k, depths.second_in, -1, at_root);
          if (depths.second_in == DEPTHS) at_root--;
          move_cite<0>(rows, slots, k, depths.first_in, -1, at_root);
        }
        group_sync();
      }
      bool back = moves && !accepted;
      if (warp_any(back)) {
        at_root = INTS(CROW_C)[old];
        group_sync();
        if (back) {
          move_cite<0>(rows, slots, old, depths.first_out, 1, at_root);
          if (depths.first_out == DEPTHS) at_root++;
          move_cite<1>(rows, slots, old, depths.second_out, 1, at_root);
        }
        group_sync();
      }
      if (live && lane_id() == 0) {
        ctx.move_old[e] = (short)old_topic;
        ctx.move_new[e] = (short)(accepted ? topic : old_topic);
        if (accepted) ctx.citing_topic[e] = (short)topic;
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
#pragma unroll
        for (int level = 1; level < N_SHARED; level++) {
          float *slope = ctx.move_slope + (e * N_SHARED + level) * 2;
          bool apart = made && !met(slots, level) && !(level == N_SHARED - 1 && all.cited);
          slope[0] = apart ? slots.cite_slope[DEPTHS + level] : 0.0f;
          slope[1] = apart ? slots.cited_slope[DEPTHS + level] : 0.0f;
        }
      }
      group_sync();
      if (warp_any(made)) commit_beyond(have, slots, beyond, made, wide, begin, e);
      if (made && keeps_slots(slots, all)) kept = n_slots;
      kept = drop_slots(rows, kept, n_slots, have, beyond, accepted ? k : -1);
    }
    group_sync();
  }
  if (lane_id() == 0) {
    add_to(ctx.tally + CITE_VISITED, (u64)n_visited);
    add_to(ctx.tally + CITE_BLOCKED, (u64)n_blocked);
    add_to(ctx.tally + CITE_ACCEPTED, (u64)n_accepted);
    add_to(ctx.tally + CITE_OUTSIDE, (u64)n_outside);
    add_to(ctx.tally + CITE_REFUSED, (u64)n_refused);
  }
}
#endif
