// What the adjoint in chunks of wane::cuda must be, on a GPU and on an emulated one.
// SPDX-License-Identifier: MIT
#pragma once

#include <deque>

#include "cuda/chunks/cases.hpp"
#include "wane/operators/vla_delta_net.hpp"
#include "wane/run/adjoint.hpp"

namespace support {

// Token by token, but for penalised memories.
struct adjoint_of_tokens {
  template <class Op, class Out>
  void operator()(Op const& op, wane::sequence_view<Out> const& output_gradient,
                  auto const& gradients, auto const& options) const {
    if constexpr (wane::penalised_memory<Op>)
      wane::adjoint(op, output_gradient, gradients, options);
    else
      wane::impl::with_parts(
          gradients, op.shape(), wane::impl::sequences_of(op.shape(), options.packed),
          [&](auto const& to) {
            wane::impl::adjoint_in_order(op, wane::sequence_view<Out const>(output_gradient), to,
                                         options);
          });
  }
};

// Gradients of the operators of chunk_numbers, each tensor NaN until it is written.
template <class Io>
class chunk_gradients {
 public:
  explicit chunk_gradients(chunk_shape const& shape) : shape_(shape) {}

  template <class Gate>
  auto of(wane::gla<Io, Gate> const& op) {
    return keyed(op, {.log_decay = rows()});
  }
  auto of(wane::hgrn2<Io> const&) {
    return typename wane::hgrn2<Io>::gradients{
        .query = rows(), .value = tensor(shape_.columns), .log_decay = rows()};
  }
  auto of(wane::gated_delta_net<Io> const& op) {
    return keyed(op, {.strength = heads(), .log_decay = heads()});
  }
  auto of(wane::kimi_delta_attention<Io> const& op) {
    return keyed(op, {.strength = heads(), .log_decay = rows()});
  }
  auto of(wane::rwkv7<Io> const& op) {
    return keyed(op, {.removal = rows(),
                      .rate = rows(),
                      .bonus = {parameter(shape_.rows), shape_.heads, shape_.rows},
                      .log_decay = rows()});
  }
  auto of(wane::delta_net<Io> const& op) { return keyed(op, {.strength = heads()}); }
  auto of(wane::vla_delta_net<Io> const& op) { return keyed(op, {.decay = heads()}); }
  auto of(wane::mamba2<Io> const&) {
    return typename wane::mamba2<Io>::gradients{.x = tensor(shape_.columns),
                                                .dt = heads(),
                                                .A = {parameter(1), shape_.heads},
                                                .B = rows(),
                                                .C = rows(),
                                                .D = {parameter(1), shape_.heads},
                                                .dt_bias = {parameter(1), shape_.heads},
                                                .taper = {parameter(1), shape_.heads}};
  }

  template <wane::write_rule Rule, class Gate>
  auto of(wane::vla<Io, Rule, Gate> const& op) {
    auto to = keyed(op, {});
    if (!op.penalises_keys()) to.direction = rows();
    if constexpr (wane::head_gate<Gate>) to.log_decay = heads();
    to.lambda = {parameter(1), shape_.heads};
    return to;
  }

  // Every tensor, in the order above.
  std::vector<std::vector<double>> all() const {
    std::vector<std::vector<double>> x;
    for (auto const& each : inputs_) x.push_back(widened(each));
    for (auto const& each : wide_) x.push_back(widened(each));
    return x;
  }

 private:
  // The gradient of a parameter of every head.
  wane::widened<Io>* parameter(index each) {
    wide_.emplace_back(static_cast<std::size_t>(shape_.heads * each), NAN);
    return wide_.back().data();
  }
  Io* take(index channels) {
    inputs_.emplace_back(static_cast<std::size_t>(shape_.of(channels)),
                         static_cast<Io>(std::numeric_limits<float>::quiet_NaN()));
    return inputs_.back().data();
  }
  wane::sequence_view<Io> tensor(index channels) {
    return {take(channels), shape_.batch, shape_.time, shape_.heads, channels};
  }
  wane::sequence_view<Io> rows() { return tensor(shape_.rows); }
  wane::token_view<Io> heads() { return {take(1), shape_.batch, shape_.time, shape_.heads}; }
  template <class Op>
  typename Op::gradients keyed(Op const&, typename Op::gradients to) {
    to.query = rows(), to.key = rows(), to.value = tensor(shape_.columns);
    return to;
  }

