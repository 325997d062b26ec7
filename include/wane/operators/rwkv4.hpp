// rwkv4: RWKV-4's WKV, a mean of values weighted by e^key that fades in every channel.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/wider.hpp"
#include "wane/core/recurrence/checks.hpp"
#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/core/recurrence/row_lanes.hpp"
#include "wane/core/recurrence/stepwise_recurrence.hpp"
#include "wane/operators/parts/channel_parameter.hpp"
#include "wane/operators/parts/wkv_token.hpp"

namespace wane {

// key and value: [B, T, H, V]. log_decay, -w, at most 0, and bonus, u: [H, V].
template <class Io>
struct rwkv4_inputs {
  impl::by_name only = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"log_decay", view<widened<Io> const, 2>> log_decay = {};
  impl::named<"bonus", view<widened<Io> const, 2>> bonus = {};
};

// y_t = (A + e^(u + k_t) v_t) / (B + e^(u + k_t)) with the A and B that the token finds, and then
// A <- e^g A + e^k_t v_t,   B <- e^g B + e^k_t,   in every channel        (Peng et al. 2023, WKV)
//
//   wane::rwkv4<float> const memory({.key = k, .value = v, .log_decay = g, .bonus = u});
//   wane::run(memory, y);
//
// The state is [B, H, 3, V]: a, b and p with A = a e^p and B = b e^p, so that keys may be of any
// size. p <- max(p + g, k). A channel whose b is 0 has seen nothing, whatever its a and p are. A
// key of -inf (below -1e30) writes nothing. Outputs are [B, T, H, V]; H x V channels may be cut
// into heads in any way, and threads share the heads.
template <class Io, class Accumulate = widened<Io>>
class rwkv4 {
  static_assert(!is_complex<Accumulate>, "wane::rwkv4: keys are compared, so they are real");
  using parameter = impl::channel_parameter<widened<Io>>;

 public:
  using accumulate = Accumulate;

  // Throws wane::error when the shapes do not fit.
  explicit rwkv4(rwkv4_inputs<Io> const& in)
      : key_(in.key), value_(in.value), log_decay_(in.log_decay), bonus_(in.bonus) {
    impl::check_given("key", in.key), impl::check_given("value", in.value);
    impl::check_given("log_decay", in.log_decay), impl::check_given("bonus", in.bonus);
    for (int i = 0; i < 4; ++i)
      require(key_.extent[i] == value_.extent[i], "key has extent ", key_.extent[i],
              " along dimension ", i, " of [B, T, H, V]; it must equal that of value, ",
              value_.extent[i]);
    log_decay_.check("log_decay", shape()), bonus_.check("bonus", shape());
    layout_ = layout_of(key_, value_) & log_decay_.layout() & bonus_.layout();
  }

  // Throws wane::error for a tensor without data, or a parameter out of range.
  void check_inputs() const { check("key", key_, shape()), check("value", value_, shape()); }
  void check_parameters() const {
    recurrence_shape const s = shape();
    row_sum<Accumulate> wrong;  // 0, or else positive or NaN
    for (index h = 0; h < s.heads; ++h)
      each_channel<Accumulate>(layout().columns, [&](auto j) WANE_INLINE_LAMBDA {
        auto const g = log_decay_.template read<Accumulate>(h, j),
                   u = bonus_.template read<Accumulate>(h, j);
        using V = std::remove_const_t<decltype(g)>;
        wrong.add(at_least(V(Accumulate(0)), g) + (u - u), V(Accumulate(1)));
      });
    if (wrong.total() == Accumulate(0)) return;
    for (index h = 0; h < s.heads; ++h)
      for (index j = 0; j < s.columns; ++j) {
        auto const g = log_decay_.template read<Accumulate>(h, j),
                   u = bonus_.template read<Accumulate>(h, j);
        require(g <= 0, "log_decay at head ", h, ", channel ", j, " is ", g, "; it must be <= 0");
        require(u - u == 0, "bonus at head ", h, ", channel ", j, " is ", u, "; it must be finite");
      }
  }

  recurrence_shape shape() const {
    return {value_.extent[0], value_.extent[1], value_.extent[2], 3, value_.extent[3]};
  }
  wane::layout layout() const { return layout_; }

  // See check_values. A key may be -inf.
  void each_number(place<> at, auto const& visit) const {
    for (index j = 0; j < value_.extent[3]; ++j) {
      auto const k = convert<Accumulate>(key_.read(at, j));
      if (!(k < impl::wkv_token<Accumulate>::least_key)) visit("key", j, k);
      visit("value", j, convert<Accumulate>(value_.read(at, j)));
    }
  }

  template <class State, class Write>
  void advance(place<> at, view<State, 2> state, Write const& write) const {
    auto const rows = impl::rows_of(state);
    each_channel<State>((layout() & layout_of(rows)).columns, [&](auto j) WANE_INLINE_LAMBDA {
      auto const x = token(at, rows, j);
      auto const read = x.when_read(), written = x.when_written();
      write(j, answer(x, read));
      auto const next = x.next_p();
      rows.write(row(0), j, carried(written.state, x.a, impl::weighted(written.token, x.value)));
      rows.write(row(1), j, carried(written.state, x.b, written.token));
      rows.write(row(2), j, next);
    });
  }

