// A mask of each sequence: every sequence of a call is what it would be alone with its own mask.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstring>

#include "support/expect_error.hpp"
#include "support/laplace_problem.hpp"
#include "wane/core/state/pair.hpp"
#include "wane/operators/laplace_coefficients.hpp"
#include "wane/run/two_sided/adjoint.hpp"
#include "wane/run/two_sided/coefficients.hpp"
#include "wane/run/two_sided/stream.hpp"

namespace wane {
namespace {

using spectra::window_shape;
using support::laplace_problem, support::laplace_size;

// The sequences of a call: rows of a batch, some of them padded, or packed in one row.
struct arrangement {
  std::vector<index> starts = {}, lengths = {};
  direction way = direction::forward;

  index batch() const { return starts.empty() ? 3 : 1; }
  index sequences() const { return starts.empty() ? 3 : std::ssize(starts) - 1; }
  template <class Options>
  Options options() const {
    Options all;
    all.packed = {starts}, all.lengths = lengths, all.direction = way;
    return all;
  }
};
constexpr index tokens = 41;
arrangement const arrangements[] = {{},
                                    {.way = direction::reverse},
                                    {.lengths = {41, 0, 17}},
                                    {.lengths = {1, 41, 30}, .way = direction::reverse},
                                    {.starts = {0, 9, 9, 10, 41}},
                                    {.starts = {0, 30, 41, 41}, .way = direction::reverse}};

// The four passes that know masks.
struct one_sided {
  static auto of(auto const& bank) { return bank; }
  static void run(auto const& op, auto const& y, auto const& options) { wane::run(op, y, options); }
  static void adjoint(auto const& op, auto const& dy, auto const& to, auto const& options) {
    wane::adjoint(op, dy, to, options);
  }
};
struct two_sided {
  static auto of(auto const& bank) { return bank; }
  static void run(auto const& op, auto const& y, auto const& options) {
    run_two_sided(op, op.future(), y, options);
  }
  static void adjoint(auto const& op, auto const& dy, auto const& to, auto const& options) {
    adjoint_two_sided(op, op.future(), dy, to, options);
  }
};
struct coefficients : one_sided {
  static auto of(auto const& bank) { return laplace_coefficients(bank); }
};
struct two_sided_coefficients {
  static auto of(auto const& bank) { return laplace_coefficients(bank); }
  static void run(auto const& op, auto const& y, auto const& options) {
    run_two_sided(op, y, options);
  }
  static void adjoint(auto const& op, auto const& dy, auto const& to, auto const& options) {
    adjoint_two_sided(op, dy, to, options);
  }
};

template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class Pass, class Problem>
struct masked_call {
  using Bank = typename Problem::operation;
  using Op = decltype(Pass::of(std::declval<Bank const&>()));
  using Io = typename Bank::input;
  using P = typename Bank::parameter;
  using Out = output_type<Op>;
  using V = accumulate_type<Op>;
  using numbers = std::vector<P>;

  masked_call(arrangement const& where, bool by_column)
      : how(where),
        p({.batch = how.batch(),
           .tokens = tokens,
           .columns = 9,
           .width = 7.5,
           .by_column = by_column,
           .masked = true,
           .masks = how.sequences()}),
        all(p.make(0, tokens)),
        whole(Pass::of(all)),
        y(size(p.batch * tokens * p.heads * output_shape_of(whole).columns), Out(-7)),
        dy(y),
        dx(p.x.size(), Io(-7.f)) {
    support::random_values random{3};
    for (Out& number : dy) number = static_cast<Out>(random.uniform(-1, 1));
  }
  static std::size_t size(index n) { return static_cast<std::size_t>(n); }

