// The rows of memories with keys, in bfloat16: one that erases, also backward, and one whose rows
// fade. A row of one token reads and writes states, as a model that generates does.
// SPDX-License-Identifier: MIT
#include "cuda/contest.cuh"
#include "cuda/gemm.cuh"
#include "cuda/value_gradient.cuh"
#include "wane/cuda/adjoint.cuh"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/gla.hpp"

namespace wane::bench {
namespace {

using io = bfloat16;
constexpr int rows = 128;

// Numbers from `least` to `most`.
struct fill_between {
  io* to;
  float least, most;
  std::uint64_t seed;

  __device__ void operator()(index i) const {
    to[i] = io(least + (most - least) * static_cast<float>(uniform(i, seed)));
  }
};

// Column k through time, its state in the memory of this thread. A `final` without memory receives
// nothing.
template <class Real, class Op, class Take>
__device__ void walk_column(Op const& op, state_view<float const> const& initial,
                            view<float, 4> const& final, index k, Take const& take) {
  recurrence_shape const shape = op.shape();
  index const column = k % shape.columns, line = k / shape.columns;
  index const row_of_batch = line / shape.heads, head = line % shape.heads;
  Real state[rows] = {};
  for (int i = 0; initial.values.data && i < rows; ++i)
    state[i] = static_cast<Real>(initial.values(row_of_batch, head, i, column));
  for (index t = 0; t < shape.time; ++t) {
    place<> const at{row_of_batch, t, head, t + 1};
    auto const x = op.at(at);
    Real written = static_cast<Real>(x.value(column)), y = 0;
    if constexpr (has_erase<token_of<Op>>)
      for (int i = 0; i < rows; ++i) written -= static_cast<Real>(x.erase_read(i)) * state[i];
    for (int i = 0; i < rows; ++i) {
      Real const w = static_cast<Real>(factor_of(decay_of(x, i, column)));
      state[i] = w * state[i] + static_cast<Real>(x.key(i)) * written;
      y += static_cast<Real>(x.query(i)) * state[i];
    }
    take(at, column, y);
  }
  for (int i = 0; final.data && i < rows; ++i)
    final(row_of_batch, head, i, column) = static_cast<float>(state[i]);
}

template <class Op>
struct memory_walk {
  Op op;
  sequence_view<io> output;
  run_options<float> states;

  __device__ void operator()(index k) const {
    walk_column<float>(op, states.initial, states.final.values, k,
                       [this](place<> at, index j, float y) { output.write(at, j, y); });
  }
};
// Compares every `step`-th column, because a walk in double is slow.
template <class Op>
struct memory_comparison {
  Op op;
  sequence_view<io> output;
  run_options<float> states;
  index step;
  deviation::sink found;

