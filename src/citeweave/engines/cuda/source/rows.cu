// What the parts of a chain send each other: rows of arrays of 32-bit numbers, by a list of their places,
// and rows of counts as lists of the topics in them.

// Each row into ``taken``; ``cleared`` where they are to be zero afterwards.
KERNEL take_rows(int *array, const int *rows, int *taken, int n_rows, int width, int cleared) {
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < (i64)n_rows * width;
       i += (i64)gridDim.x * blockDim.x) {
    i64 place = (i64)rows[i / width] * width + i % width;
    taken[i] = array[place];
    if (cleared) array[place] = 0;
  }
}

// Each row from ``given``, in place of what is there or added to it.
KERNEL put_rows(int *array, const int *rows, const int *given, int n_rows, int width, int added) {
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < (i64)n_rows * width;
       i += (i64)gridDim.x * blockDim.x) {
    i64 place = (i64)rows[i / width] * width + i % width;
    if (added)
      add_to(array + place, given[i]);  // a row may be given more than once
    else
      array[place] = given[i];
  }
}

// How many topics each of some rows of two arrays over topics has something in.
KERNEL count_entries(const int *customers, const int *tables, const int *rows, int *length,
                     int n_rows) {
  for (i64 i = first_group(); i < n_rows; i += all_groups()) {
    i64 begin = (i64)rows[i] * K;
    int found = 0;
    for (int k = lane_id(); k < K; k += LANES)
      found += customers[begin + k] != 0 || tables[begin + k] != 0;
    found = group_sum(found);
    if (lane_id() == 0) length[i] = found;
  }
}

// These topics in rising order, from where the list of each row starts, and behind all of them the
// customers and the tables; ``cleared`` where rows are to be zero afterwards.
KERNEL take_entries(int *customers, int *tables, const int *rows, const i64 *start, int *taken,
                    int n_rows, int cleared) {
  i64 n_entries = start[n_rows];
  for (i64 i = first_group(); i < n_rows; i += all_groups()) {
    i64 begin = (i64)rows[i] * K, at = start[i];
    for (int first = 0; first < K; first += LANES) {
      int k = first + lane_id();
      int c = k < K ? customers[begin + k] : 0, t = k < K ? tables[begin + k] : 0;
      bool some = c != 0 || t != 0;
      int before = group_rank(some);
      if (some) {
        int *entry = taken + at + before;
        entry[0] = k;
        entry[n_entries] = c;
        entry[2 * n_entries] = t;
        if (cleared) customers[begin + k] = tables[begin + k] = 0;
      }
      at += group_sum((int)some);
    }
  }
}

// Such lists are added to rows.
KERNEL add_entries(int *customers, int *tables, const int *rows, const i64 *start, const int *given,
                   int n_rows) {
  i64 n_entries = start[n_rows];
  for (i64 i = first_group(); i < n_rows; i += all_groups())
    for (i64 j = start[i] + lane_id(); j < start[i + 1]; j += LANES) {
      i64 place = (i64)rows[i] * K + given[j];
      int c = given[n_entries + j], t = given[2 * n_entries + j];
      if (c != 0) add_to(customers + place, c);
      if (t != 0) add_to(tables + place, t);
    }
}

// The same of the counts of nodes, however they are stored.
KERNEL count_places(const int *rows, int *length, int n_rows) {
  for (i64 i = first_group(); i < n_rows; i += all_groups()) {
    CountRow row = count_row(rows[i]);
    int found = 0;
    for (int place = lane_id(); place < row.used; place += LANES) {
      Seats seats = row.seats(place);
      found += seats.customers != 0 || seats.tables != 0;
    }
    found = group_sum(found);
    if (lane_id() == 0) length[i] = found;
  }
}

KERNEL take_places(const int *rows, const i64 *start, int *taken, int n_rows) {
  i64 n_entries = start[n_rows];
  for (i64 i = first_group(); i < n_rows; i += all_groups()) {
    CountRow row = count_row(rows[i]);
    i64 at = start[i];
    for (int first = 0; first < row.used; first += LANES) {
      int place = first + lane_id();
      Seats seats = {0, 0};
      if (place < row.used) seats = row.seats(place);
      bool some = seats.customers != 0 || seats.tables != 0;
      int before = group_rank(some);
      if (some) {
        int *entry = taken + at + before;
        entry[0] = row.topic(place);
        entry[n_entries] = seats.customers;
        entry[2 * n_entries] = seats.tables;
      }
      at += group_sum((int)some);
    }
  }
}

// Such lists take the place of the counts of nodes, whose totals follow.
KERNEL put_entries(const int *rows, const i64 *start, const int *given, int n_rows) {
  i64 n_entries = start[n_rows];
  for (i64 i = first_group(); i < n_rows; i += all_groups()) {
    i64 n = rows[i];
    OpenRow row = empty_row(n);
    int customers_total = 0, tables_total = 0;
    for (i64 j = start[i] + lane_id(); j < start[i + 1]; j += LANES) {
      int customers = given[n_entries + j], tables = given[2 * n_entries + j];
      row.customers[given[j]] = customers;
      row.tables[given[j]] = tables;
      customers_total += customers;
      tables_total += tables;
    }
    close_row(n, row);
    set_totals(n, customers_total, tables_total);
  }
}

// What citations did, in two numbers each: their topics before and after, and how far their ends climbed.
KERNEL take_moves(const int *rows, int *taken, int n_rows) {
#if NETWORK
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows;
       i += (i64)gridDim.x * blockDim.x) {
    i64 e = rows[i];
    const unsigned char *depth = ctx.move_depth + 4 * e;
    taken[2 * i] = (ctx.move_old[e] & 0xffff) | ctx.move_new[e] << 16;
    taken[2 * i + 1] = depth[0] | depth[1] << 8 | depth[2] << 16 | depth[3] << 24;
  }
#endif
}

KERNEL put_moves(const int *rows, const int *given, int n_rows) {
#if NETWORK
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows;
       i += (i64)gridDim.x * blockDim.x) {
    i64 e = rows[i];
    int topics = given[2 * i], climbed = given[2 * i + 1];
    ctx.move_old[e] = (short)(topics & 0xffff);
    ctx.move_new[e] = (short)(topics >> 16);
    for (int j = 0; j < 4; j++) ctx.move_depth[4 * e + j] = (unsigned char)(climbed >> 8 * j);
  }
#endif
}
