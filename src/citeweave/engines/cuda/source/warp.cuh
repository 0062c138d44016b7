// What the kernels need of the machine: groups of LANES threads that walk together.
// Everything else in this folder is written in these few words, so that a host compiler can build
// the same kernels with one lane, which is how they are tested where there is no GPU.

#define DEV static __device__ __forceinline__
#define METHOD __device__ __forceinline__
#define KERNEL extern "C" __global__ void
#define KERNEL_OF(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)

typedef unsigned long long u64;
typedef long long i64;

DEV int lane_id() { return threadIdx.x & (LANES - 1); }
DEV int group_in_block() { return threadIdx.x / LANES; }
DEV int groups_in_block() { return blockDim.x / LANES; }

// Groups of a warp walk in step: every lane of the warp takes part in each of these.
DEV void group_sync() { __syncwarp(); }
DEV void block_sync() { __syncthreads(); }
DEV bool warp_any(bool condition) { return __any_sync(0xffffffffu, condition); }
DEV int groups_in_warp() { return 32 / LANES; }
DEV int group_in_warp() { return (threadIdx.x & 31) / LANES; }
DEV int warp_from_first(int value) { return __shfl_sync(0xffffffffu, value, 0); }
DEV bool first_of_warp() { return (threadIdx.x & 31) == 0; }

template <typename T> DEV T group_from(T value, int source) {
  return __shfl_sync(0xffffffffu, value, source, LANES);
}

template <typename T> DEV T group_sum(T value) {
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, step, LANES);
  return value;
}

DEV int group_max(int value) {
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2)
    value = max(value, __shfl_xor_sync(0xffffffffu, value, step, LANES));
  return value;
}

// Sum of the values of this lane and those before it.
DEV float group_scan(float value) {
#pragma unroll
  for (int step = 1; step < LANES; step *= 2) {
    float below = __shfl_up_sync(0xffffffffu, value, step, LANES);
    if (lane_id() >= step) value += below;
  }
  return value;
}

DEV unsigned group_votes(bool condition) {
  unsigned votes = __ballot_sync(0xffffffffu, condition);
#if LANES == 32
  return votes;
#else
  return (votes >> (group_in_warp() * LANES)) & ((1u << LANES) - 1u);
#endif
}

// How many lanes before this one the condition holds in.
DEV int group_rank(bool condition) {
  return __popc(group_votes(condition) & ((1u << lane_id()) - 1u));
}

// First lane of the group where the condition holds, -1 for none.
DEV int group_first(bool condition) { return __ffs(group_votes(condition)) - 1; }
DEV int group_last(bool condition) { return 31 - __clz(group_votes(condition)); }

DEV void add_to(int *place, int value) { atomicAdd(place, value); }
DEV void add_to(u64 *place, u64 value) { atomicAdd(place, value); }
DEV int take_numbers(int *place, int count) { return atomicAdd(place, count); }
DEV int bit_count(unsigned bits) { return __popc(bits); }
DEV int lowest_bit(unsigned bits) { return __ffs(bits) - 1; }
#define ALIGNED_16 __align__(16)
DEV unsigned float_bits(float value) { return __float_as_uint(value); }
DEV float quotient(float a, float b) { return __fdividef(a, b); }
// Sums that the compiler might round in either way: products in them before, or with the sum.
DEV float sum_apart(float a, float b) { return __fadd_rn(a, b); }
DEV float sum_fused(float a, float b, float c) { return __fmaf_rn(b, c, a); }

extern __shared__ float shared_pool[];
