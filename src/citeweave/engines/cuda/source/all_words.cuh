// Words of a document over all topics: a column for each (slot_words.cuh: over those that matter to
// the document). Its topic is drawn from the weights of all.

struct Walk {
  float *rows;
  Stream draws;
  METHOD Topic operator[](int k) const { return {{rows + k}, k}; }
};

DEV Walk begin_walk() {
  Walk walk;
  walk.rows = group_rows(WORD_FIELDS);
  read_topic_scales();
  return walk;
}

// Fill the columns of a document from the snapshot.
DEV void enter_document(Walk &walk, Path &path, u64 key, const Turn &turn, const Betas &betas) {
#pragma unroll
  for (int level = 0; level < LEVELS; level++) {
#pragma unroll 1  // once a document: the room in the instruction cache is worth more
    for (int k = lane_id(); k < K; k += LANES) {
      int c = ctx.customers[(i64)path.node[level] * K + k], t = 0;
      if (level > 0) {
        t = ctx.tables[(i64)path.node[level] * K + k];
        walk[k].set_weights(FIELD_STAY(level), weight_pair(level, c, t));
      }
      walk[k].set_seats(level, c, t);
    }
  }
  for (int k = lane_id(); k < K; k += LANES) {
    Topic topic = walk[k];
    topic.set_pair(FIELD_TOTAL, 0, 0);
    topic.set_pair(FIELD_WORD, 0, 0);
    refresh_phi(topic, betas.phi);
#if BURST
    topic.set_pair(FIELD_OWN, 0, 0);
    topic.set_pair(FIELD_RUN, 0, 0);
#endif
#if NETWORK
    topic.real(FIELD_CITE) = (float)(ctx.topic_scale[k] * ctx.cite_sum[k]);
    topic.real(FIELD_CITED) = (float)(ctx.topic_scale[k] * ctx.cited_sum[k]);
#endif
  }
  group_sync();
#if BURST
  for (i64 i = turn.begin + lane_id(); i < turn.begin + turn.length; i += LANES)
    walk[ctx.topic[i]].count_token(FIELD_OWN, ctx.burst_table[i]);
  group_sync();
#endif
  walk.draws.rng = open_stream(key, 0, (u64)ctx.document_number[turn.document]);
}

DEV void leave_document(const Walk &walk, const Path &path) {
#pragma unroll
  for (int level = 1; level < LEVELS; level++)
    for (int k = lane_id(); k < K; k += LANES) leave_topic(walk[k], path, level);
  leave_path(path);
}

// A run of tokens of one word begins: its weights, and who sits where.
DEV void open_run(Walk &walk, const Word &word, const short *topics, i64 begin) {
  for (int k = lane_id(); k < K; k += LANES)
    walk[k].set_weights(FIELD_WORD_STAY, {ctx.stay[word.row + k], ctx.open[word.row + k]});
#if BURST
  if (!word.single)
    for (int j = word.begin + lane_id(); j < word.end; j += LANES)
      walk[topics[j]].count_token(FIELD_RUN, ctx.burst_table[begin + j]);
#endif
}

// A run ends: the word comes again in no later one. ``old`` and ``k`` are its last token's topics.
DEV void close_run(Walk &walk, const Word &word, const short *topics, i64 begin, int old, int k) {
#if BURST
  if (lane_id() == 0) {
    if (word.single) ctx.burst_table[begin + word.begin] = 1;
    // who holds a table is forgotten: the first tokens of each topic get the bits
    for (int j = word.begin; j < word.end && !word.single; j++) {
      int tables = walk[topics[j]].pair(FIELD_RUN).tables;
      int held = tables > 0 ? 1 : 0;
      ctx.burst_table[begin + j] = (unsigned char)held;
      walk[topics[j]].set_pair(FIELD_RUN, 0, tables - held);
    }
  }
#endif
  if (word.single) {
    if (lane_id() == 0) {
      walk[old].set_pair(FIELD_WORD, 0, 0);
      walk[k].set_pair(FIELD_WORD, 0, 0);
    }
  } else {
    for (int j = lane_id(); j < K; j += LANES) walk[j].set_pair(FIELD_WORD, 0, 0);
  }
}

