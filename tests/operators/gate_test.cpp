// A user's gate gives log decays: of heads by the position, of rows with a gradient.
// SPDX-License-Identifier: MIT
#include "wane/operators/gates/gate.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/memory_case.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/kimi_delta_attention.hpp"
#include "wane/run/adjoint.hpp"

namespace {

using support::index;
using wane::place, wane::sequence_view, wane::token_view;

// -1 / position: a head remembers longer and longer.
struct slowing_gate {
  double read(place<> at) const { return -1 / static_cast<double>(at.position); }
};
// Half the log decays of a tensor, which it checks.
struct half_gate {
  sequence_view<double const> whole;
  auto read(place<> at, auto i) const { return 0.5 * whole.read(at, i); }
  void check(wane::recurrence_shape const& shape) const {
    wane::check_extent("whole", "rows", whole.extent[3], shape.rows);
  }
};

static_assert(wane::head_gate<slowing_gate> && !wane::row_gate<slowing_gate>);
static_assert(wane::row_gate<half_gate> && !wane::head_gate<half_gate>);
static_assert(wane::head_gate<token_view<float const>> &&
              wane::row_gate<sequence_view<float const>>);
static_assert(!wane::any_gate<int>);
template <class Gate, class T, class View>
constexpr bool has_gradient =
    std::is_same_v<wane::impl::gate_gradient<Gate, T>, wane::impl::named<"log_decay", View>>;
static_assert(has_gradient<slowing_gate, double, token_view<double>>);
static_assert(has_gradient<half_gate, double, sequence_view<double>>);
static_assert(has_gradient<token_view<float const>, float, token_view<float>>);

// Five tokens in each of two pieces: the second goes on at position 6.
TEST(Gate, OfAHeadMayLookAtThePosition) {
  index const time = 10;
  support::memory_case<double> c({1, time, 2, 3, 4});
  c.head_decay.fill([](auto, index t, auto...) { return -1 / static_cast<double>(t + 1); });
  support::tensor<double> whole(1, time, 2, 4), pieces(1, time, 2, 4);
  wane::run(wane::gla(c.in(), support::by_token<double>(c.head_decay)), whole.view());
  wane::recurrent_state<double> state(1, 2, 3, 4);
  for (index t : {0, 5}) {
    wane::keyed_inputs<double> in = c.in();
    auto const cut = [t](auto& x) { x = x.tokens(t, t + 5); };
    cut(in.query), cut(in.key), cut(in.value);
    wane::run(wane::gla(in, slowing_gate()), pieces.view().tokens(t, t + 5),
              wane::run_options<double>{.initial = std::as_const(state), .final = state});
  }
  support::nearness near;
  whole.for_each([&](auto... at) { near.add(pieces(at...), whole(at...)); });
  EXPECT_LT(near.both(), 1e-15);
}

TEST(Gate, OfRowsReceivesTheGradientOfItsLogDecays) {
  support::memory_case<double> c({1, 30, 2, 5, 4}, 3);
  c.row_decay.fill(
      [](auto, index t, auto, index i) { return -0.1 * static_cast<double>(1 + (t + i) % 7); });
  support::tensor<double> half(1, 30, 2, 5), to_gate(1, 30, 2, 5), to_half(1, 30, 2, 5);
  half.fill([&](auto... at) { return c.row_decay(at...) / 2; });
  wane::adjoint(wane::kimi_delta_attention(c.delta_in(), half_gate{c.row_decay}), c.value.view(),
                {.log_decay = to_gate});
  wane::adjoint(wane::kimi_delta_attention<double>(c.delta_in(), half), c.value.view(),
                {.log_decay = to_half});
  to_gate.for_each([&](auto... at) { EXPECT_EQ(to_gate(at...), to_half(at...)); });
}

TEST(Gate, ChecksItself) {
  support::memory_case<double> c({1, 3, 2, 5, 4});
  sequence_view<double const> const four_rows(nullptr, 1, 3, 2, 4);
  support::expect_error({"whole", "rows 4", "must be 5"}, [&] {
    wane::run(wane::gla(c.in(), half_gate{four_rows}), c.output.view());
  });
}

}  // namespace
