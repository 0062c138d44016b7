// Rows of arrays of 32-bit numbers, by a list of their places: what the parts of a chain send each other.

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
    array[place] = given[i] + (added ? array[place] : 0);
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