  chunk_shape shape_;
  std::deque<std::vector<Io>> inputs_;
  std::deque<std::vector<wane::widened<Io>>> wide_;
};

// `adjoint` is called as wane::adjoint is.
template <class Adjoint>
struct chunk_adjoint_cases {
  Adjoint adjoint;

  template <class Io>
  void gla(chunk_shape const& shape, bool strong = false) const {
    both_ways<Io>("gla", shape, strong, [](auto const& x) { return x.gla(); });
  }
  template <class Io>
  void hgrn2(chunk_shape const& shape, bool strong = false) const {
    both_ways<Io>("hgrn2", shape, strong, [](auto const& x) { return x.hgrn2(); });
  }
  template <class Io>
  void mamba2(chunk_shape const& shape) const {
    both_ways<Io>("mamba2", shape, false, [](auto const& x) { return x.mamba2(); });
  }
  template <class Io>
  void gated_delta_net(chunk_shape const& shape, bool strong = false) const {
    both_ways<Io>("gated_delta_net", shape, strong,
                  [](auto const& x) { return x.gated_delta_net(); });
  }
  template <class Io>
  void kimi(chunk_shape const& shape, bool strong = false) const {
    both_ways<Io>("kimi_delta_attention", shape, strong, [](auto const& x) { return x.kimi(); });
  }
  template <class Io>
  void rwkv7(chunk_shape const& shape, bool strong = false) const {
    both_ways<Io>("rwkv7", shape, strong, [](auto const& x) { return x.rwkv7(); });
  }

  // No decay, and a plain one of which some are 0.
  template <class Io>
  void delta_net(chunk_shape const& shape) const {
    both_ways<Io>("delta_net", shape, false, [](auto const& x) { return x.delta_net(); });
  }
  template <class Io>
  void vla_delta_net(chunk_shape const& shape) const {
    both_ways<Io>("vla_delta_net", shape, false, [](auto const& x) { return x.vla_delta_net(); });
  }

  // Directions are the keys, or are given.
  template <class Io, wane::write_rule Rule>
  void vla(chunk_shape const& shape, bool given = false) const {
    both_ways<Io>("vla", shape, false, [=](auto const& x) { return x.template vla<Rule>(given); });
  }
  template <class Io, wane::write_rule Rule>
  void fading_vla(chunk_shape const& shape, bool strong = false, bool given = false) const {
    both_ways<Io>("vla with a gate", shape, strong,
                  [=](auto const& x) { return x.template fading_vla<Rule>(given); });
  }

  // Sequences of 0, 1, 16 and other numbers of tokens, in one row.
  template <class Io>
  void pack_penalised() const {
    std::vector<index> const starts = {0, 0, 1, 17, 17, 36, 37};
    using enum wane::write_rule;
    for (auto way : {direction::forward, direction::reverse}) {
      expect_near<Io>("vla", {}, false, way, starts,
                      [](auto const& x) { return x.template vla<rls>(false); });
      expect_near<Io>("vla with a gate", {}, false, way, starts,
                      [](auto const& x) { return x.template fading_vla<unit>(true); });
    }
  }
  template <class Io>
  void pack() const {
    std::vector<index> const starts = {0, 0, 1, 17, 17, 36, 37};
    for (auto way : {direction::forward, direction::reverse}) {
      expect_near<Io>("gated_delta_net", {}, false, way, starts,
                      [](auto const& x) { return x.gated_delta_net(); });
      expect_near<Io>("gla", {}, false, way, starts, [](auto const& x) { return x.gla(); });
    }
  }

