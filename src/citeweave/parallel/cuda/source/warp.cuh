// What the kernels need of the machine: groups of LANES threads that walk together.
// Everything else in this folder is written in these few words, so that a host compiler can build
// the same kernels with one lane, which is how they are tested where there is no GPU.

#define DEV static __device__ __forceinline__
#define KERNEL extern "C" __global__ void
#define KERNEL_OF(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)

typedef unsigned long long u64;
typedef long long i64;

DEV int lane_id() { return threadIdx.x & (LANES - 1); }
DEV int group_in_block() { return threadIdx.x / LANES; }
DEV int groups_in_block() { return blockDim.x / LANES; }

DEV unsigned group_mask() {
#if LANES == 32
  return 0xffffffffu;
#else
  return ((1u << LANES) - 1u) << ((threadIdx.x & 31) & ~(LANES - 1));
#endif
}

DEV void group_sync() { __syncwarp(group_mask()); }
DEV void block_sync() { __syncthreads(); }

template <typename T> DEV T group_from(T value, int source) {
  return __shfl_sync(group_mask(), value, source, LANES);
}

template <typename T> DEV T group_sum(T value) {
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2)
    value += __shfl_xor_sync(group_mask(), value, step, LANES);
  return value;
}

DEV int group_max(int value) {
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2)
    value = max(value, __shfl_xor_sync(group_mask(), value, step, LANES));
  return value;
}

// Sum of the values of this lane and those before it.
DEV float group_scan(float value) {
#pragma unroll
  for (int step = 1; step < LANES; step *= 2) {
    float below = __shfl_up_sync(group_mask(), value, step, LANES);
    if (lane_id() >= step) value += below;
  }
  return value;
}

// First lane where the condition holds, -1 for none.
DEV int group_first(bool condition) {
  unsigned votes = __ballot_sync(group_mask(), condition) & group_mask();
  return votes ? (__ffs(votes) - 1) & (LANES - 1) : -1;
}

DEV int group_last(bool condition) {
  unsigned votes = __ballot_sync(group_mask(), condition) & group_mask();
  return votes ? (31 - __clz(votes)) & (LANES - 1) : -1;
}

DEV void add_to(int *place, int value) { atomicAdd(place, value); }
DEV void add_to(u64 *place, u64 value) { atomicAdd(place, value); }
DEV int take_number(int *place) { return atomicAdd(place, 1); }
DEV float quotient(float a, float b) { return __fdividef(a, b); }

extern __shared__ float shared_pool[];
