// The adjoint of local attention from any ring: the laws, pieces, packed sequences, 16 bits.
// SPDX-License-Identifier: MIT
#include "wane/run/attention/local_adjoint.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "support/laws_hold.hpp"
#include "support/local_attention_problem.hpp"
#include "support/nearness.hpp"
#include "support/tensor.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace wane::testing {
namespace {

// Gradients by all inputs and by the initial ring are the derivative, also of padded batches. Rings
// are empty, filled in part, or full, and turned by any number of slots.
TEST(LocalAdjoint, KeepsTheLawsOfTheAdjoint) {
  for (index window : {1, 2, 6, 40})
    for (index seen : {0, 1, 5, 6, 1003})
      for (memory_size const& size :
           {memory_size{2, 30, 2, 5, 3}, {1, 4, 4, 3, 2, 2}, {1, 90, 1, 3, 9}}) {
        local_attention_problem<double> p(size, window, seen, seen % 2 == 1);
        support::expect_to_hold(check_adjoint_laws(p), "window " + std::to_string(window) +
                                                           " after " + std::to_string(seen) + ", ");
      }
}

template <class T>
std::vector<T> random_rows(std::size_t count, unsigned seed) {
  std::mt19937_64 bits(seed);
  return random_numbers<T>(count, bits);
}

template <class T>
class in_pieces {
 public:
  static constexpr index tokens = 130, batch = 2, heads = 2, columns = 5;
  using problem = local_attention_problem<T>;
  using state = recurrent_state<T>;

  in_pieces(index window, index seen, direction way)
      : start_({batch, tokens, heads, 4, columns}, window, seen),
        way_(way),
        dy_(random_rows<T>(batch * tokens * heads * columns, 3)),
        initial_(start_.make(0, 0)),
        final_gradient_(start_.make(0, 0)) {
    std::mt19937_64 bits(4);
    start_.begin(initial_, bits);
    final_gradient_.values() = random_rows<T>(final_gradient_.values().size(), 5);
  }

  // The gradients by all inputs and by the initial ring. A state carries the gradient from piece to
  // piece in its own memory.
  std::vector<std::vector<T>> gradients(std::vector<index> const& cuts) const {
    problem p = start_;
    std::vector<state> states{initial_};
    bool const forward = way_ == direction::forward;
    std::vector<std::pair<index, index>> pieces;  // in the order of the run
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) pieces.push_back({cuts[i], cuts[i + 1]});
    if (!forward) std::reverse(pieces.begin(), pieces.end());
    std::vector<T> y(dy_.size());
    sequence_view<T> const output(y.data(), batch, tokens, heads, columns);
    for (auto const& piece : pieces) {
      state after = states.back();
      run(p.make(piece.first, piece.second), output.tokens(piece.first, piece.second),
          run_options<T>{
              .initial = std::as_const(states.back()), .final = after, .direction = way_});
      states.push_back(after);
    }
    state carried = final_gradient_;
    sequence_view<T const> const dy(dy_.data(), batch, tokens, heads, columns);
    for (std::size_t i = pieces.size(); i-- > 0;) {
      auto const [begin, end] = pieces[i];
      adjoint(p.make(begin, end), dy.tokens(begin, end), p.gradients(begin, end),
              adjoint_options<T>{.initial = std::as_const(states[i]),
                                 .final_gradient = std::as_const(carried),
                                 .initial_gradient = carried,
                                 .direction = way_});
    }
    std::vector<std::vector<T>> all{{carried.values().begin(), carried.values().end()}};
    for (auto const& of : p.input_gradients()) all.emplace_back(of.begin(), of.end());
    return all;
  }

  void expect_equal(std::vector<index> const& cuts, double bound) const {
    auto const whole = gradients({0, tokens}), is = gradients(cuts);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      distance apart;
      apart.see(is[i], whole[i]);
      EXPECT_LE(apart.relative(), bound) << "gradient " << i << ", cut at " << cuts[1];
    }
  }

 private:
  problem start_;
  direction way_;
  std::vector<T> dy_;
  state initial_, final_gradient_;
};

template <class T>
void expect_pieces(double bound) {
  for (direction way : {direction::forward, direction::reverse})
    for (index window : {1, 7, 64, 200})
      for (index seen : {0, 3, 1000}) {
        in_pieces<T> const of(window, seen, way);
        of.expect_equal({0, 50, 130}, bound), of.expect_equal({0, 2, 130}, bound);
        of.expect_equal({0, 3, 127, 130}, bound), of.expect_equal({0, 60, 60, 130}, bound);
      }
}
TEST(LocalAdjoint, OfPiecesIsThatOfTheWhole) {
  expect_pieces<double>(1e-12);
  expect_pieces<float>(1e-6);
}