  // The largest of all gradients.
  template <class Io, class Make>
  double distance(chunk_shape const& shape, Make const& make) const {
    auto const is = gradients_by<Io>(shape, false, direction::forward, {}, make, adjoint);
    auto const should_be =
        gradients_by<double>(shape, false, direction::forward, {}, make, adjoint_of_tokens{});
    double largest = 0;
    for (std::size_t n = 0; n < is.size(); ++n)
      largest = std::max(largest, apart(is[n], should_be[n]));
    return largest;
  }

 private:
  template <class Io, class Make>
  void both_ways(char const* name, chunk_shape const& shape, bool strong, Make const& make) const {
    for (auto way : {direction::forward, direction::reverse})
      expect_near<Io>(name, shape, strong, way, {}, make);
  }
  template <class Io, class Make>
  void expect_near(char const* name, chunk_shape const& shape, bool strong, direction way,
                   std::vector<index> const& starts, Make const& make) const {
    auto const is = gradients_by<Io>(shape, strong, way, starts, make, adjoint);
    auto const should_be =
        gradients_by<double>(shape, strong, way, starts, make, adjoint_of_tokens{});
    // Products round to 8 bits, to 11, or not at all; there are several after each other. The unit
    // cuts sums off, which costs most with 256 rows: 2.4e-6 emulated, 3.2e-6 on an H200 (0.6e-6 if
    // sums were rounded).
    double const bound = sizeof(Io) > 2                       ? (shape.rows > 128 ? 4e-6 : 3e-6)
                         : std::is_same_v<Io, wane::bfloat16> ? 0x1p-5
                                                              : 0x1p-9;
    // A penalty may be badly conditioned: then the most that the CPU is off in the same type, whose
    // factors hold 24 bits, by the 22 bits of those here.
    double conditioned = 0;
    if constexpr (wane::penalised_memory<decltype(make(
                      std::declval<chunk_numbers<Io> const&>()))>) {
      auto const by_cpu = gradients_by<Io>(shape, strong, way, starts, make, adjoint_of_tokens{});
      for (std::size_t n = 0; n < is.size(); ++n)
        conditioned = std::max(conditioned, 4 * apart(by_cpu[n], should_be[n]));
    }
    for (std::size_t n = 0; n < is.size(); ++n)
      EXPECT_LT(apart(is[n], should_be[n]), std::max(bound, conditioned))
          << name << ", gradient " << n;
  }

  // Of the inputs, then of the initial state.
  template <class Io, class Make>
  static std::vector<std::vector<double>> gradients_by(chunk_shape const& shape, bool strong,
                                                       direction way,
                                                       std::vector<index> const& starts,
                                                       Make const& make, auto const& adjoint_by) {
    using T = wane::widened<Io>;
    chunk_numbers<Io> const x{.shape = shape, .strong = strong};
    auto const op = make(x);
    chunk_gradients<Io> to(shape);
    index const sequences = starts.empty() ? shape.batch : std::ssize(starts) - 1;
    random_values random(3);
    auto const some = [&] { return wane::bfloat16(static_cast<float>(random.uniform(-1, 1))); };
    wane::recurrent_state<T> start(op, sequences), last(op, sequences), found(op, sequences);
    for (T& value : start.values()) value = T(some());
    set_factors(start.values(), op);
    for (T& value : last.values()) value = T(some());
    for (T& value : found.values()) value = std::numeric_limits<T>::quiet_NaN();
    for (index& n : start.positions()) n = 1000 + (&n - start.positions().data());
    std::vector<Io> dy;
    for (index n = 0; n < shape.of(shape.columns); ++n)
      dy.push_back(static_cast<Io>(static_cast<float>(some())));
    wane::adjoint_options<T> options;
    options.initial = std::as_const(start), options.final_gradient = std::as_const(last);
    options.initial_gradient = found, options.packed = {starts}, options.direction = way;
    adjoint_by(
        op, wane::sequence_view<Io>(dy.data(), shape.batch, shape.time, shape.heads, shape.columns),
        to.of(op), options);
    auto all = to.all();
    all.push_back(widened(found.values()));
    return all;
  }
};

}  // namespace support
