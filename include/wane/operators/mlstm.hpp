// mlstm: xLSTM's matrix memory; a running maximum holds its exponential gates in range.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/state/pair.hpp"
#include "wane/operators/memories/mlstm_parts.hpp"
#include "wane/operators/parts/numbers_of_tokens.hpp"

namespace wane {

// input_gate: log i, [B, T, H], any number; the others as in keyed_inputs.
template <class Io>
struct mlstm_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"input_gate", token_view<Io const>> input_gate = {};
};

// C_t = f_t C_{t-1} + i_t k_t v_t^T,   n_t = f_t n_{t-1} + i_t k_t,   f = e^g, i = e^input_gate,
// y_t = C_t^T q_t / max(|n_t . q_t|, 1), with scale q_t for q_t             (Beck et al. 2024)
//
//   wane::mlstm const memory({.query = q, .key = k, .value = v, .input_gate = i}, log_decay);
//   wane::run(memory, y);
//
// log_decay: g, [B, T, H], or a gate of heads, log_sigmoid_gate for f = sigmoid. The state holds C
// and n times e^-m, [K, V + 1] numbers, and m_t = max(g_t + m_{t-1}, input_gate_t), one number, as
// that of a pair. Outputs do not depend on m, so they are those of the equations above for gates of
// any size. A state of zeros has m = 0 and holds nothing.
template <class Io, head_gate Gate = token_view<Io const>, class Accumulate = widened<Io>>
class mlstm : public recurrence_pair<impl::mlstm_memory<Io, Gate, Accumulate>,
                                     impl::mlstm_leader<Io, Gate, Accumulate>> {
  using base = impl::memory_with<impl::mlstm_tensors<Io>, Io, Gate, Accumulate>;
  using memory = impl::mlstm_memory<Io, Gate, Accumulate>;
  using leader = impl::mlstm_leader<Io, Gate, Accumulate>;
  static_assert(!is_complex<Accumulate>, "wane::mlstm: gates are compared, so they are real");

 public:
  using accumulate = Accumulate;

  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  mlstm(std::type_identity_t<mlstm_inputs<Io>> const& in, Given const& log_decay,
        keyed_options const& options = {})
      : mlstm(base(impl::keyed_tensors_of<Io>(in), {in.input_gate},
                   impl::gate_from<Gate>(log_decay), options)) {}

  memory led_by(sequence_view<Accumulate const> const& leads) const {
    return {this->first(), leads};
  }

  // See check_values. An input gate may be closed, -inf.
  void each_number(place<> at, auto const& visit) const {
    this->first().each_number(at, [&](std::string_view name, index i, auto const& x) {
      if (name != "input_gate" || x != -std::numeric_limits<Accumulate>::infinity())
        visit(name.data(), i, x);
    });
  }

  // Any may be absent; log_decay has the shape of the gate.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"input_gate", token_view<Io>> input_gate = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(mlstm const& op) const {
      recurrence_shape shape = op.first().shape();
      shape.columns -= 1;
      impl::check_gradients_with<impl::mlstm_tensors<Io>>(*this, shape);
    }
  };

  // Outputs do not depend on m, so m is held fixed. Where a loss depends on the final state, m is
  // differentiated too: the final C and n fall as m grows. See core/recurrence/led_memory.hpp.
  // Holds 4 numbers a token and head, the sums of the mean, and, where a final gradient is given,
  // one more state and run.
  template <class Passes, class Dy, class Options>
  void adjoint_by(Passes const& passes, Dy const& dy, gradients const& to,
                  Options const& options) const;

 private:
  explicit mlstm(base const& of) : recurrence_pair<memory, leader>(memory(of, {}), leader(of), 2) {}
};

