// After a sweep: changes are added to the snapshot, and tables made valid again, from the lowest
// shared level up (CPU twin: engines/threads/merge.py). All sums are of integers, so no order shows.

DEV int valid_tables(int customers, int tables) {
  if (customers <= 0) return 0;
  int least = tables > 1 ? tables : 1;
  return least < customers ? least : customers;
}

// What each citation of a round did to the counts of its documents and the nodes above them. From
// ``n_own`` on, citations are those that papers receive from other parts of the chain: these tell the
// owners of the nodes above.
KERNEL add_moves(int n_citations, int n_own, int round, int rounds) {
#if NETWORK
  for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < n_citations;
       e += (i64)gridDim.x * blockDim.x) {
    if (ctx.document_number[ctx.citing[e]] % rounds != round) continue;
    const unsigned char *depth = ctx.move_depth + 4 * e;
    for (int end = e < n_own ? 0 : 1; end < 2; end++) {
      int out = depth[2 * end], into = depth[2 * end + 1];
      int n = ctx.level_start[CITED_LEVEL] + (end == 0 ? ctx.citing[e] : ctx.cited_document[e]);
      for (int step = 0; step < CITED_LEVEL; step++) {
        int left = step < out, closed = step + 1 < out;
        int came = step < into, opened = step + 1 < into;
        i64 old_place = (i64)n * K + ctx.move_old[e], new_place = (i64)n * K + ctx.move_new[e];
        bool own = CITED_LEVEL - step >= N_SHARED;
#if COMPACT  // papers' own rows are changed when they are repaired
        if (own) {
          if (!left && !came) break;
          n = ctx.parent[n];
          continue;
        }
#endif
        if (!own && e >= n_own) break;
        int *customers = own ? ctx.customers : ctx.node_customers;
        int *tables = own ? ctx.tables : ctx.node_tables;
        if (old_place == new_place) {  // most stay with their topic: what cancels is left out
          if (left != came) add_to(customers + new_place, came - left);
          if (closed != opened) add_to(tables + new_place, opened - closed);
        } else {
          if (left) add_to(customers + old_place, -1);
          if (closed) add_to(tables + old_place, -1);
          if (came) add_to(customers + new_place, 1);
          if (opened) add_to(tables + new_place, 1);
        }
        if (!left && !came) break;
        n = ctx.parent[n];
      }
    }
  }
#endif
}

#if COMPACT && NETWORK
// Go through what the citations of a round did to a paper, made or received: for each of them, the lane
// that has it is given its topics and how far it climbed.
template <typename Doing> DEV void each_move(i64 n, int round, int rounds, Doing doing) {
  i64 d = n - ctx.level_start[CITED_LEVEL];
  if (ctx.document_number[d] % rounds == round)
    for (i64 e = ctx.cites[d] + lane_id(); e < ctx.cites[d + 1]; e += LANES)
      doing(e, ctx.move_depth[4 * e], ctx.move_depth[4 * e + 1]);
  for (i64 i = ctx.received_start[d] + lane_id(); i < ctx.received_start[d + 1]; i += LANES) {
    i64 e = ctx.received_by[i];
    if (ctx.document_number[ctx.citing[e]] % rounds == round)
      doing(e, ctx.move_depth[4 * e + 2], ctx.move_depth[4 * e + 3]);
  }
}

// Whether they did anything at all: most stay with their topic.
DEV bool is_moved(i64 n, int round, int rounds) {
  int moved = 0;
  each_move(n, round, rounds, [&](i64 e, int out, int into) {
    moved += out != into || (out > 0 && ctx.move_old[e] != ctx.move_new[e]);
  });
  return group_sum(moved) > 0;
}

DEV void add_paper_moves(i64 n, const OpenRow &row, int round, int rounds) {
  each_move(n, round, rounds, [&](i64 e, int out, int into) {
    int before = ctx.move_old[e], after = ctx.move_new[e];
    if (out > 0) add_to(row.customers + before, -1);
    if (out > 1) add_to(row.tables + before, -1);
    if (into > 0) add_to(row.customers + after, 1);
    if (into > 1) add_to(row.tables + after, 1);
  });
  group_sync();
}
#endif

// Nodes of one level: tables into range; the parent's customers are told. Changes of nodes above
// documents are noted apart: they are added, and zero again.
template <bool NOTED> DEV void repair_level(int level, int round, int rounds) {
  int n_repaired = 0;
  for (i64 n = ctx.level_start[level] + first_group(); n < ctx.level_end[level];
       n += all_groups()) {
    int customers_total = 0, tables_total = 0;
#if COMPACT && NETWORK
    if (!NOTED && !is_moved(n, round, rounds)) continue;  // tables of all others are valid
#endif
    OpenRow row = open_row(n);
#if COMPACT && NETWORK
    if (!NOTED) add_paper_moves(n, row, round, rounds);
#endif
    for (int k = lane_id(); k < K; k += LANES) {
      i64 place = n * K + k;
      int customers = row.customers[k], wanted = row.tables[k];
      if (NOTED) {
        customers += ctx.node_customers[place];
        wanted += ctx.node_tables[place];
        row.customers[k] = customers;
        ctx.node_customers[place] = 0;
        ctx.node_tables[place] = 0;
      }
      int tables = valid_tables(customers, wanted);
      if (NOTED || tables != wanted) row.tables[k] = tables;
      if (tables != wanted) {
        n_repaired++;
        i64 above = (i64)ctx.parent[n] * K + k;
        if (level > N_SHARED)
          add_to(ctx.customers + above, tables - wanted);  // counts of such models are dense rows
        else if (level > 1)
          add_to(ctx.node_customers + above, tables - wanted);
      }
      customers_total += customers;
      tables_total += tables;
    }
    close_row(n, row);
    set_totals(n, customers_total, tables_total);
  }
  add_count(ctx.tally + REPAIRED_TOPICS, n_repaired);
}

