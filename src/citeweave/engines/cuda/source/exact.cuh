// Sums of floating-point numbers over nodes or documents, in whole numbers: they add up alike in any
// order, and so do those of the parts that a chain is divided into (engines/core/exact_sums.py).

// ---- a number for each node and topic: multiples of 1 / unit, which is a 2^-60th of the largest sum

DEV double whole_unit(double bound) { return bound > 0.0 ? ldexp(1.0, 59 - ilogb(bound)) : 1.0; }

DEV u64 to_whole(double value, double unit) { return (u64)(i64)(value * unit + 0.5); }

DEV double from_whole(u64 sum, double unit) { return (double)(i64)sum / unit; }

// ---- a number for each node: its whole part and twice 30 bits of its fraction, cut behind them

#define EXACT_LIMBS 4
#define EXACT_MOST 1e15
#define EXACT_STEP 1073741824.0  // 2^30

struct Exact { i64 whole, high, low, faulty; };

DEV Exact no_exact() { return {0, 0, 0, 0}; }

// Numbers that are not finite, or too large, are counted alone.
DEV void add_exact(Exact &sum, double value) {
  if (!(fabs(value) < EXACT_MOST)) {
    sum.faulty++;
    return;
  }
  double whole = trunc(value), rest = (value - whole) * EXACT_STEP, high = trunc(rest);
  sum.whole += (i64)whole;
  sum.high += (i64)high;
  sum.low += (i64)((rest - high) * EXACT_STEP);
}

DEV void tell_exact(u64 *place, i64 whole, i64 high, i64 low, i64 faulty) {
  if (whole) add_to(place, (u64)whole);
  if (high) add_to(place + 1, (u64)high);
  if (low) add_to(place + 2, (u64)low);
  if (faulty) add_to(place + 3, (u64)faulty);
}

// What the lanes of a group have, to a sum that other groups add to as well.
DEV void tell_group_exact(int range, const Exact &sum) {
  i64 whole = group_sum(sum.whole), high = group_sum(sum.high), low = group_sum(sum.low);
  i64 faulty = group_sum(sum.faulty);
  if (lane_id() == 0) tell_exact(ctx.exact + EXACT_LIMBS * range, whole, high, low, faulty);
}

// What the threads of a block have; ``room`` holds a number a thread.
DEV void tell_block_exact(int range, const Exact &sum, i64 *room) {
  i64 whole = block_sum(sum.whole, room), high = block_sum(sum.high, room);
  i64 low = block_sum(sum.low, room), faulty = block_sum(sum.faulty, room);
  if (threadIdx.x == 0) tell_exact(ctx.exact + EXACT_LIMBS * range, whole, high, low, faulty);
}
