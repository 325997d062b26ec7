// Gradients of laplace against automatic differentiation of the windowed sum.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laplace_sum.hpp"
#include "support/naive.hpp"
#include "support/tensor.hpp"
#include "wane/run/adjoint.hpp"

namespace {

using support::dual, support::laplace_parameters, support::node_of, support::tensor;
using wane::index;
using wane::spectra::window_shape;

struct size {
  index batch = 2, time = 90, heads = 2, columns = 3, nodes = 2;
  std::vector<double> widths = {7.4, 33};
  bool by_column = false;
  std::vector<index> starts = {}, lengths = {};
  bool reverse = false;
  bool masks_differ = false;  // between the sequences
  // Errors are relative to the largest gradient, but to this if all gradients are smaller.
  long double least = 0;

  index sequences() const { return starts.empty() ? batch : std::ssize(starts) - 1; }
  index masks() const { return masks_differ ? sequences() : 1; }
  index row(index n) const { return starts.empty() ? n : 0; }
  support::span_of_time span(index n) const {
    auto const i = static_cast<std::size_t>(n);
    if (!starts.empty()) return {starts[i], starts[i + 1], reverse};
    return {0, lengths.empty() ? time : lengths[i], reverse};
  }
};

// The error over the largest of the gradients.
struct relative {
  long double largest = 0, error = 0;

  void add(long double is, long double should_be) {
    if (!(std::abs(is - should_be) <= error)) error = std::abs(is - should_be);
    largest = std::max(largest, std::abs(should_be));
  }
  // If all gradients are 0, it is the error itself.
  double operator()() const { return static_cast<double>(largest > 0 ? error / largest : error); }
};

template <window_shape Window>
class problem : public size {
 public:
  using Op = wane::laplace<double, Window>;
  static std::size_t at(index n) { return static_cast<std::size_t>(n); }

  explicit problem(size const& of)
      : size(of),
        parameters(heads, nodes, by_column ? columns : 1, masks()),
        to(heads, nodes, by_column ? columns : 1, masks()),
        x(batch, time, heads, columns),
        dy(batch, time, heads, columns),
        dx(batch, time, heads, columns) {
    support::random_values random(11);
    parameters.draw(random, 1, 1);
    for (index h = 0; h < heads; ++h) parameters.width[at(h)] = widths[at(h) % widths.size()];
    parameters.sigma[0] = 0;
    x.fill([&](auto...) { return random.uniform(-1, 1); });
    dy.fill([&](auto...) { return random.uniform(-1, 1); });
  }

  void adjoint() {
    wane::adjoint_options<wane::accumulate_type<Op>> options;
    options.packed = {starts}, options.lengths = lengths;
    if (reverse) options.direction = wane::direction::reverse;
    wane::adjoint(Op({.value = x}, std::as_const(parameters).view(Op::has_window, true)), dy.view(),
                  {.value = dx, .nodes = to.view(Op::has_window, true)}, options);
  }

  // dL/d(response_l) = sum dy_n x_{n-l}, over channel j of all sequences with this mask.
  std::vector<long double> of_response(index h, index j, index mask) const {
    std::vector<long double> found(at(time), 0.L);
    for (index n = 0; n < sequences(); ++n) {
      if (masks_differ && n != mask) continue;
      std::vector<index> order;
      span(n).for_each([&](index t) { order.push_back(t); });
      for (index k = 0; k < std::ssize(order); ++k)
        for (index l = 0; l <= k; ++l)
          found[at(l)] += static_cast<long double>(dy(row(n), order[at(k)], h, j)) *
                          static_cast<long double>(x(row(n), order[at(k - l)], h, j));
    }
    return found;
  }

  // dL by what `seed` gives a slope in node k of head h, and in the width.
  template <class Seed>
  long double derivative(index h, index first, index last, index j_first, index j_last,
                         Seed const& seed) const {
    long double sum = 0;
    for (index mask = 0; mask < masks(); ++mask)
      sum += derivative_of_mask(mask, h, first, last, j_first, j_last, seed);
    return sum;
  }
  // The share of the sequences with this mask.
  template <class Seed>
  long double derivative_of_mask(index mask, index h, index first, index last, index j_first,
                                 index j_last, Seed const& seed) const {
    long double sum = 0;
    for (index j = j_first; j < j_last; ++j) {
      auto const weight = of_response(h, j, mask);
      for (index k = first; k < last; ++k) {
        node_of<dual> node = parameters.template node<dual>(h, k, j, mask);
        dual width(static_cast<long double>(parameters.width[at(h)]));
        seed(node, width);
        for (index l = 0; l < time; ++l)
          sum += weight[at(l)] *
                 (support::window_weight(Window, width, l) * support::node_weight(node, l)).slope;
      }
    }
    return sum;
  }

