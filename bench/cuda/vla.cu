// The rows of VLA, in float, beside one kernel that takes a token after the other.
// SPDX-License-Identifier: MIT
#include "cuda/arrangement.cuh"
#include "cuda/contest.cuh"
#include "cuda/deviation.cuh"
#include "cuda/gemm.cuh"
#include "wane/cuda/run.cuh"
#include "wane/operators/vla.hpp"

namespace wane::bench {
namespace {

using operation = vla<float>;
constexpr float penalty = 0.1f;

// `rows` are columns, too. Algorithm 1 of the paper, z = A u and A -= z z^T / delta, with the rule
// rls: a block takes a head, and a thread has a column of A in shared memory and one of S in
// registers. take(place, j, y).
template <int rows, class Real, class Take>
__global__ void __launch_bounds__(rows)
    token_by_token(operation op, index heads, index time, Take take) {
  extern __shared__ double shared[];
  auto* const inverse = reinterpret_cast<Real*>(shared);
  Real *const key = inverse + rows * rows, *const query = key + rows, *const z = query + rows;
  int const j = static_cast<int>(threadIdx.x);
  index const line = blockIdx.x;
  Real state[rows] = {};
  for (int i = 0; i < rows; ++i) inverse[i * rows + j] = i == j ? 1 / Real(penalty) : Real(0);
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
    take(at, j, y);
  }
}
template <int rows, class Real, class Take>
void launch_token_by_token(cudaStream_t on, operation const& op, extents const& e,
                           Take const& take) {
  auto* const kernel = token_by_token<rows, Real, Take>;
  std::size_t const bytes = sizeof(Real) * (rows * rows + 3 * rows);
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes)),
              "cudaFuncSetAttribute");
  kernel<<<static_cast<unsigned>(e.batch * e.heads), rows, bytes, on>>>(op, e.heads, e.time, take);
  cuda::check(cudaGetLastError(), "the launch of a kernel of the benchmark");
}

struct write_output {
  sequence_view<float> output;
  __device__ void operator()(place<> at, int j, float y) const { output.write(at, j, y); }
};
struct compare_output {
  sequence_view<float> output;
  deviation::sink found;

  __device__ void operator()(place<> at, int j, double y) const {
    largest seen;
    seen.add(static_cast<double>(output.read(at, j)), y);
    found.merge(seen);
  }
};

// Queries, keys and values, one after the other; there is as much room for outputs, for the copy.
struct vla_problem {
  extents e;
  device_array<float> inputs{static_cast<std::size_t>(3 * e.numbers())};
  device_array<float> outputs{static_cast<std::size_t>(3 * e.numbers())};
  operation op = make();
  device_array<std::byte> memory{cuda::workspace_bytes(op)};

  explicit vla_problem(extents const& size) : e(size) {
    for_each(3 * e.numbers(), 256, nullptr, fill_signed<float>{inputs.data(), 1});
    cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  sequence_view<float> output() const { return whole(outputs.data(), e); }

 private:
  operation make() const {
    float const* const x = inputs.data();
    index const each = e.numbers();
    return operation({whole(x, e), whole(x + each, e), whole(x + 2 * each, e)},
                     {.lambda = static_cast<double>(penalty)});
  }
};

template <int rows>
measurement measured(extents const& e, int rounds) {
  auto const p = std::make_shared<vla_problem>(e);
  auto const error = [=] {
    deviation const found;
    launch_token_by_token<rows, double>(nullptr, p->op, e, compare_output{p->output(), found.to()});
    return found.relative();
  };
  double const numbers = static_cast<double>(e.numbers()), bytes = 4 * sizeof(float) * numbers;
  double const flops = 12. * rows * numbers;
  auto const product = std::make_shared<gemm>(flops);
  contest c;
  c.ours = {[=](cudaStream_t on) {
              cuda::run(cuda::stream{on}, p->op, p->output(),
                        cuda::workspace{p->memory.data(), p->memory.bytes()});
            },
            error, bytes};
  c.walk = {[=](cudaStream_t on) {
              launch_token_by_token<rows, float>(on, p->op, e, write_output{p->output()});
            },
            error, bytes};
  c.gemm = [product](cudaStream_t on) { (*product)(on); };
  c.flops_over_gemm = flops / product->flops();
  c.inputs = p->inputs.data(), c.outputs = p->outputs.data();
  return held(c, rounds);
}

}  // namespace

std::vector<row> vla_rows() {
  std::vector<row> all;
  for (extents const& e : {batch, extents{1, 16, index{1} << 16, 64},
                           extents{1, 96, index{1} << 13, 128}, extents{64, 32, 1, 128}})
    all.push_back({"vla/forward/" + e.text() + "/K:" + std::to_string(e.channels), [e](int rounds) {
                     return e.channels == 64 ? measured<64>(e, rounds) : measured<128>(e, rounds);
                   }});
  return all;
}

}  // namespace wane::bench
