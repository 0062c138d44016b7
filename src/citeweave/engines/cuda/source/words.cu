// The snapshot sweep of words: a group of lanes a document (CPU twins: engines/threads/words.py over all
// topics, engines/slots/words.py over slots). What differs between the two is in all_words.cuh and
// slot_words.cuh: a ``Walk`` over the columns of a document's topics, what it does where documents, runs
// of a word and tokens begin and end, and how it comes by a token's new topic.

// What the next token needs is read a token ahead: nobody changes it meanwhile.
struct Ahead {
  int topic, word;
  Seats phi;
  METHOD void read_token(const short *topics, const int *words, int i) {
    topic = topics[i];
    word = words[i];
  }
  METHOD void read_phi() {
    i64 place = (i64)word * K + topic;
    phi = {ctx.word_customers[place], ctx.word_tables[place]};
  }
};

DEV Word no_word() {
  Word word;
  word.id = word.begin = word.end = 0;
  word.row = 0;
  word.single = true;
  word.customers = word.tables = 0;
  word.weight = {0.0f, 1.0f};
  word.total_customers = (int)ctx.background_totals[0];
  word.total_tables = (int)ctx.background_totals[1];
  return word;
}

// The run of tokens that begins with token i.
DEV void next_word(Word &word, int id, const int *words, i64 begin, int i, int length) {
  word.id = id;
  word.begin = i;
  word.end = i + 1;
#if PACKED
  word.end = i + ctx.run[begin + i];
#else
  while (word.end < length && words[word.end] == word.id) word.end++;
#endif
  word.single = word.end - word.begin == 1;
  word.row = (i64)word.id * K;
#if BACKGROUND
  word.customers = ctx.background_customers[word.id];
  word.tables = ctx.background_tables[word.id];
  word.weight = ctx.background_pair[word.id];
#endif
}

// Groups of a warp take documents of about the same length and go through them in step, token by
// token; a group that has nothing to do in a step takes part all the same.
KERNEL_OF(WORD_THREADS, WORD_BLOCKS) sweep_words(u64 key, int first, int last, int network_on) {
  Walk walk = begin_walk();
  int n_visited = 0, n_blocked = 0, n_corrected = 0, n_rejected = 0;
  Betas betas = {(float)ctx.word_concentration[0], (float)ctx.topic_word_concentration[0],
                 (float)ctx.word_concentration[1]};
  Turn turn;
  while (take_turn(turn, 0, ctx.order, ctx.document_start, first, last)) {
    const i64 begin = turn.begin;
    const int length = turn.length;
    Path path;
    enter_path(path, turn.document);
    enter_document(walk, path, key, turn, betas);
#if NETWORK
    WordChange change;
    enter_network(walk, path, network_on);
    enter_change(change, path, network_on);
#endif
    Word word = no_word();
    int background_before = 0;
    n_visited += length;
    const int *words = ctx.word + begin;
    short *topics = ctx.topic + begin;
    Ahead ahead = {0, 0, {0, 0}};
    if (length > 0) {
      ahead.read_token(topics, words, 0);
      ahead.read_phi();
    }
    for (int i = 0; warp_any(i < length); i++) {
      bool live = i < length;
      bool opens = live && i == word.end;
      if (warp_any(opens)) {
        if (opens) {
          next_word(word, ahead.word, words, begin, i, length);
          background_before = word.tables;
          open_run(walk, word, topics, begin);
        }
        group_sync();
      }
      // the token leaves
      int found = begin_token(walk, word, i, ahead.topic, live);
      int old = live ? found : 0;
      Topic old_topic = walk[old];
      int topic_out = 0, word_out = 0;
      Seats phi = {0, 0};
      if (live) {
        Seats did = old_topic.pair(FIELD_WORD);
        phi = {ahead.phi.customers + did.customers, ahead.phi.tables + did.tables};
        topic_out = draw_topic_removal<LEVELS - 1>(
            walk.draws, old_topic, held_tables(path.node[N_SHARED], old_topic.number()));
        word_out = draw_word_removal(walk.draws, old_topic, word, phi);
      }
      bool another = i + 1 < length;
      if (another) ahead.read_token(topics, words, i + 1);
      bool moves = topic_out > 0 && word_out > 0;
      n_blocked += live && !moves;
      int at_root = old_topic.root();
      group_sync();
      if (moves) {
        move_topic(old_topic, path, topic_out, -1, at_root);
        move_word(old_topic, word, topic_out, word_out, -1, false, phi, betas);
      }
      group_sync();
      Scales scales = scales_of(path, word, betas);
      if (another) ahead.read_phi();
      // it comes back; with the tables it had where no other topic was taken
      bool stands;
      int k = choose_topic(walk, path, word, scales, betas, old, moves, network_on, stands);
      Topic topic = walk[k];
      int topic_in = topic_out, word_in = word_out;
      if (moves) phi = phi_seats(topic, word);
      if (stands) {
        topic_in = draw_path_addition(walk.draws, topic, scales);
        word_in = draw_word_addition(walk.draws, topic, word, scales, betas);
      }
      at_root = topic.root();
      group_sync();
      if (moves) move_topic(topic, path, topic_in, 1, at_root);
#if NETWORK
      if (network_on) {
        int out = topic_out > BELOW ? topic_out - BELOW : 0;
        int into = topic_in > BELOW ? topic_in - BELOW : 0;
        bool asks = moves && (out > 0 || into > 0) && (k != old || out != into);
        if (warp_any(asks)) {
          group_sync();
          float rate = exponent_change(walk, path, change, old, k, out, into);
          bool allowed = !asks || rate <= 0.0f || walk.draws.at(DRAW_ALLOW) < expf(-rate);
          n_corrected += asks;
          n_rejected += !allowed;
          group_sync();
          if (asks && allowed) commit_change(walk, change, old, k);
          if (warp_any(!allowed)) {
            at_root = topic.root();
            group_sync();
            if (!allowed) {
              move_topic(topic, path, topic_in, -1, at_root);
              k = old;
              topic = old_topic;
              topic_in = topic_out;
              word_in = word_out;
              phi = phi_seats(topic, word);
            }
            group_sync();
            at_root = topic.root();
            group_sync();
            if (!allowed) move_topic(topic, path, topic_in, 1, at_root);
          }
        }
      }
#endif
      bool closes = live && i + 1 == word.end;
      if (moves) {
        move_word(topic, word, topic_in, word_in, 1, closes, phi, betas);
        if (lane_id() == 0) topics[i] = (short)topic.number();
      }
      group_sync();
      // what was done to phi leaves the document here; columns say it to later tokens of the run
      if (moves) tell_phi(walk, word, old, k, word_out, word_in);
      if (warp_any(closes)) {
        if (closes) {
          close_run(walk, word, topics, begin, old, k);
#if BACKGROUND
          if (word.tables != background_before && lane_id() == 0)
            add_to(ctx.change_background + word.id, word.tables - background_before);
#endif
        }
        group_sync();
      }
    }
    if (length > 0) leave_document(walk, path);
    group_sync();
  }
  if (lane_id() == 0) {
    add_to(ctx.tally + WORD_VISITED, (u64)n_visited);
    add_to(ctx.tally + WORD_BLOCKED, (u64)n_blocked);
    add_to(ctx.tally + WORD_CORRECTED, (u64)n_corrected);
    add_to(ctx.tally + WORD_REJECTED, (u64)n_rejected);
    tell_choices(walk);
  }
}