// Each packed sequence has the gradients that it has alone, after its own number of tokens.
TEST(LocalAdjoint, OfPackedSequencesIsThatOfEach) {
  constexpr index time = 100, heads = 2, columns = 3;
  std::vector<index> const starts{0, 7, 7, 8, time};
  local_attention_problem<double> packed({1, time, heads, 4, columns}, 9, 4), alone = packed;
  recurrent_state<double> initial(packed.make(0, time), 4), final_gradient = initial,
                                                            of_packed = initial, of_alone = initial;
  std::mt19937_64 bits(2);
  packed.begin(initial, bits), packed.begin(final_gradient, bits);
  auto const numbers = random_rows<double>(time * heads * columns, 3);
  sequence_view<double const> const dy(numbers.data(), 1, time, heads, columns);
  for (direction way : {direction::forward, direction::reverse}) {
    adjoint(packed.make(0, time), dy, packed.gradients(),
            adjoint_options<double>{.initial = std::as_const(initial),
                                    .final_gradient = std::as_const(final_gradient),
                                    .initial_gradient = of_packed,
                                    .packed = {starts},
                                    .direction = way});
    for (index n = 0; n < 4; ++n) {
      auto const part = [&](auto of) {
        of.values.data += n * of.values.stride[0], of.values.extent[0] = 1, of.positions += n;
        return of;
      };
      index const begin = starts[static_cast<std::size_t>(n)],
                  end = starts[static_cast<std::size_t>(n + 1)];
      adjoint(alone.make(begin, end), dy.tokens(begin, end), alone.gradients(begin, end),
              adjoint_options<double>{
                  .initial = part(state_view<double const>(std::as_const(initial))),
                  .final_gradient = part(state_view<double const>(std::as_const(final_gradient))),
                  .initial_gradient = part(state_view<double>(of_alone)),
                  .direction = way});
    }
    EXPECT_EQ(of_packed.values(), of_alone.values());
    auto const is = packed.input_gradients(), must_be = alone.input_gradients();
    for (std::size_t i = 0; i < is.size(); ++i)
      EXPECT_TRUE(std::equal(is[i].begin(), is[i].end(), must_be[i].begin())) << i;
  }
}

// From an empty ring the gradients have the bits of attend_adjoint. What lies in rows that hold no
// token yet is not read, and they get no gradient from the outputs.
TEST(LocalAdjoint, FromAnEmptyRingIsThatOfTheWhole) {
  local_attention_problem<float> own({2, 500, 2, 6, 5}, 30, 0, true), whole = own;
  auto const op = own.make(0, 500);
  auto const numbers = random_rows<float>(2 * 500 * 2 * 6, 3);
  sequence_view<float const> const dy(numbers.data(), 2, 500, 2, 6);
  recurrent_state<float> empty(op), gradient(op);
  std::ranges::fill(empty.values(), NAN);
  std::ranges::fill(gradient.values(), NAN);
  adjoint(op, dy, own.gradients(),
          adjoint_options<float>{.initial = std::as_const(empty), .initial_gradient = gradient});
  attend_adjoint(op.whole(), dy, whole.gradients());
  auto const is = own.input_gradients(), must_be = whole.input_gradients();
  for (std::size_t i = 0; i < is.size(); ++i)
    EXPECT_TRUE(std::equal(is[i].begin(), is[i].end(), must_be[i].begin())) << i;
  for (float g : gradient.values()) EXPECT_EQ(g, 0);

  // Of a ring filled in part: token 2 of a window of 30 has two rows filled.
  empty.positions() = {2, 2};
  auto const at = [&](index n, index h, index r, index c) -> float& {
    return state_view<float>(empty).values(n, h, r, c);
  };
  for (index n : {0, 1})
    for (index h : {0, 1})
      for (index r : {0, 1})
        for (index c = 0; c < 11; ++c) at(n, h, r, c) = 1;
  adjoint(op, dy, own.gradients(),
          adjoint_options<float>{.initial = std::as_const(empty), .initial_gradient = gradient});
  auto const values = state_view<float>(gradient).values;
  for (index r = 0; r < 30; ++r)
    for (index c = 0; c < 11; ++c) EXPECT_EQ(values(1, 1, r, c) != 0, r < 2) << r << ' ' << c;
}