  void expect_right(double bound) {
    adjoint();
    relative sigma{least}, omega{least}, mask{least}, read{least}, width{least}, values{least};
    index const channels = parameters.channels;
    for (index h = 0; h < heads; ++h) {
      for (index k = 0; k < nodes; ++k) {
        auto const by = [&](auto const& seed) { return derivative(h, k, k + 1, 0, columns, seed); };
        auto const i = at(h * nodes + k);
        sigma.add(to.sigma[i], by([](auto& node, dual&) { node.sigma.slope = 1; }));
        omega.add(to.omega[i], by([](auto& node, dual&) { node.omega.slope = 1; }));
        for (index n = 0; n < masks(); ++n)
          mask.add(to.mask[at(n * heads * nodes) + i],
                   derivative_of_mask(n, h, k, k + 1, 0, columns,
                                      [](auto& node, dual&) { node.mask.slope = 1; }));
        for (index c = 0; c < channels; ++c) {
          index const first = channels > 1 ? c : 0, last = channels > 1 ? c + 1 : columns;
          auto const of = to.read_out[i * at(channels) + at(c)];
          read.add(of.real(), derivative(h, k, k + 1, first, last,
                                         [](auto& node, dual&) { node.read_re.slope = 1; }));
          read.add(of.imag(), derivative(h, k, k + 1, first, last,
                                         [](auto& node, dual&) { node.read_im.slope = 1; }));
        }
      }
      if (Op::has_window)
        width.add(to.width[at(h)],
                  derivative(h, 0, nodes, 0, columns, [](auto&, dual& w) { w.slope = 1; }));
    }
    add_values(values);
    EXPECT_LE(sigma(), bound) << "sigma";
    EXPECT_LE(omega(), bound) << "omega";
    EXPECT_LE(mask(), bound) << "mask";
    EXPECT_LE(read(), bound) << "read_out";
    EXPECT_LE(width(), bound) << "width";
    EXPECT_LE(values(), bound) << "value";
    EXPECT_TRUE(dx.margins_untouched());
  }

  laplace_parameters<double> parameters, to;
  tensor<double> x, dy, dx;

