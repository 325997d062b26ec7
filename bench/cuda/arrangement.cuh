// How the channels of a problem lie in memory, and kernels for what is done to each number or line.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/row.hpp"
#include "wane/core/recurrence/view.hpp"
#include "wane/cuda/machine/stream.cuh"

namespace wane::bench {

// Lines are channels of a head of a sequence. `width` of them lie side by side: those of a token,
// in wane's layout; one, where each line lies by itself.
struct arrangement {
  index lines, time, width;

  static arrangement by_token(extents const& e) {
    return {e.lines(), e.time, e.heads * e.channels};
  }
  static arrangement by_channel(extents const& e) { return {e.lines(), e.time, 1}; }

  // The first number of line k; the next ones follow by `width`.
  __host__ __device__ index first(index k) const { return k / width * time * width + k % width; }
};

// All numbers of a problem, in wane's layout.
template <class T>
sequence_view<T> whole(T* values, extents const& e) {
  return {values, e.batch, e.time, e.heads, e.channels};
}

// Calls each(k) for every 0 <= k < count.
template <class Each>
__global__ void for_each_kernel(index count, Each each) {
  index const k = index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k < count) each(k);
}
template <class Each>
void for_each(index count, unsigned threads, cudaStream_t on, Each const& each) {
  auto const blocks = static_cast<unsigned>((count + threads - 1) / threads);
  for_each_kernel<<<blocks, threads, 0, on>>>(count, each);
  cuda::throw_on_error(cudaGetLastError(), "the launch of a kernel of the benchmark");
}
// With few threads a block, so that few lines are spread over the chip.
template <class Each>
void for_each_line(index count, cudaStream_t on, Each const& each) {
  for_each(count, 32, on, each);
}

// The same numbers on every machine, uniform in [0, 1), one for each i (splitmix64).
__device__ inline double uniform(index i, std::uint64_t seed) {
  std::uint64_t z = (static_cast<std::uint64_t>(i) + (seed << 40)) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// Numbers in [-1, 1).
template <class T>
struct fill_signed {
  T* to;
  std::uint64_t seed;

  __device__ void operator()(index i) const {
    to[i] = static_cast<T>(static_cast<float>(2 * uniform(i, seed) - 1));
  }
};

}  // namespace wane::bench