template <class Io, head_gate Gate, class Accumulate>
template <class Passes, class Dy, class Options>
void mlstm<Io, Gate, Accumulate>::adjoint_by(Passes const& passes, Dy const& dy,
                                             gradients const& to, Options const& options) const {
  recurrence_shape const shape = this->first().shape();
  impl::numbers_of_tokens<Accumulate> numbers(shape, 4);
  auto const leads = numbers.take(2), gates = numbers.take(2);
  auto const of_memory =
      impl::part_of(options, [&](auto const& s) { return this->state_of_first(s); });
  auto const of_leader =
      impl::part_of(options, [&](auto const& s) { return this->state_of_second(s); });
  passes.run(this->second(), leads, impl::run_of(of_leader));
  memory const led = led_by(leads);
  // The sum of a state times its gradient: the gradient by m, or by -m for the final state.
  auto const product = [&](auto const& state, auto const& gradient, impl::walk const& w) {
    impl::wider<Accumulate> sum(0);
    for (index i = 0; state.data && gradient.data && i < shape.rows; ++i)
      for (index j = 0; j < shape.columns; ++j)
        sum += static_cast<impl::wider<Accumulate>>(state(w.sequence, w.head, i, j)) *
               static_cast<impl::wider<Accumulate>>(gradient(w.sequence, w.head, i, j));
    return static_cast<Accumulate>(sum);
  };
  auto const& by_final = of_memory.final_gradient.values;
  using State = std::remove_cvref_t<decltype(*by_final.data)>;
  recurrent_state<State> last(by_final.data ? by_final.extent[0] : 1, shape.heads, shape.rows,
                              shape.columns);
  if (by_final.data) {
    auto run = impl::run_of(of_memory);
    run.final = {state_view<State>(last).values};
    index const extent[] = {shape.batch, shape.time, shape.heads, shape.columns - 1};
    sequence_view<impl::unread> none;
    std::copy_n(extent, 4, none.extent);
    passes.run(led, none, run);
  }
  // Before the adjoint, whose gradient of the initial state may replace that of the final one.
  std::vector<Accumulate> by_last_m;
  auto const of_m = [](auto const& values, impl::walk const& w) {
    return values.data ? static_cast<Accumulate>(values(w.sequence, w.head, 0, 0)) : Accumulate(0);
  };
  for (index n = 0; n < impl::walks_of(shape, options); ++n) {
    impl::walk const w = impl::walk_of(n, shape, options, nullptr);
    by_last_m.push_back(of_m(of_leader.final_gradient.values, w));
    if (w.count > 0) by_last_m.back() -= product(state_view<State>(last).values, by_final, w);
  }
  passes.adjoint(led, dy, typename memory::template gradients<gradients>{to, gates}, of_memory);

  for (index n = 0; n < impl::walks_of(shape, options); ++n) {
    impl::walk const w = impl::walk_of(n, shape, options, nullptr);
    Accumulate by_m = by_last_m[static_cast<std::size_t>(n)];
    for (index k = w.count - 1; k >= 0 && by_m != Accumulate(0); --k) {
      place<> const at = w.token(k);
      Accumulate const before =
          k > 0 ? leads.read(w.token(k - 1), index{1}) : of_m(of_leader.initial.values, w);
      auto const now = this->second().gates_at(at, before);
      if (now.keeps || now.writes) *gates.element(at, now.keeps ? 0 : 1) += by_m;
      if (!now.keeps) by_m = Accumulate(0);
    }
    if (auto const& by_initial = of_leader.initial_gradient.values; by_initial.data) {
      if (w.count > 0)
        by_m += product(of_memory.initial.values, of_memory.initial_gradient.values, w);
      by_initial(w.sequence, w.head, 0, 0) = static_cast<State>(by_m);
    }
  }
  passes.for_each_token(shape, options, [&](place<> at) {
    to.log_decay.write(at, gates.read(at, index{0}));
    to.input_gate.write(at, gates.read(at, index{1}));
  });
}

template <class Gate>
mlstm(mlstm_inputs<impl::deduced_number<Gate>> const&, Gate const&, keyed_options const& = {})
    -> mlstm<impl::deduced_number<Gate>,
             impl::deduced_gate_of_heads<Gate, impl::deduced_number<Gate>>>;
template <class Io, impl::other_gate<Io> Gate>
mlstm(mlstm_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> mlstm<Io, impl::deduced_gate_of_heads<Gate, Io>>;

}  // namespace wane