// Papers that have lost tables which are held lose them for good: authors who do not serve them now
// give them up, in order.
KERNEL give_up_tables() {
#if AUTHORS
  int n_given = 0;
  for (i64 d = first_group(); d < N_DOCUMENTS; d += all_groups()) {
    int server = ctx.server[d];
    if (server < 0) continue;
    i64 n = ctx.level_start[N_SHARED] + d;
    for (int k = lane_id(); k < K; k += LANES) {
      int over = ctx.held[n * K + k] - ctx.tables[n * K + k];
      if (over <= 0) continue;
      n_given += over;
      ctx.held[n * K + k] -= over;
      add_to(ctx.node_customers + (i64)ctx.parent[n] * K + k, over);
      for (i64 a = ctx.server_start[d]; a < ctx.server_start[d + 1] && over > 0; a++) {
        if (a == server) continue;
        int served = ctx.served[a * K + k], gives = over < served ? over : served;
        if (gives == 0) continue;
        ctx.served[a * K + k] -= gives;
        add_to(ctx.node_customers + (i64)ctx.server_node[a] * K + k, -gives);
        over -= gives;
      }
    }
  }
  add_count(ctx.tally + REPAIRED_TOPICS, n_given);
#endif
}

// Documents' nodes, after the citations of a round.
KERNEL repair_documents(int level, int round, int rounds) {
  repair_level<false>(level, round, rounds);
}

// Nodes of a shared level below mu.
KERNEL repair_nodes(int level) { repair_level<true>(level, 0, 1); }

// Customers of mu are the tables of the level below it: added up into ``root_sum``, zero before.
KERNEL sum_root() {
  int *sums = (int *)shared_pool;
  for (int k = threadIdx.x; k < K; k += blockDim.x) sums[k] = 0;
  block_sync();
#if COMPACT
  for (i64 n = ctx.level_start[1] + first_group(); n < ctx.level_end[1]; n += all_groups()) {
    CountRow row = count_row(n);
    for (int place = lane_id(); place < row.used; place += LANES) {
      int tables = row.seats(place).tables;
      if (tables) add_to(sums + row.topic(place), tables);
    }
  }
#else
  i64 begin = (i64)ctx.level_start[1] * K, end = (i64)ctx.level_end[1] * K;
  i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 i = begin + (i64)blockIdx.x * blockDim.x + threadIdx.x; i < end; i += step) {
    int tables = ctx.tables[i];
    if (tables) add_to(sums + (int)((i - begin) % K), tables);
  }
#endif
  block_sync();
  for (int k = threadIdx.x; k < K; k += blockDim.x)
    if (sums[k]) add_to(ctx.root_sum + k, sums[k]);
}

// One group: mu from ``root_sum``, which is zero again afterwards.
KERNEL set_root() {
  if (first_group() > 0) return;
  int customers_total = 0, tables_total = 0;
  for (int k = lane_id(); k < K; k += LANES) {
    int customers = ctx.root_sum[k];
    ctx.root_sum[k] = 0;
    set_root_seats(k, customers, customers > 0 ? 1 : 0);
    customers_total += customers;
    tables_total += customers > 0 ? 1 : 0;
  }
  set_totals(0, customers_total, tables_total);
}

// phi and gamma: changes added, tables into range, the cached weights renewed. Totals must be zero
// before, they are added up here.
KERNEL repair_words() {
  int *sums = (int *)shared_pool;  // customers, then tables, of each topic
  for (int k = threadIdx.x; k < 2 * K; k += blockDim.x) sums[k] = 0;
  block_sync();
  int n_repaired = 0;
  i64 background_customers = 0, background_tables = 0;
  for (i64 w = first_group(); w < N_WORDS; w += all_groups()) {
    int below = 0;
    for (int k = lane_id(); k < K; k += LANES) {
      i64 place = w * K + k;
      int customers = ctx.word_customers[place] + ctx.change_customers[place];
      int wanted = ctx.word_tables[place] + ctx.change_tables[place];
      int tables = valid_tables(customers, wanted);
      n_repaired += tables != wanted;
      ctx.word_customers[place] = customers;
      ctx.word_tables[place] = tables;
      ctx.change_customers[place] = 0;
      ctx.change_tables[place] = 0;
      Pair pair = weight_pair(TABLE_PHI, customers, tables);
      ctx.stay[place] = pair.stay;
      ctx.open[place] = pair.open;
      if (customers) add_to(sums + k, customers);
      if (tables) add_to(sums + K + k, tables);
      below += tables;
    }
#if BACKGROUND
    below = group_sum(below);
    if (lane_id() == 0) {
      int wanted = ctx.background_tables[w] + ctx.change_background[w];
      int tables = valid_tables(below, wanted);
      n_repaired += tables != wanted;
      ctx.background_customers[w] = below;
      ctx.background_tables[w] = tables;
      ctx.change_background[w] = 0;
      ctx.background_pair[w] = weight_pair(TABLE_BACKGROUND, below, tables);
      background_customers += below;
      background_tables += tables;
    }
#endif
  }
  add_count(ctx.tally + REPAIRED_WORDS, n_repaired);
  if (lane_id() == 0 && background_customers) {
    add_to((u64 *)ctx.background_totals, (u64)background_customers);
    add_to((u64 *)ctx.background_totals + 1, (u64)background_tables);
  }
  block_sync();
  for (int k = threadIdx.x; k < K; k += blockDim.x) {
    if (sums[k]) add_to((u64 *)ctx.word_total_customers + k, (u64)sums[k]);
    if (sums[K + k]) add_to((u64 *)ctx.word_total_tables + k, (u64)sums[K + k]);
  }
}