// The column of a token's topic.
DEV int begin_token(Walk &, const Word &, int, int topic, bool) { return topic; }

// Add what a token's move did to phi at its word to the changes of the sweep: lane 0 what the old topic
// lost, the last lane what the new one gained.
DEV void tell_phi(const Walk &, const Word &word, int old, int k, int word_out, int word_in) {
  int left = word_out > BURST, closed = word_out > BURST + 1;
  int came = word_in > BURST, opened = word_in > BURST + 1;
  if (k == old) {
    came -= left;
    opened -= closed;
    left = closed = 0;
  }
  if (lane_id() == 0) {
    if (left) add_to(ctx.change_customers + word.row + old, -1);
    if (closed) add_to(ctx.change_tables + word.row + old, -1);
  }
  if (lane_id() == LANES - 1) {
    if (came) add_to(ctx.change_customers + word.row + k, came);
    if (opened) add_to(ctx.change_tables + word.row + k, opened);
  }
}

// The topic where the sum of weights passes a share of the whole; a token that stays where it is keeps
// its own.
DEV int choose_topic(Walk &walk, const Path &, const Word &word, const Scales &scales,
                     const Betas &betas, int old, bool moves, bool, bool &stands) {
  float share = moves ? walk.draws.at(DRAW_PICK) : 0.5f;
  float mass = 0.0f;
#if HELD
  float weight[CHUNKS];
#pragma unroll
#else
#pragma unroll 4
#endif
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    int k = chunk * LANES + lane_id();
    float value = 0.0f;
    if (k < K) value = topic_weight(walk[k], scales, word.single, betas);
#if HELD
    weight[chunk] = value;
#else
    if (k < K) walk[k].real(FIELD_WEIGHT) = value;
#endif
    mass += value;
  }
  Hit hit = find_hit(share, mass);
  // the lane that was hit looks among its own topics
  int last = lane_id();
  bool found = false;
#if HELD
#pragma unroll
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    float value = weight[chunk];
    if (!found && value > 0.0f) last = chunk * LANES + lane_id();
    found = found || hit.target < value;
    hit.target -= value;
  }
#else
  for (int k = lane_id(); k < K && lane_id() == hit.lane && !found; k += LANES) {
    float value = walk[k].real(FIELD_WEIGHT);
    if (value > 0.0f) last = k;
    found = hit.target < value;
    hit.target -= value;
  }
#endif
  int drawn = group_from(last, hit.lane);
  stands = moves;
  return moves ? drawn : old;
}

DEV void tell_choices(const Walk &) {}

#if NETWORK
DEV void enter_network(Walk &, const Path &, bool) {}

// Change of E by a move already made in the counts.
DEV float exponent_change(const Walk &walk, const Path &path, WordChange &change, int before,
                          int after, int out, int into) {
  pending_change(path, change, walk[before], walk[after], before == after, out, into);
  float sum = 0.0f;
#pragma unroll CHUNK_UNROLL
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    int k = chunk * LANES + lane_id();
    Gain gain = {0.0f, 0.0f};
    if (k < K) {
      gain = topic_gain(change, walk[k], k == before, k == after);
      sum += walk[k].rate(gain);
    }
#if HELD
    change.gain[chunk] = gain;
#endif
  }
  return group_sum(sum);
}

DEV void commit_change(const Walk &walk, WordChange &change, int before, int after) {
#pragma unroll CHUNK_UNROLL
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    int k = chunk * LANES + lane_id();
    if (k >= K) continue;
#if HELD
    Gain gain = change.gain[chunk];
#else
    Gain gain = topic_gain(change, walk[k], k == before, k == after);
#endif
    walk[k].add_gain(gain);
  }
  commit_weights(change);
}
#endif
