// The row of VLA's adjoint, in float.
// SPDX-License-Identifier: MIT
#include "cuda/gemm.cuh"
#include "cuda/value_gradient.cuh"
#include "cuda/vla.cuh"
#include "wane/cuda/adjoint.cuh"

namespace wane::bench {
namespace {

constexpr int rows = 128;
using operation = vla<float>;

// The write directions of the first sequence, in double.
struct directions {
  index heads, time;
  double* to;

  __device__ double& at(place<> where, int i) const {
    return to[(where.head * time + where.time) * rows + i];
  }
  __device__ void operator()(place<> where, int i, double, double direction) const {
    at(where, i) = direction;
  }
};

// The recurrence of S alone.
struct memory_of_directions {
  operation op;
  directions all;
  recurrence_shape size;

  struct token {
    decltype(std::declval<operation const&>().terms_at({})) terms;
    memory_of_directions const& memory;
    place<> where;
    __device__ double decay() const { return 1; }
    __device__ double key(int i) const { return memory.all.at(where, i); }
    __device__ float query(int i) const { return terms.query(i); }
    __device__ float erase_read(int i) const { return terms.key(i); }
  };
  __device__ recurrence_shape shape() const { return size; }
  __device__ token at(place<> where) const { return {op.terms_at(where), *this, where}; }
};

class problem {
 public:
  explicit problem(extents const& size) : e_(size) {
    for_each(4 * e_.numbers(), 256, nullptr, fill_signed<float>{inputs_.data(), 1});
    launch_token_by_token<rows, double>(nullptr, op_, lambda, first(), directions_);
    cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  float const* inputs() const { return inputs_.data(); }
  float* gradients() const { return outputs_.data(); }
  // Inputs and the gradient of outputs are read, gradients of inputs written.
  double bytes() const { return 7 * sizeof(float) * static_cast<double>(e_.numbers()); }
  // The operations of Algorithm 1 backward as a user would write it.
  double flops() const { return 30. * rows * static_cast<double>(e_.numbers()); }

  void by_wane(cudaStream_t on) const {
    cuda::adjoint<rows>(cuda::stream{on}, op_, output_gradient(), to_,
                        cuda::workspace{memory_.data(), memory_.bytes()});
  }
  // The error of the gradients of the first sequence's values.
  double error() const {
    deviation const found;
    memory_of_directions const memory{op_, directions_, {1, e_.time, e_.heads, rows, e_.channels}};
    for_each_line(first().lines(), nullptr,
                  value_gradient_comparison<memory_of_directions, float, rows>{
                      memory, output_gradient(), to_.value, 1, found.to()});
    return found.relative();
  }

 private:
  static constexpr double lambda = 0.125;

  extents first() const { return {1, e_.heads, e_.time, e_.channels}; }
  sequence_view<float const> input(int n) const {
    return whole<float const>(inputs_.data() + n * e_.numbers(), e_);
  }
  sequence_view<float const> output_gradient() const { return input(3); }
  sequence_view<float> gradient(int n) const {
    return whole(outputs_.data() + n * e_.numbers(), e_);
  }

  extents e_;
  device_array<float> inputs_{static_cast<std::size_t>(4 * e_.numbers())};
  device_array<float> outputs_{static_cast<std::size_t>(4 * e_.numbers())};
  device_array<double> of_first_{static_cast<std::size_t>(first().numbers())};
  directions directions_{e_.heads, e_.time, of_first_.data()};
  operation op_{{.query = input(0), .key = input(1), .value = input(2)}, {.lambda = lambda}};
  operation::gradients to_{.query = gradient(1), .key = gradient(2), .value = gradient(0)};
  device_array<std::byte> memory_{cuda::adjoint_workspace_bytes(op_)};
};

measurement measured(extents const& e, int rounds) {
  auto const p = std::make_shared<problem>(e);
  auto const product = std::make_shared<gemm>(p->flops());
  contest c;
  c.ours = {[p](cudaStream_t on) { p->by_wane(on); }, [p] { return p->error(); }, p->bytes()};
  c.gemm = [product](cudaStream_t on) { (*product)(on); };
  c.flops_over_gemm = p->flops() / product->flops();
  c.inputs = p->inputs(), c.outputs = p->gradients();
  c.rounding = 0x1p-16;  // factors have 22 bits, and three runs follow each other
  return held(c, rounds);
}

}  // namespace

std::vector<row> vla_backward_rows() {
  return {{"vla/backward/" + batch.text() + "/K:" + std::to_string(rows),
           [](int rounds) { return measured(batch, rounds); }}};
}

}  // namespace wane::bench
