// What a word's move does to the citations' exponential (engines/core/exponent.py), on one path.

#if NETWORK
struct WordChange : Change<DEPTHS> {
#if HELD && !SPARSE
  Gain gain[CHUNKS];  // of a lane's topics
#endif
};

DEV void enter_change(WordChange &change, const Path &path, bool network_on) {
#pragma unroll
  for (int level = 0; level <= CITED_LEVEL; level++) {
    change.cite[level] = network_on ? (float)ctx.cite_weight[path.node[level]] : 0.0f;
    change.cited[level] = network_on ? (float)ctx.cited_weight[path.node[level]] : 0.0f;
  }
}

// Slopes, and what the two topics get besides, of a move already made in the counts. Over all topics
// nothing is left out where it would be zero: of the documents of a warp some ask for all of it.
DEV void pending_change(const Path &path, WordChange &change, const Topic &before,
                        const Topic &after, bool same, int out, int into) {
  float carry = 0.0f, carried = 0.0f;
  clear_change(change);
#pragma unroll
  for (int level = CITED_LEVEL; level >= 0; level--) {
    Moves moves = moves_at(CITED_LEVEL - level, out, into);
    if (SPARSE && moves.left + moves.came == 0 && carry == 0.0f && carried == 0.0f) continue;
    if (level == 0) count_root_tables(moves, before.root(), after.root(), same);
    change_node(change, level, topic_discount(level), path.beta[level], path.customers[level],
                path.tables[level], moves, carry, carried);
  }
}

DEV Gain topic_gain(const WordChange &change, const Topic &topic, bool before, bool after) {
  Gain gain = {0.0f, 0.0f};
  if (!SPARSE || change.all) add_slopes(change, topic, gain);
  add_moved(change, before, after, gain);
  return gain;
}
#endif
