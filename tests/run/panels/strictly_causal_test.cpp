// Tokens that read before they write, against their definition, in a run and token by token.
// SPDX-License-Identifier: MIT
#include "support/strictly_causal.hpp"

#include <gtest/gtest.h>

#include "support/affine_memory.hpp"
#include "support/element_memory.hpp"
#include "support/nearness.hpp"
#include "wane/run/in_order/advance.hpp"
#include "wane/run/run.hpp"

namespace {

using support::erases;
using support::forgets;
using support::index;
using support::memory;
using support::reads_old;
using support::strictly;
using support::tensor;

// y_t = (w_t o S_{t-1})^T q_t + direct v_t (+ skip), where Old without w_t. The states are those of
// tokens that write first.
template <bool Old, class Op>
void define(Op const& op, tensor<double>& y) {
  wane::recurrence_shape const s = op.shape();
  wane::recurrent_state<double> state(op);
  auto const all = wane::state_view<double>(state);
  for (index b = 0; b < s.batch; ++b)
    for (index h = 0; h < s.heads; ++h)
      for (index t = 0; t < s.time; ++t) {
        wane::place<> const where{b, t, h, t + 1};
        auto const x = op.at(where);
        wane::view<double, 2> const now = wane::impl::state_of(all, b, h);
        for (index j = 0; j < s.columns; ++j) {
          double sum = x.direct() * x.value(j);
          if constexpr (wane::has_skip<decltype(x)>) sum += x.skip(j);
          for (index i = 0; i < s.rows; ++i)
            sum += x.query(i) *
                   (Old ? now(i, j) : wane::carried(wane::decay_of(x, i, j), now(i, j), 0.0));
          y(b, t, h, j) = sum;
        }
        wane::impl::advance(op, where, now, [](index, double) {});
      }
}

// Expects a run and steps to agree with `define`.
template <bool Old, class Op, class Exact>
void expect_defined(Op const& op, Exact const& exact, double bound) {
  using T = wane::accumulate_type<Op>;
  static_assert(wane::strictly_causal<wane::token_of<Op>> &&
                wane::reads_before_decay<wane::token_of<Op>> == Old);
  wane::recurrence_shape const s = op.shape();
  tensor<double> should_be(s.batch, s.time, s.heads, s.columns);
  define<Old>(exact, should_be);
  tensor<T> whole(s.batch, s.time, s.heads, s.columns);
  tensor<T> streamed(s.batch, s.time, s.heads, s.columns);
  wane::run(op, whole.view());
  wane::recurrent_state<T> state(op);
  wane::step(op, streamed.view(), state);
  for (tensor<T> const* y : {&whole, &streamed}) {
    support::nearness near;
    should_be.for_each([&](index b, index t, index h, index j) {
      near.add(static_cast<double>((*y)(b, t, h, j)), should_be(b, t, h, j));
    });
    EXPECT_LE(near.both(), bound) << s.rows << " x " << s.columns << ", " << s.time << " tokens, "
                                  << (y == &whole ? "run" : "step");
  }
}
template <class Op, class Exact>
void expect_defined(Op const& plain, Exact const& exact, double bound) {
  expect_defined<false>(strictly<Op>(plain), exact, bound);
  expect_defined<true>(reads_old<Op>(plain), exact, bound);
}

template <forgets Decay, erases Erase>
void expect_every_size() {
  for (auto [rows, columns] : {std::pair<index, index>{1, 1}, {3, 2}, {16, 16}, {17, 70}})
    for (index time : {1, 3, 4, 5, 70}) {
      memory<float> const m(2, time, 3, rows, columns);
      memory<double> const exact(2, time, 3, rows, columns);
      expect_defined(m.keyed<Decay, Erase>(), exact.keyed<Decay, Erase>(), 1e-6);
      expect_defined(exact.keyed<Decay, Erase>(), exact.keyed<Decay, Erase>(), 1e-14);
    }
}
TEST(StrictlyCausal, MemoriesThatDoNotErase) {
  expect_every_size<forgets::never, erases::no>();
  expect_every_size<forgets::by_head, erases::no>();
  expect_every_size<forgets::by_row, erases::no>();
}
TEST(StrictlyCausal, MemoriesThatErase) {
  expect_every_size<forgets::never, erases::yes>();
  expect_every_size<forgets::by_row, erases::yes>();
}
TEST(StrictlyCausal, DecaysByElement) {
  for (index columns : {1, 5, 151}) {
    support::element_inputs<float> const in(2, 70, 2, 7, columns);
    support::element_inputs<double> const exact(2, 70, 2, 7, columns);
    expect_defined(support::element_memory<float, support::fades::by_log, false>{in},
                   support::element_memory<double, support::fades::by_log, false>{exact}, 1e-6);
  }
}

}  // namespace
