// Counts of nodes: dense rows of all topics, or, where topics are many (COMPACT), lists of the topics that
// a node has, wherever these are smaller. Their layout is that of engines/core/compact_rows.py: topics in
// rising order, with customers and tables beside each other.

// One row of counts, by places: topics of a list, or all of them.
struct CountRow {
#if COMPACT
  i64 start, topics;  // first places of its counts and, of a list, of its topics
  int used;

  METHOD bool is_list() const { return topics >= 0; }
  METHOD int topic(int place) const { return is_list() ? ctx.count_topic[topics + place] : place; }
  METHOD Seats seats(int place) const {
    const int *both = ctx.counts + 2 * (start + place);
    return {both[0], both[1]};
  }
  // The first place whose topic is not less than k.
  METHOD int place_from(int k) const {
    int low = 0, left = used;
    while (left > 0) {
      int half = left / 2;
      bool below = ctx.count_topic[topics + low + half] < k;
      low = below ? low + half + 1 : low;
      left = below ? left - half - 1 : half;
    }
    return low;
  }
  METHOD Seats seats_of(int k) const {
    if (!is_list()) return seats(k);
    int place = place_from(k);
    if (place < used && ctx.count_topic[topics + place] == k) return seats(place);
    return {0, 0};
  }
#else
  i64 start;
  static constexpr int used = K;

  METHOD int topic(int place) const { return place; }
  METHOD Seats seats(int place) const {
    return {ctx.customers[start + place], ctx.tables[start + place]};
  }
  METHOD Seats seats_of(int k) const { return seats(k); }
#endif
};

#if COMPACT
enum { ROW_START, ROW_TOPICS, ROW_ROOM, ROW_USED };

DEV i64 *row_entry(i64 n) { return ctx.count_row + 4 * n; }

DEV CountRow count_row(i64 n) {
  const i64 *row = row_entry(n);
  return {row[ROW_START], row[ROW_TOPICS], (int)row[ROW_USED]};
}
#else
DEV CountRow count_row(i64 n) { return {n * K}; }
#endif

DEV Seats seats_of(i64 n, int k) { return count_row(n).seats_of(k); }

// mu has a dense row, the first one.
#if COMPACT
DEV Seats root_seats(int k) { return {ctx.counts[2 * k], ctx.counts[2 * k + 1]}; }
#else
DEV Seats root_seats(int k) { return {ctx.customers[k], ctx.tables[k]}; }
#endif

DEV void set_root_seats(int k, int customers, int tables) {
#if COMPACT
  ctx.counts[2 * k] = customers;
  ctx.counts[2 * k + 1] = tables;
#else
  ctx.customers[k] = customers;
  ctx.tables[k] = tables;
#endif
}

#if COMPACT
// A list had no room left. Rooms are such that this does not happen.
DEV void lose_topic() { add_to(ctx.tally + LOST_TOPICS, (u64)1); }

DEV void set_place(const CountRow &row, int place, int k, int customers, int tables) {
  if (row.is_list()) ctx.count_topic[row.topics + place] = (short)k;
  int *both = ctx.counts + 2 * (row.start + place);
  both[0] = customers;
  both[1] = tables;
}

// Write both counts of a topic; one lane of the group that the node belongs to.
DEV void write_seats(i64 n, int k, Seats seats) {
  CountRow row = count_row(n);
  if (!row.is_list()) {
    set_place(row, k, k, seats.customers, seats.tables);
    return;
  }
  int place = row.place_from(k);
  bool has = place < row.used && row.topic(place) == k;
  bool empty = seats.customers == 0 && seats.tables == 0;
  if (empty && has) {
    for (int i = place; i < row.used - 1; i++) {
      Seats next = row.seats(i + 1);
      set_place(row, i, row.topic(i + 1), next.customers, next.tables);
    }
    set_place(row, row.used - 1, -1, 0, 0);
    row_entry(n)[ROW_USED] = row.used - 1;
  }
  if (empty) return;
  if (!has) {
    if (row.used >= row_entry(n)[ROW_ROOM]) {
      lose_topic();
      return;
    }
    for (int i = row.used; i > place; i--) {
      Seats last = row.seats(i - 1);
      set_place(row, i, row.topic(i - 1), last.customers, last.tables);
    }
    row_entry(n)[ROW_USED] = row.used + 1;
  }
  set_place(row, place, k, seats.customers, seats.tables);
}
#else
DEV void write_seats(i64 n, int k, Seats seats) {
  ctx.customers[n * K + k] = seats.customers;
  ctx.tables[n * K + k] = seats.tables;
}
#endif

// ---- a row with all its topics at hand, to be changed by its group of lanes

struct OpenRow { int *customers, *tables; };

// One without topics, which is to take the place of a node's. Every lane of the group takes part.
DEV OpenRow empty_row(i64 n) {
#if COMPACT
  int *room = (int *)ctx.far_cells + first_group() * (2 * (i64)K);
  OpenRow open = {room, room + K};
#else
  OpenRow open = {ctx.customers + n * K, ctx.tables + n * K};
#endif
  for (int k = lane_id(); k < K; k += LANES) open.customers[k] = open.tables[k] = 0;
  group_sync();
  return open;
}

// A node's: where rows are dense the row itself, else a copy in the card's memory.
DEV OpenRow open_row(i64 n) {
#if COMPACT
  OpenRow open = empty_row(n);
  CountRow row = count_row(n);
  for (int place = lane_id(); place < row.used; place += LANES) {
    int k = row.topic(place);
    Seats seats = row.seats(place);
    open.customers[k] = seats.customers;
    open.tables[k] = seats.tables;
  }
  group_sync();
  return open;
#else
  return {ctx.customers + n * K, ctx.tables + n * K};
#endif
}

// Bring it back: topics in rising order, unused places empty.
DEV void close_row(i64 n, const OpenRow &open) {
#if COMPACT
  group_sync();
  CountRow row = count_row(n);
  int room = (int)row_entry(n)[ROW_ROOM], kept = 0;
  for (int first = 0; first < K; first += LANES) {
    int k = first + lane_id();
    int customers = k < K ? open.customers[k] : 0, tables = k < K ? open.tables[k] : 0;
    bool some = customers != 0 || tables != 0;
    int place = kept + group_rank(some);
    if (!row.is_list()) {
      if (k < K) set_place(row, k, k, customers, tables);
    } else if (some) {
      if (place < room)
        set_place(row, place, k, customers, tables);
      else
        lose_topic();
    }
    kept += group_sum((int)some);
  }
  if (row.is_list()) {
    for (int place = kept + lane_id(); place < row.used; place += LANES)
      set_place(row, place, -1, 0, 0);
    group_sync();  // all have read how many were in use
    if (lane_id() == 0) row_entry(n)[ROW_USED] = kept < room ? kept : room;
  }
  group_sync();
#endif
}
