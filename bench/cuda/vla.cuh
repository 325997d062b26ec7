// vla_problem: VLA on a GPU, one kernel that takes a token after the other, and the oracle.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/arrangement.cuh"
#include "cuda/contest.cuh"
#include "cuda/deviation.cuh"
#include "wane/cuda/run.cuh"
#include "wane/operators/vla.hpp"

namespace wane::bench {

// Algorithm 1 of the paper with the rule rls: z = A u and A -= z z^T / delta. There are as many
// columns as `rows`. One block takes one head; one thread has a column of A in shared memory and a
// column of S in registers. Calls take(place, j, y, number j of the write direction).
template <int rows, class Real, class Io, class Take>
__global__ void __launch_bounds__(rows)
    token_by_token(vla<Io> op, Real lambda, index heads, index time, Take take) {
  extern __shared__ double shared[];
  auto* const inverse = reinterpret_cast<Real*>(shared);
  Real *const key = inverse + rows * rows, *const query = key + rows, *const z = query + rows;
  int const j = static_cast<int>(threadIdx.x);
  index const line = blockIdx.x;
  Real state[rows] = {};
  for (int i = 0; i < rows; ++i) inverse[i * rows + j] = i == j ? 1 / lambda : Real(0);
  for (index t = 0; t < time; ++t) {
    place<> const at{line / heads, t, line % heads, t + 1};
    auto const x = op.terms_at(at);
    __syncthreads();
    key[j] = static_cast<Real>(x.key(j)), query[j] = static_cast<Real>(x.query(j));
    __syncthreads();
    Real own = 0, error = static_cast<Real>(x.value(j)), delta = 1, y = 0;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      own += inverse[i * rows + j] * key[i];
      error -= state[i] * key[i];
    }
    z[j] = own;
    __syncthreads();
    for (int i = 0; i < rows; ++i) delta += key[i] * z[i];
    Real const over = 1 / delta;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      inverse[i * rows + j] -= z[i] * own * over;
      state[i] += z[i] * over * error;
      y += state[i] * query[i];
    }
    take(at, j, y, z[j] * over);
  }
}
template <int rows, class Real, class Io, class Take>
void launch_token_by_token(cudaStream_t on, vla<Io> const& op, double lambda, extents const& e,
                           Take const& take) {
  auto* const kernel = token_by_token<rows, Real, Io, Take>;
  std::size_t const bytes = sizeof(Real) * (rows * rows + 3 * rows);
  cuda::throw_on_error(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(bytes)),
                       "cudaFuncSetAttribute");
  kernel<<<static_cast<unsigned>(e.batch * e.heads), rows, bytes, on>>>(
      op, static_cast<Real>(lambda), e.heads, e.time, take);
  cuda::throw_on_error(cudaGetLastError(), "the launch of a kernel of the benchmark");
}

template <class Io>
struct write_output {
  sequence_view<Io> output;
  __device__ void operator()(place<> at, int j, float y, float) const {
    output.write(at, j, static_cast<Io>(y));
  }
};
template <class Io>
struct compare_output {
  sequence_view<Io> output;
  deviation::sink found;

  __device__ void operator()(place<> at, int j, double y, double) const {
    largest seen;
    seen.add(static_cast<double>(static_cast<float>(output.read(at, j))), y);
    found.merge(seen);
  }
};

// Queries, keys and values, one after the other. The outputs have as much room, for the copy. There
// are as many columns as `rows`.
template <class Io, int rows>
class vla_problem {
 public:
  explicit vla_problem(extents const& size) : e_(size) {
    for_each(3 * e_.numbers(), 256, nullptr, fill_signed<Io>{inputs_.data(), 1});
    cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  // Input 0, 1, 2: queries, keys, values.
  Io const* input(int n) const { return inputs_.data() + n * e_.numbers(); }
  sequence_view<Io> output() const { return whole(outputs_.data(), e_); }
  double bytes() const { return 4 * sizeof(Io) * static_cast<double>(e_.numbers()); }
  // The operations of Algorithm 1.
  double flops() const { return 12. * rows * static_cast<double>(e_.numbers()); }

  void by_wane(cudaStream_t on) const {
    cuda::run<rows>(cuda::stream{on}, op_, output(),
                    cuda::workspace{memory_.data(), memory_.bytes()});
  }
  void by_walk(cudaStream_t on) const {
    launch_token_by_token<rows, float>(on, op_, lambda, e_, write_output<Io>{output()});
  }
  double error() const {
    deviation const found;
    launch_token_by_token<rows, double>(nullptr, op_, lambda, e_,
                                        compare_output<Io>{output(), found.to()});
    return found.relative();
  }

 private:
  static constexpr double lambda = 0.125;

  extents e_;
  device_array<Io> inputs_{static_cast<std::size_t>(3 * e_.numbers())};
  device_array<Io> outputs_{static_cast<std::size_t>(3 * e_.numbers())};
  vla<Io> op_{
      {.query = whole(input(0), e_), .key = whole(input(1), e_), .value = whole(input(2), e_)},
      {.lambda = lambda}};
  device_array<std::byte> memory_{cuda::workspace_bytes(op_)};
};

}  // namespace wane::bench