  // The tokens of sequence n.
  template <class T>
  sequence_view<T> part(sequence_view<T> x, index n) const {
    auto const [row, begin, end] = impl::tokens_of(n, tokens, {how.starts}, how.lengths);
    x.data += row * x.stride[0], x.extent[0] = 1;
    return x.tokens(begin, end);
  }
  template <class T>
  sequence_view<T> of(std::vector<T>& x) const {
    index const columns = std::ssize(x) / (p.batch * tokens * p.heads);
    return {x.data(), p.batch, tokens, p.heads, columns};
  }
  Bank alone(index n) const {
    auto nodes = all.parameters();
    nodes.mask = {p.mask.data() + n * p.heads * p.nodes, p.heads, p.nodes};
    return Bank({.value = part(all.values(), n)}, nodes);
  }
  recurrent_state<V> states(index n) const { return {n, p.heads, whole.shape().rows, p.columns}; }

  void expect_runs_as_alone() {
    auto others = y;
    recurrent_state<V> final = states(how.sequences());
    auto options = how.template options<run_options<V>>();
    options.final = final;
    Pass::run(whole, of(y), options);
    for (index n = 0; n < how.sequences(); ++n) {
      recurrent_state<V> own = states(1);
      run_options<V> of_own;
      of_own.final = own, of_own.direction = how.way;
      Pass::run(Pass::of(alone(n)), part(of(others), n), of_own);
      EXPECT_EQ(
          std::memcmp(own.values().data(), final.values().data() + size(n) * own.values().size(),
                      own.values().size() * sizeof(V)),
          0)
          << "state " << n;
    }
    EXPECT_TRUE(same_bits(y, others));
  }

  struct gradients {
    index masks;
    numbers sigma, omega, read_out, width, mask;

    gradients(Problem const& of, index count)
        : masks(count),
          sigma(of.sigma.size()),
          omega(sigma),
          read_out(of.read_out.size()),
          width(of.widths.size()),
          mask(sigma.size() * size(masks), P(-7)) {}
    std::array<numbers*, 4> of_all() { return {&sigma, &omega, &read_out, &width}; }
    laplace_parameters<P> nodes(Problem const& of) {
      laplace_parameters<P> to{.sigma = {sigma.data(), of.heads, of.nodes},
                               .omega = {omega.data(), of.heads, of.nodes},
                               .mask = {mask.data(), masks, of.heads, of.nodes}};
      if constexpr (std::is_same_v<Op, Bank>)
        to.read_out = {reinterpret_cast<std::complex<P>*>(read_out.data()), of.heads, of.nodes,
                       of.by_column ? of.columns : 1};
      if constexpr (Bank::has_window) to.width = {width.data(), of.heads};
      return to;
    }
  };

  static double largest_of(numbers const& x) {
    double largest = 0;
    for (P each : x) largest = std::max(largest, std::abs(double(each)));
    return largest;
  }
  // Gradients of what sequences share are sums over them.
  void expect_gradients_as_alone() {
    index const count = how.sequences();
    gradients to(p, count), sums(p, 1);
    Pass::adjoint(whole, of(dy), typename Bank::gradients{.value = of(dx), .nodes = to.nodes(p)},
                  how.template options<adjoint_options<V>>());
    std::vector<Io> others(dx.size(), Io(-7.f));
    double scale[4] = {};  // of the terms of each sum
    for (index n = 0; n < count; ++n) {
      gradients own(p, 1);
      adjoint_options<V> of_own;
      of_own.direction = how.way;
      Pass::adjoint(Pass::of(alone(n)), part(of(dy), n),
                    typename Bank::gradients{.value = part(of(others), n), .nodes = own.nodes(p)},
                    of_own);
      index const masks = std::ssize(own.mask);
      EXPECT_EQ(numbers(to.mask.begin() + n * masks, to.mask.begin() + (n + 1) * masks), own.mask);
      for (std::size_t which = 0; numbers const* shared : own.of_all()) {
        numbers& sum = *sums.of_all()[which];
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += (*shared)[i];
        scale[which++] += largest_of(*shared);
      }
    }
    EXPECT_TRUE(same_bits(dx, others));
    // In double, a thousand products, each rounded; in float, one rounding a sequence and side.
    double const rounding = sizeof(P) == 4 ? 1e-6 : 1e-13;
    for (std::size_t which = 0; numbers const* shared : to.of_all()) {
      numbers const& sum = *sums.of_all()[which];
      for (std::size_t i = 0; i < sum.size(); ++i)
        EXPECT_NEAR((*shared)[i], sum[i], rounding * scale[which]) << which;
      ++which;
    }
  }