 private:
  // dx_m = sum_l response_l dy_{m+l}; those of padding stay NaN.
  void add_values(relative& values) const {
    for (index h = 0; h < heads; ++h)
      for (index j = 0; j < columns; ++j)
        for (index n = 0; n < sequences(); ++n) {
          auto const response = parameters.response(Window, h, j, time, n);
          auto back = span(n);
          std::vector<index> order;
          back.reverse = !back.reverse;
          back.for_each([&](index t) { order.push_back(t); });
          for (index k = 0; k < std::ssize(order); ++k)
            values.add(dx(row(n), order[at(k)], h, j),
                       support::laplace_sum(
                           response, k, [&](index m) { return dy(row(n), order[at(m)], h, j); }));
          for (index t = back.end; starts.empty() && t < time; ++t)
            EXPECT_TRUE(std::isnan(dx(n, t, h, j))) << "padding " << t << " of " << n;
        }
  }
};

constexpr double bound = 1e-9;

void expect_right_in_every_window(size const& s) {
  SCOPED_TRACE(::testing::Message() << "widths from " << s.widths.front() << ", time " << s.time
                                    << ", columns " << s.columns << ", reverse " << s.reverse);
  problem<window_shape::none>(s).expect_right(bound);
  problem<window_shape::exponential>(s).expect_right(bound);
  problem<window_shape::rectangular>(s).expect_right(bound);
  problem<window_shape::hann>(s).expect_right(bound);
}

TEST(LaplaceAdjoint, IsTheDerivativeOfTheSum) {
  expect_right_in_every_window({});
  expect_right_in_every_window({.time = 1, .columns = 1});
  expect_right_in_every_window({.batch = 1, .time = 40, .columns = 5, .by_column = true});
  expect_right_in_every_window({.batch = 1, .time = 30, .heads = 1, .columns = 67});
}

// A Hann gradient is continuous in the width, also at a whole number. Just above one, the weight of
// the lag that enters is a rounding error, and so are the gradients.
TEST(LaplaceAdjoint, InTheWidthWhereverThatLies) {
  for (double whole : {1., 2., 8., 16., 40.})
    for (double width : {whole, std::nextafter(whole, 0), std::nextafter(whole, 100), whole + 1e-9,
                         whole - 1e-9, whole + .5, whole + .73})
      expect_right_in_every_window({.batch = 1,
                                    .time = 70,
                                    .heads = 1,
                                    .columns = 1,
                                    .nodes = 2,
                                    .widths = {width},
                                    .least = whole == 1 ? 1.L : 0.L});
}

// An output depends on its own token only, so all gradients by the width and by nodes are 0.
TEST(LaplaceAdjoint, OfAWidthBelowAToken) {
  for (double width : {.5, .999, .1, 1e-100, 1e-310}) {
    size const s{.batch = 1, .time = 40, .heads = 1, .columns = 2, .widths = {width}};
    SCOPED_TRACE(width);
    problem<window_shape::hann>(s).expect_right(bound);
    problem<window_shape::rectangular>(s).expect_right(bound);
  }
}

TEST(LaplaceAdjoint, OfARectangleHasNoneInTheWidth) {
  problem<window_shape::rectangular> of({});
  of.to.width = {-7, -7};
  of.adjoint();
  EXPECT_EQ(of.to.width, (std::vector<double>{0, 0}));
}

TEST(LaplaceAdjoint, OfPackedSequences) {
  for (bool reverse : {false, true})
    expect_right_in_every_window(
        {.batch = 1, .time = 90, .starts = {0, 1, 1, 30, 77, 90}, .reverse = reverse});
}

TEST(LaplaceAdjoint, OfPaddedSequencesAndTimeInReverse) {
  for (bool reverse : {false, true}) {
    expect_right_in_every_window({.reverse = reverse});
    expect_right_in_every_window(
        {.batch = 4, .by_column = true, .lengths = {90, 0, 41, 7}, .reverse = reverse});
  }
}

TEST(LaplaceAdjoint, OfAMaskOfEachSequence) {
  expect_right_in_every_window({.batch = 3, .time = 40, .masks_differ = true});
  expect_right_in_every_window(
      {.batch = 2, .time = 30, .columns = 67, .by_column = true, .masks_differ = true});
  expect_right_in_every_window(
      {.batch = 4, .time = 50, .lengths = {50, 0, 41, 7}, .reverse = true, .masks_differ = true});
  expect_right_in_every_window(
      {.batch = 1, .time = 60, .starts = {0, 1, 1, 30, 60}, .masks_differ = true});
}

// The sequence is many times as long as the window.
TEST(LaplaceAdjoint, OfManyWindows) {
  for (double width : {1., 3.5, 20.})
    expect_right_in_every_window(
        {.batch = 1, .time = 1500, .heads = 1, .columns = 1, .nodes = 2, .widths = {width}});
}

// An output gradient has left the cotangents 2 D tokens before its own token, as an input leaves
// the state 2 D tokens later.
TEST(LaplaceAdjoint, ForgetsBurstsAndNaNs) {
  for (double event : {1e9, HUGE_VAL, std::nan("")}) {
    problem<window_shape::hann> of({.batch = 1, .heads = 1, .columns = 1, .widths = {7.4}});
    of.dy(0, 60, 0, 0) = event;
    of.adjoint();
    auto const response = of.parameters.response(window_shape::hann, 0, 0, 90);
    for (index t = 0; t <= 60 - 16; ++t) {
      long double sum = 0;
      for (index l = 0; l < 8; ++l)
        sum += response[static_cast<std::size_t>(l)] * of.dy(0, t + l, 0, 0);
      EXPECT_NEAR(of.dx(0, t, 0, 0), static_cast<double>(sum), 1e-12) << event << " at " << t;
    }
  }
}

// A gradient is the same whether it is computed alone or with all others.
TEST(LaplaceAdjoint, GivesWhatIsAsked) {
  using hann = problem<window_shape::hann>;
  using Op = hann::Op;
  hann all({});
  all.adjoint();
  Op const op({.value = all.x}, std::as_const(all.parameters).view(true, true));
  hann one({});
  auto const to = one.to.view(true, true);
  auto const ask = [&](Op::gradients const& gradients) {
    wane::adjoint(op, all.dy.view(), gradients);
  };
  ask({.value = one.dx});
  ask({.nodes = {.sigma = to.sigma}}), ask({.nodes = {.omega = to.omega}});
  ask({.nodes = {.read_out = to.read_out}}), ask({.nodes = {.width = to.width}});
  ask({.nodes = {.mask = to.mask}});
  EXPECT_EQ(one.to.sigma, all.to.sigma);
  EXPECT_EQ(one.to.omega, all.to.omega);
  EXPECT_EQ(one.to.read_out, all.to.read_out);
  EXPECT_EQ(one.to.width, all.to.width);
  EXPECT_EQ(one.to.mask, all.to.mask);
  all.dx.for_each([&](index b, index t, index h, index j) {
    EXPECT_EQ(one.dx(b, t, h, j), all.dx(b, t, h, j));
  });
}

// The gradient of the state may pass through the pieces of a sequence in one memory.
TEST(LaplaceAdjoint, StateGradientsMayShareAMemory) {
  using hann = problem<window_shape::hann>;
  using V = std::complex<double>;
  auto const go = [](hann& p, bool shared) {
    hann::Op const op({.value = p.x}, std::as_const(p.parameters).view(true, true));
    wane::recurrent_state<V> after(op), before(op);
    for (std::size_t n = 0; n < after.values().size(); ++n)
      after.values()[n] = V(std::sin(double(n)), std::cos(double(n)));
    wane::adjoint(op, p.dy.view(), {.value = p.dx, .nodes = p.to.view(true, true)},
                  wane::adjoint_options<V>{.final_gradient = std::as_const(after),
                                           .initial_gradient = shared ? after : before});
    return (shared ? after : before).values();
  };
  hann one({}), other({});
  EXPECT_EQ(go(one, false), go(other, true));
  EXPECT_EQ(one.to.sigma, other.to.sigma);
  EXPECT_EQ(one.to.omega, other.to.omega);
  EXPECT_EQ(one.to.width, other.to.width);
}

}  // namespace
