// An operator of one's own, run on the CPU and on a GPU from one definition.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>
#include <wane/cuda.cuh>

// A memory that forgets more slowly the longer it has listened (as PoST, position-dependent decay):
//   h_t = exp(-rate / t) h_{t-1} + x_t,     x, h: [B, T, H, C]
// Nothing but x is read: the decay is computed where it is used, from the position of the token.
struct slowing_memory {
  static constexpr bool is_channelwise = true;
  wane::sequence_view<float const> x;
  float rate;

  WANE_HOST_DEVICE wane::recurrence_shape shape() const {
    return {x.extent[0], x.extent[1], x.extent[2], 1, x.extent[3]};
  }
  struct token {
    slowing_memory const& op;
    wane::place<> where;
    WANE_HOST_DEVICE float log_decay(wane::index, wane::index) const {
      return -op.rate / static_cast<float>(where.position);
    }
    WANE_HOST_DEVICE float value(wane::index j) const { return op.x.read(where, j); }
  };
  WANE_HOST_DEVICE token at(wane::place<> where) const { return {*this, where}; }

  // Lets the kernel read x by tiles, copied ahead; without it the operator runs as well.
  template <class Moved>
  WANE_HOST_DEVICE slowing_memory with_tensors(Moved const& moved) const {
    return {moved.by_column(x), rate};
  }
};

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    return std::puts("no CUDA device here: nothing to compare"), 0;
  using wane::cuda::throw_on_error;
  wane::index const time = 1 << 20, channels = 16, count = time * channels;
  float *x, *h;  // memory that both see
  throw_on_error(cudaMallocManaged(&x, count * sizeof(float)), "cudaMallocManaged");
  throw_on_error(cudaMallocManaged(&h, count * sizeof(float)), "cudaMallocManaged");
  for (wane::index i = 0; i < count; ++i) x[i] = static_cast<float>(i % 7) - 3;
  slowing_memory const op{{x, 1, time, 1, channels}, 2.f};

  wane::cuda::workspace memory{nullptr, wane::cuda::workspace_bytes(op)};
  throw_on_error(cudaMalloc(&memory.data, memory.bytes), "cudaMalloc");
  wane::cuda::run(wane::cuda::stream{}, op, {h, 1, time, 1, channels}, memory);
  throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

  std::vector<float> expected(static_cast<std::size_t>(count));
  wane::run(op, {expected.data(), 1, time, 1, channels});
  double apart = 0, size = 0;
  for (wane::index i = 0; i < count; ++i) {
    apart += std::pow(h[i] - expected[static_cast<std::size_t>(i)], 2);
    size += std::pow(expected[static_cast<std::size_t>(i)], 2);
  }
  std::printf("GPU and CPU agree to %.1e\n", std::sqrt(apart / size));
  return std::sqrt(apart / size) < 1e-5 ? 0 : 1;
}