  // Any may be absent. Those of the parameters are summed over tokens and sequences.
  struct gradients {
    using sums = view<impl::wider<Accumulate>, 3>;  // one for each sequence
    impl::by_name only = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::parameter_gradient<"log_decay", view<widened<Io>, 2>, sums> log_decay = {};
    impl::parameter_gradient<"bonus", view<widened<Io>, 2>, sums> bonus = {};

    void check(recurrence_shape const& shape) const {
      check_if_present("the gradient of key", key, shape);
      check_if_present("the gradient of value", value, shape);
    }
    static void each_parameter(auto& of, recurrence_shape const& shape, auto const& visit) {
      visit(of.log_decay, shape.heads, shape.columns), visit(of.bonus, shape.heads, shape.columns);
    }
  };

  // One token back; see retreating_recurrence. With y a quotient of sums, dy / divisor times (v -
  // y) and the token's weight is the gradient by u + k; that by p is its negative. The next p is
  // differentiated along the branch that its maximum took. The gradient by an empty state is 0.
  template <class Out>
  void retreat(place<> at, view<Accumulate const, 2> before, sequence_view<Out const> const& dy,
               view<Accumulate, 2> by_state, gradients const& to) const {
    impl::require_lent(to.log_decay, to.bonus);
    auto const rows = impl::rows_of(before);
    auto const by = impl::rows_of(by_state);
    bool const in_lanes = (layout() & layout_of(rows, by, dy, to.key, to.value)).columns;
    each_channel<Accumulate>(in_lanes, [&](auto j) WANE_INLINE_LAMBDA {
      auto const x = token(at, rows, j);
      using V = std::remove_const_t<decltype(x.a)>;
      auto const read = x.when_read(), written = x.when_written();
      V const zero = V(Accumulate(0)), held = read.state.whole;
      V const y = answer(x, read);
      V const scaled = convert<Accumulate>(dy.read(at, j)) / divisor(x, read);
      V const by_share = impl::weighted(read.token, scaled * (x.value - y));  // by u + k and -p

      V const by_a = by.read(row(0), j), by_b = by.read(row(1), j), by_p = by.read(row(2), j);
      V const kept = factor_of(written.state);
      V const of_state = impl::weighted(kept, multiply_add(x.a, by_a, x.b * by_b)),
              of_token = impl::weighted(written.token, multiply_add(x.value, by_a, by_b));
      V const of_maximum = by_p - of_state - of_token;
      V const by_decay = of_state + x.where_key_leads(zero, of_maximum);
      V const by_key = of_token + x.where_key_leads(of_maximum, zero);

      by.write(row(0), j, carried(written.state, by_a, held * scaled));
      by.write(row(1), j, carried(written.state, by_b, -(held * scaled * y)));
      by.write(row(2), j, by_decay - by_share);
      to.key.write(at, j, x.if_open(by_key + by_share));
      to.value.write(at, j, multiply_add(written.token, by_a, read.token * scaled));
      add_to(to.log_decay, at, j, by_decay), add_to(to.bonus, at, j, by_share);
    });
  }

 private:
  WANE_HOST_INLINE static place<> row(index i) { return {0, i, 0}; }
  // Calls body(j) for all channels, in lanes where `in_lanes` and where the states are of the type
  // that is computed in. Unlike for_row_lanes it is for the host alone, as steps are.
  template <class State, class Body>
  WANE_HOST_INLINE void each_channel(bool in_lanes, Body const& body) const {
    constexpr int width = simd_width<Accumulate>;
    index j = 0;
    if constexpr (fits_simd<Accumulate> && std::is_same_v<State, Accumulate>)
      if (in_lanes)
        for (; j + width <= value_.extent[3]; j += width) body(lanes<width>{j});
    for (; j < value_.extent[3]; ++j) body(j);
  }
  template <class State>
  WANE_HOST_INLINE auto token(place<> at, sequence_view<State> const& rows, auto j) const {
    auto const of_row = [&](index i) WANE_INLINE_LAMBDA {
      return convert<Accumulate>(rows.read(row(i), j));
    };
    return impl::wkv_token(
        convert<Accumulate>(key_.read(at, j)), convert<Accumulate>(value_.read(at, j)),
        log_decay_.template read<Accumulate>(at.head, j),
        bonus_.template read<Accumulate>(at.head, j), of_row(0), of_row(1), of_row(2));
  }
  WANE_HOST_INLINE static auto divisor(auto const& x, auto const& read) {
    return multiply_add(read.state.whole, x.b, read.token);
  }
  WANE_HOST_INLINE static auto answer(auto const& x, auto const& read) {
    return carried(read.state, x.a, impl::weighted(read.token, x.value)) / divisor(x, read);
  }
  WANE_HOST_INLINE static void add_to(auto const& parameter, place<> at, auto j, auto const& g) {
    if (parameter.data) impl::add_lanes(&parameter.parts(at.sequence, at.head, first_of(j)), g);
  }

  sequence_view<Io const> key_, value_;
  parameter log_decay_, bonus_;
  wane::layout layout_;  // found once, because a token of few channels takes less time than this
};

}  // namespace wane