// The tokens of a ring and of the inputs get the gradients they have as one sequence in float, to
// the rounding of 16 bits: 2^-8 or 2^-11 of an element, twice where a token is in the final ring.
template <class Io>
void expect_sixteen_bits(double bound) {
  constexpr index time = 60, cut = 21, heads = 2, rows = 4, columns = 3, window = 8;
  memory_size const size{1, time, heads, rows, columns};
  local_attention_problem<float> exact(size, window);
  for (auto numbers : exact.inputs())
    for (float& x : numbers) x = static_cast<float>(Io(x));
  auto const narrow = [](auto const& values) {
    return std::vector<Io>(values.begin(), values.end());
  };
  auto const q = narrow(exact.query.input.values), k = narrow(exact.key.input.values),
             v = narrow(exact.value.values);
  auto const part = [](auto& x, index channels, index begin, index end) {
    using X = std::remove_pointer_t<decltype(x.data())>;
    return sequence_view<X>(x.data(), 1, time, heads, channels).tokens(begin, end);
  };
  auto const make = [&](index begin, index end) {
    return local_attention<Io>({.query = part(q, rows, begin, end),
                                .key = part(k, rows, begin, end),
                                .value = part(v, columns, begin, end)},
                               {.window = window});
  };
  auto const numbers = random_rows<float>(time * heads * columns, 6);
  std::vector<Io> const rounded = narrow(numbers);
  std::vector<float> const dy(rounded.begin(), rounded.end());
  adjoint(exact.make(0, time), part(dy, columns, 0, time), exact.gradients());

  // A ring of 16 bits holds such tokens as they are.
  recurrent_state<Io> ring(make(0, cut)), carried = ring;
  std::vector<Io> y(dy.size()), dq(q.size()), dk(k.size()), dv(v.size());
  run(make(0, cut), part(y, columns, 0, cut), run_options<Io>{.final = ring});
  auto const back = [&](index begin, index end, adjoint_options<Io> const& options) {
    adjoint(make(begin, end), part(rounded, columns, begin, end),
            {.query = part(dq, rows, begin, end),
             .key = part(dk, rows, begin, end),
             .value = part(dv, columns, begin, end)},
            options);
  };
  back(cut, time, {.initial = std::as_const(ring), .initial_gradient = carried});
  back(0, cut, {.final_gradient = std::as_const(carried)});
  auto const expect_near = [&](std::vector<Io> const& is, std::span<float const> must_be) {
    support::nearness near;
    for (std::size_t i = 0; i < is.size(); ++i)
      near.add(static_cast<double>(static_cast<float>(is[i])), static_cast<double>(must_be[i]));
    EXPECT_LE(near.both(), 2 * bound);
  };
  auto const gradients = exact.input_gradients();
  expect_near(dq, gradients[0]), expect_near(dk, gradients[1]), expect_near(dv, gradients[2]);
}
TEST(LocalAdjoint, OfSixteenBits) {
  expect_sixteen_bits<bfloat16>(0x1p-8);
  expect_sixteen_bits<float16>(0x1p-11);
}

// A state that is absent holds zeros; with positions its rows are tokens of zeros.
TEST(LocalAdjoint, OfAnAbsentRingWithPositions) {
  local_attention_problem<double> zeros({1, 20, 2, 4, 3}, 6), absent = zeros;
  auto const op = zeros.make(0, 20);
  auto const numbers = random_rows<double>(20 * 2 * 3, 3);
  sequence_view<double const> const dy(numbers.data(), 1, 20, 2, 3);
  recurrent_state<double> ring(op), of_zeros(op), of_absent(op);
  ring.positions() = {4};
  adjoint_options<double> options{.initial = std::as_const(ring), .initial_gradient = of_zeros};
  adjoint(op, dy, zeros.gradients(), options);
  options.initial.values.data = nullptr, options.initial_gradient = of_absent;
  adjoint(op, dy, absent.gradients(), options);
  EXPECT_EQ(of_zeros.values(), of_absent.values());
  EXPECT_EQ(zeros.query.by_head.gradient, absent.query.by_head.gradient);
  EXPECT_EQ(zeros.value.gradient, absent.value.gradient);
}

}  // namespace
}  // namespace wane::testing
