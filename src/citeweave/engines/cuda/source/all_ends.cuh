// The two ends of a citation over all topics (slot_ends.cuh: over those that matter to the two).

#if NETWORK
DEV void load_slot(float *rows, Slots &slots, int slot, int node) {
  load_node(slots, slot, node);
  for (int k = lane_id(); k < K; k += LANES) {
    INTS(CROW_C + slot)[k] = ctx.customers[(i64)node * K + k];
    INTS(CROW_T + slot)[k] = ctx.tables[(i64)node * K + k];
  }
}

// Let the node in a slot of the cited end have what the document's citations first to e - 1 did
// to it when it was their cited end. Nothing is done where ``asked`` is false.
DEV void add_own_moves(float *rows, Slots &slots, int slot, int level, i64 first, i64 e,
                       bool asked) {
  int node = slots.node[slot], step = CITED_LEVEL - level;
  int customers = 0, tables = 0, latest = -1;
  for (i64 before = first + lane_id(); before < e && asked; before += LANES) {
    const unsigned char *depth = ctx.move_depth + 4 * before;
    int out = depth[2], into = depth[3];
    if (depth[0] + out + depth[1] + into == 0) continue;
    if (ancestor(ctx.cited_document[before], level) != node) continue;
    latest = (int)(before - first);
    int old = ctx.move_old[before], fresh = ctx.move_new[before];
    if (step < out) add_to(INTS(CROW_C + slot) + old, -1);
    if (step + 1 < out) add_to(INTS(CROW_T + slot) + old, -1);
    if (step < into) add_to(INTS(CROW_C + slot) + fresh, 1);
    if (step + 1 < into) add_to(INTS(CROW_T + slot) + fresh, 1);
    customers += (step < into) - (step < out);
    tables += (step + 1 < into) - (step + 1 < out);
  }
  slots.customers[slot] += group_sum(customers);
  slots.tables[slot] += group_sum(tables);
  latest = group_max(latest);
  if (latest >= 0 && level < CITED_LEVEL) {
    const float *weight = ctx.move_weight + ((first + latest) * CITED_LEVEL + level) * 2;
    slots.cite[slot] = weight[0];
    slots.cited[slot] = weight[1];
  }
}

// Every topic's weight at both ends, up to one factor each, and a draw from their product.
DEV int draw_citing_topic(float share, float *rows, const Slots &slots) {
  float first_scale[DEPTHS], second_scale[DEPTHS];
#pragma unroll
  for (int level = 1; level <= CITED_LEVEL; level++) {
    first_scale[level] = scale_at<0>(slots, level);
    second_scale[level] = scale_at<1>(slots, level);
  }
  float fresh = fresh_weight(slots);
  float mass = 0.0f;
  for (int k = lane_id(); k < K; k += LANES) {
    float first = root_value(INTS(CROW_C)[k], topic_discount(0), fresh), second = first;
#pragma unroll
    for (int level = 1; level <= CITED_LEVEL; level++) {
      Pair pair = weight_pair(level, INTS(CROW_C + level)[k], INTS(CROW_T + level)[k]);
      first = pair.stay + pair.open * (first_scale[level] * first);
      if (!met(slots, level)) {
        int row = DEPTHS + level;
        pair = weight_pair(level, INTS(CROW_C + row)[k], INTS(CROW_T + row)[k]);
      }
      second = pair.stay + pair.open * (second_scale[level] * second);
    }
    float value = FLOATS(CROW_SCALE)[k] * first * second;
    FLOATS(CROW_SECOND)[k] = second;
    FLOATS(CROW_MASS)[k] = value;
    mass += value;
  }
  float running = group_scan(mass);
  float total = group_from(running, LANES - 1);
  float target = share * total;
  int who = group_first(mass > 0.0f && target < running);
  int heaviest = group_last(mass > 0.0f);
  if (who < 0) who = heaviest < 0 ? 0 : heaviest;
  target -= running - mass;
  int last = lane_id();
  bool found = false;
  for (int k = lane_id(); k < K && lane_id() == who && !found; k += LANES) {
    float value = FLOATS(CROW_MASS)[k];
    if (value > 0.0f) last = k;
    found = target < value;
    target -= value;
  }
  group_sync();
  return group_from(last, who);
}

DEV float cite_change(float *rows, Slots &slots, int before, int after, const Depths &depths) {
  pending_change(rows, slots, before, after, depths);
  float cite, cited, sum = 0.0f;
  for (int k = lane_id(); k < K; k += LANES) {
    if (!slots.all && k != before && k != after) continue;
    cite_topic_change(rows, slots, k, before, after, cite, cited);
    sum += cite * (FLOATS(CROW_CITED)[k] + FLOATS(CROW_SCALE)[k] * cited) +
           FLOATS(CROW_CITE)[k] * cited;
  }
  return group_sum(sum);
}

DEV void commit_cite_change(float *rows, Slots &slots, int before, int after) {
  for (int k = lane_id(); k < K; k += LANES) {
    if (!slots.all && k != before && k != after) continue;
    float cite, cited;
    cite_topic_change(rows, slots, k, before, after, cite, cited);
    FLOATS(CROW_CITE)[k] += FLOATS(CROW_SCALE)[k] * cite;
    FLOATS(CROW_CITED)[k] += FLOATS(CROW_SCALE)[k] * cited;
  }
  commit_weights(slots);
}
#endif