  arrangement how;
  Problem const p;
  Bank const all;
  Op const whole;
  std::vector<Out> y, dy;
  std::vector<Io> dx;
};

template <class Pass, class Problem>
void expect_as_alone() {
  for (arrangement const& how : arrangements)
    for (bool by_column : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "sequences " << how.sequences() << ", batch "
                                        << how.batch() << ", by column " << by_column);
      masked_call<Pass, Problem> call(how, by_column);
      call.expect_runs_as_alone();
      call.expect_gradients_as_alone();
    }
}

template <class Problem>
class LaplaceMasks : public ::testing::Test {};
using EveryWindow = ::testing::Types<
    laplace_problem<float, window_shape::none>, laplace_problem<double, window_shape::none>,
    laplace_problem<float, window_shape::exponential>,
    laplace_problem<float, window_shape::gaussian>,
    laplace_problem<double, window_shape::rectangular>, laplace_problem<float, window_shape::hann>,
    laplace_problem<double, window_shape::hann>>;
TYPED_TEST_SUITE(LaplaceMasks, EveryWindow);

TYPED_TEST(LaplaceMasks, AreThoseOfEachSequenceAlone) { expect_as_alone<one_sided, TypeParam>(); }
TYPED_TEST(LaplaceMasks, AreThoseOfEachSequenceAloneOnBothSides) {
  expect_as_alone<two_sided, TypeParam>();
}
TYPED_TEST(LaplaceMasks, OfCoefficientsAreThoseOfEachSequenceAlone) {
  expect_as_alone<coefficients, TypeParam>();
  expect_as_alone<two_sided_coefficients, TypeParam>();
}

// A run with complex outputs goes token by token; the real parts are the outputs.
TYPED_TEST(LaplaceMasks, OfPackedSequencesInComplexOutputs) {
  using Op = typename TypeParam::operation;
  using V = accumulate_type<Op>;
  TypeParam const p({.batch = 1, .tokens = 41, .columns = 3, .masked = true, .masks = 4});
  index const starts[] = {0, 9, 9, 10, 41};
  auto const op = p.make(0, 41);
  std::vector<output_type<Op>> y(p.x.size());
  std::vector<V> z(p.x.size());
  run(op, {y.data(), 1, 41, p.heads, p.columns}, run_options<V>{.packed = {starts}});
  run(op, sequence_view<V>(z.data(), 1, 41, p.heads, p.columns),
      run_options<V>{.packed = {starts}});
  double const rounding = sizeof(y[0]) == 4 ? 2e-6 : 1e-13;
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(z[i].real(), y[i], rounding) << i;
}

// The ways to say that all sequences have one mask.
TEST(LaplaceMask, OfAllSequencesIsGivenWithOrWithoutTheirExtent) {
  using problem = laplace_problem<float, window_shape::hann>;
  problem const p({.batch = 2, .masked = true});
  auto const run_with = [&](auto const& mask) {
    auto nodes = p.make(0, p.tokens).parameters();
    nodes.mask = mask;
    std::vector<double> y(p.x.size());
    run(problem::operation({.value = p.make(0, p.tokens).values()}, nodes),
        sequence_view<double>(y.data(), p.batch, p.tokens, p.heads, p.columns));
    return y;
  };
  index const H = p.heads, S = p.nodes;
  auto const y = run_with(view<float const, 2>(p.mask.data(), H, S));
  EXPECT_EQ(y, run_with(view<float const, 3>(p.mask.data(), 1, H, S)));
  EXPECT_EQ(y, run_with(view<float const, 3>(p.mask.data(), {2, H, S}, {0, S, 1})));
  laplace_parameters<float const> const named{.mask = {p.mask.data(), H, S}};
  EXPECT_EQ(y, run_with(named.mask));
  std::vector<float> writable = p.mask;
  EXPECT_EQ(y, run_with(view<float, 2>(writable.data(), H, S)));
}

// No sequence: no mask is read, and gradients are 0.
TEST(LaplaceMask, OfNoSequence) {
  using problem = laplace_problem<double, window_shape::hann>;
  problem p({.batch = 1, .tokens = 0, .masked = true, .masks = 0});
  index const starts[] = {0};
  std::vector<double> none(1);
  sequence_view<double> const y(none.data(), 1, 0, p.heads, p.columns);
  using V = accumulate_type<problem::operation>;
  run(p.make(0, 0), y, run_options<V>{.packed = {starts}});
  adjoint(p.make(0, 0), y, p.gradients(), adjoint_options<V>{.packed = {starts}});
  EXPECT_EQ(p.to_sigma, std::vector<double>(p.sigma.size()));
  EXPECT_EQ(p.to_read_out, std::vector<double>(p.read_out.size()));
}

// Every door refuses masks of another number of sequences, before anything is written.
TEST(LaplaceMask, OfTooManyOrTooFewSequencesIsRefused) {
  using problem = laplace_problem<double, window_shape::hann>;
  using V = accumulate_type<problem::operation>;
  problem p({.batch = 1, .tokens = 9, .masked = true, .masks = 3});
  problem const one({.batch = 1, .tokens = 9});
  auto nodes = one.make(0, 9).parameters();
  auto const op = p.make(0, 9);
  problem::operation const right({.value = op.values()}, nodes);
  std::vector<double> numbers(p.x.size() * 12, -7);
  sequence_view<double> const y(numbers.data(), 1, 9, p.heads, p.columns);
  sequence_view<double> const wide(numbers.data(), 1, 9, p.heads, 2 * p.nodes * p.columns);
  index const starts[] = {0, 2, 9};
  std::vector<std::string> const of_one = {"mask has shape [3, 2, 3]", "[N, H, S] = [1, 2, 3]"},
                                 of_two = {"mask has shape [3, 2, 3]", "[N, H, S] = [2, 2, 3]"};
  using support::expect_error;
  std::fill(p.to_x.begin(), p.to_x.end(), -7);
  recurrent_state<V> state(op);
  expect_error(of_one, [&] { run(op, y); });
  expect_error(of_two, [&] { run(op, y, run_options<V>{.packed = {starts}}); });
  expect_error(of_one, [&] { step(op, y, state); });
  expect_error(of_one, [&] { adjoint(op, y, p.gradients()); });
  expect_error(of_two,
               [&] { adjoint(op, y, p.gradients(), adjoint_options<V>{.packed = {starts}}); });
  expect_error(of_one, [&] { run(laplace_coefficients(op), wide); });
  expect_error(of_one, [&] { adjoint(laplace_coefficients(op), wide, p.gradients()); });
  expect_error(of_one, [&] { run_two_sided(laplace_coefficients(op), wide); });
  expect_error(of_one, [&] { run_two_sided(op, right.future(), y); });
  expect_error(of_one, [&] { run_two_sided(right, op.future(), y); });
  expect_error(of_one, [&] { adjoint_two_sided(op, op.future(), y, p.gradients()); });
  expect_error(of_one, [&] { two_sided_stream(op, right.future()); });
  expect_error(of_one, [&] { two_sided_stream(right, op.future()); });
  std::vector<V> sums(p.x.size());
  expect_error(of_one, [&] {
    run(sum_of(right, op), sequence_view<V>(sums.data(), 1, 9, p.heads, p.columns));
  });
  auto to = p.gradients();
  to.nodes.mask = {p.to_mask.data(), 3, p.heads, p.nodes};
  expect_error({"the gradient of mask", "sequences 3", "must be 1"},
               [&] { adjoint(right, y, to); });
  EXPECT_EQ(numbers, std::vector<double>(numbers.size(), -7));
  EXPECT_EQ(p.to_x, std::vector<double>(p.to_x.size(), -7));
}

}  // namespace
}  // namespace wane