  __device__ void operator()(index k) const {
    largest seen;
    walk_column<double>(op, states.initial, {}, k * step, [&](place<> at, index j, double y) {
      seen.add(static_cast<double>(output.read(at, j)), y);
    });
    found.merge(seen);
  }
};

// The initial state, where there is one, and then the inputs lie one after the other. The outputs
// have as much room, for the copy, and begin with the final state.
class memory_inputs {
 public:
  explicit memory_inputs(extents const& e) : e_(e), inputs_(numbers(e)), outputs_(numbers(e)) {
    index const tokens = e.batch * e.time * e.heads, of_rows = tokens * rows;
    if (states(e) > 0) for_each(states(e), 256, nullptr, fill_signed<float>{initial(), 7});
    io* to = inputs_.data() + in_states(e);
    auto const next = [&](index count, float least, float most, std::uint64_t seed) {
      for_each(count, 256, nullptr, fill_between{to, least, most, seed});
      io const* const first = to;
      to += count;
      return first;
    };
    query_ = next(of_rows, -0.1f, 0.1f, 1), key_ = next(of_rows, -0.1f, 0.1f, 2);
    value_ = next(e.numbers(), -1, 1, 3), by_row_ = next(of_rows, -0.1f, 0, 4);
    by_head_ = next(tokens, -0.1f, 0, 5), strength_ = next(tokens, 0.1f, 0.9f, 6);
    cuda::throw_on_error(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  gla<io> fading() const {
    return {{.query = of_rows(query_), .key = of_rows(key_), .value = whole(value_, e_)},
            of_rows(by_row_)};
  }
  gated_delta_net<io> erasing() const {
    return {{.query = of_rows(query_),
             .key = of_rows(key_),
             .value = whole(value_, e_),
             .strength = of_heads(strength_)},
            of_heads(by_head_),
            {.normalise = true}};
  }

  // The gradients of `erasing`, in the memory of the outputs. The gradient of the output is an
  // input that `erasing` does not read.
  gated_delta_net<io>::gradients gradients() const {
    index const tokens = e_.batch * e_.time * e_.heads;
    io* const to = outputs_.data() + in_states(e_);
    auto const of_rows = [&](io* x) {
      return sequence_view<io>(x, e_.batch, e_.time, e_.heads, rows);
    };
    auto const of_heads = [&](io* x) { return token_view<io>(x, e_.batch, e_.time, e_.heads); };
    io* const heads = to + e_.numbers() + 2 * tokens * rows;
    return {.query = of_rows(to + e_.numbers()),
            .key = of_rows(to + e_.numbers() + tokens * rows),
            .value = whole(to, e_),
            .strength = of_heads(heads),
            .log_decay = of_heads(heads + tokens)};
  }
  sequence_view<io const> output_gradient() const { return of_rows(by_row_); }

  extents const& size() const { return e_; }
  io const* inputs() const { return inputs_.data(); }
  io* outputs() const { return outputs_.data(); }
  sequence_view<io> output() const { return whole(outputs_.data() + in_states(e_), e_); }
  run_options<float> states_of_run() const {
    if (states(e_) == 0) return {};
    view<float, 4> const first(initial(), e_.batch, e_.heads, rows, e_.channels),
        last(reinterpret_cast<float*>(outputs_.data()), e_.batch, e_.heads, rows, e_.channels);
    return {.initial = {first}, .final = {last}};
  }
  // Numbers of a state of all sequences.
  static index states(extents const& e) {
    return e.time == 1 ? e.batch * e.heads * rows * e.channels : 0;
  }

 private:
  // The room of a state in numbers of inputs.
  static index in_states(extents const& e) {
    return states(e) * static_cast<index>(sizeof(float) / sizeof(io));
  }
  static std::size_t numbers(extents const& e) {
    index const tokens = e.batch * e.time * e.heads;
    return static_cast<std::size_t>(in_states(e) + e.numbers() + tokens * (3 * rows + 2));
  }
  float* initial() const { return reinterpret_cast<float*>(inputs_.data()); }
  sequence_view<io const> of_rows(io const* x) const {
    return {x, e_.batch, e_.time, e_.heads, rows};
  }
  token_view<io const> of_heads(io const* x) const { return {x, e_.batch, e_.time, e_.heads}; }

  extents e_;
  device_array<io> inputs_, outputs_;
  io const *query_, *key_, *value_, *by_row_, *by_head_, *strength_;
};

// `numbers`: numbers moved for each head and token besides its outputs. `products`: products of a
// state and a vector for each head and token.
template <class Op>
measurement measured(std::shared_ptr<memory_inputs> const& p, Op const& op, index numbers,
                     int products, int rounds) {
  extents const& e = p->size();
  auto const y = p->output();
  auto const states = p->states_of_run();
  auto const memory = std::make_shared<device_array<std::byte>>(cuda::workspace_bytes(op, states));
  auto const by_wane = [=](cudaStream_t on) {
    cuda::run<rows>(cuda::stream{on}, op, y, cuda::workspace{memory->data(), memory->bytes()},
                    states);
  };
  auto const by_walk = [=](cudaStream_t on) {
    for_each_line(e.lines(), on, memory_walk<Op>{op, y, states});
  };
  auto const error = [=] {
    index const step = e.lines() > 4096 ? e.lines() / 4096 + 1 : 1;
    deviation const found;
    for_each_line((e.lines() + step - 1) / step, nullptr,
                  memory_comparison<Op>{op, y, states, step, found.to()});
    return found.relative();
  };
  index const tokens = e.batch * e.time * e.heads;
  double const bytes = sizeof(io) * static_cast<double>(tokens * numbers + e.numbers()) +
                       2. * sizeof(float) * static_cast<double>(memory_inputs::states(e));
  double const flops = 2. * products * rows * static_cast<double>(e.numbers());
  auto const product = std::make_shared<gemm>(flops);
  contest c;
  c.ours = {by_wane, error, bytes};
  c.walk = {by_walk, error, bytes};
  c.gemm = [product](cudaStream_t on) { (*product)(on); };
  c.flops_over_gemm = flops / product->flops();
  c.inputs = p->inputs(), c.outputs = p->outputs();
  c.rounding = 0x1p-6;  // factors of products have 8 bits, as outputs have
  return held(c, rounds);
}

measurement measured_backward(std::shared_ptr<memory_inputs> const& p, int rounds) {
  extents const& e = p->size();
  auto const op = p->erasing();
  auto const to = p->gradients();
  auto const dy = p->output_gradient();
  auto const memory =
      std::make_shared<device_array<std::byte>>(cuda::adjoint_workspace_bytes_for<io>(op));
  auto const by_wane = [=](cudaStream_t on) {
    cuda::adjoint<rows>(cuda::stream{on}, op, dy, to,
                        cuda::workspace{memory->data(), memory->bytes()});
  };
  auto const error = [=] {
    index const step = e.lines() > 4096 ? e.lines() / 4096 + 1 : 1;
    deviation const found;
    for_each_line(
        (e.lines() + step - 1) / step, nullptr,
        value_gradient_comparison<decltype(op), io, rows>{op, dy, to.value, step, found.to()});
    return found.relative();
  };
  index const tokens = e.batch * e.time * e.heads;
  // Inputs and the gradient of outputs are read, gradients of inputs written.
  double const bytes =
      sizeof(io) * static_cast<double>(2 * tokens * (2 * rows + 2) + 3 * e.numbers());
  double const flops = 2. * 6 * rows * static_cast<double>(e.numbers());
  auto const product = std::make_shared<gemm>(flops);
  contest c;
  c.ours = {by_wane, error, bytes};
  c.gemm = [product](cudaStream_t on) { (*product)(on); };
  c.flops_over_gemm = flops / product->flops();
  c.inputs = p->inputs(), c.outputs = to.value.data;
  c.rounding = 0x1p-5;  // of two products after each other
  return held(c, rounds);
}

constexpr extents long_one{1, 16, index{1} << 16, 128}, many_heads{1, 96, index{1} << 13, 128},
    step{64, 32, 1, 128};

}  // namespace

std::vector<row> memory_rows() {
  std::vector<row> all;
  for (extents const& e : {batch, long_one, many_heads, step}) {
    std::string const of = "/forward/" + e.text() + "/K:" + std::to_string(rows);
    all.push_back({"gated_delta_net" + of, [e](int rounds) {
                     auto const p = std::make_shared<memory_inputs>(e);
                     return measured(p, p->erasing(), 2 * rows + e.channels + 2, 3, rounds);
                   }});
    all.push_back({"gla" + of, [e](int rounds) {
                     auto const p = std::make_shared<memory_inputs>(e);
                     return measured(p, p->fading(), 3 * rows + e.channels, 2, rounds);
                   }});
  }
  all.push_back(
      {"gated_delta_net/backward/" + batch.text() + "/K:" + std::to_string(rows), [](int rounds) {
         return measured_backward(std::make_shared<memory_inputs>(batch), rounds);
       }});
  return all;
}

}  // namespace wane::bench
