// The machine of the kernels on a host: one lane, one block, no neighbours.
#include <math.h>
#include <stdlib.h>

#define __device__
#define __forceinline__ inline
#define __noinline__
#define DEV static inline
#define METHOD inline
#define KERNEL extern "C" void
#define KERNEL_OF(threads, blocks) extern "C" void

typedef unsigned long long u64;
typedef long long i64;

struct Place { unsigned x; };
static const Place threadIdx = {0}, blockIdx = {0}, blockDim = {1}, gridDim = {1};
static float shared_pool[1 << 20] __attribute__((aligned(16)));

DEV int lane_id() { return 0; }
DEV int group_in_block() { return 0; }
DEV int groups_in_block() { return 1; }
DEV void group_sync() {}
DEV void block_sync() {}
template <typename T> DEV T group_from(T value, int) { return value; }
template <typename T> DEV T group_sum(T value) { return value; }
DEV int group_max(int value) { return value; }
DEV float group_scan(float value) { return value; }
DEV int group_rank(bool) { return 0; }
DEV int group_first(bool condition) { return condition ? 0 : -1; }
DEV int group_last(bool condition) { return condition ? 0 : -1; }
DEV void add_to(int *place, int value) { *place += value; }
DEV void add_to(u64 *place, u64 value) { *place += value; }
DEV bool warp_any(bool condition) { return condition; }
DEV int groups_in_warp() { return 1; }
DEV int group_in_warp() { return 0; }
DEV int warp_from_first(int value) { return value; }
DEV bool first_of_warp() { return true; }
DEV int take_numbers(int *place, int count) {
  int first = *place;
  *place += count;
  return first;
}
DEV int bit_count(unsigned bits) { return __builtin_popcount(bits); }
DEV int lowest_bit(unsigned bits) { return __builtin_ctz(bits); }
#define ALIGNED_16
DEV unsigned float_bits(float value) {
  unsigned bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}
DEV float quotient(float a, float b) { return a / b; }
DEV float sum_apart(float a, float b) { return a + b; }
DEV float sum_fused(float a, float b, float c) { return a + b * c; }
