// order_map: equation (11) of VORT, its gradients, its ends, padding, wrong inputs.
// SPDX-License-Identifier: MIT
#include "wane/operators/order_map.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/lower_rank.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/retention_problem.hpp"
#include "support/tensor.hpp"
#include "wane/run/adjoint.hpp"

namespace {

using support::index;
using support::nearness;
using support::one;
using support::tensor;
using support::three;
using support::two;

constexpr index batch = 2, time = 5, width = 7, heads = 3;
constexpr double least = 0.1;

template <class Io>
struct orders {
  using wide = wane::widened<Io>;
  support::arrangement lies;
  tensor<Io> x{batch, time, width, 1, lies}, entropy{batch, time, heads, 1, lies},
      indicator{batch, time, 1, 1, lies}, alpha{batch, time, heads, 1, lies};
  tensor<wide> weight{heads, width + 2, 1, 1, lies}, bias{heads, 1, 1, 1, lies};
  bool with_entropy = true, with_indicator = true;

  explicit orders(support::arrangement how = support::arrangement::plain) : lies(how) {
    support::random_values random(3);
    auto const any = [&](auto...) { return random.uniform(-1, 1); };
    x.fill(any), weight.fill(any), bias.fill(any);
    entropy.fill([&](auto...) { return random.uniform(0, 4); });
    indicator.fill([](index b, index t, auto...) { return (b + t) % 2; });
  }
  wane::order_map_inputs<Io> in() const {
    wane::token_view<Io> marked = three(indicator);  // one number for all heads
    marked.extent[2] = heads, marked.stride[2] = 0;
    wane::order_map_inputs<Io> all{.x = three(x), .weight = two(weight), .bias = one(bias)};
    if (with_entropy) all.entropy = three(entropy);
    if (with_indicator) all.indicator = marked;
    return all;
  }
  // The equation, in long double.
  long double naive(index b, index t, index h) const {
    auto const of = [](auto number) { return static_cast<long double>(number); };
    long double z = of(bias(h, 0, 0, 0));
    for (index i = 0; i < width; ++i) z += of(weight(h, i, 0, 0)) * of(x(b, t, i, 0));
    if (with_entropy) z += of(weight(h, width, 0, 0)) * of(entropy(b, t, h, 0));
    if (with_indicator) z += of(weight(h, width + 1, 0, 0)) * of(indicator(b, t, 0, 0));
    return least + (1 - of(least)) / (1 + std::exp(-z));
  }
  double error() const {
    wane::order_map(in(), least, three(alpha));
    nearness near;
    alpha.for_each([&](index b, index t, index h, index) {
      near.add(static_cast<double>(alpha(b, t, h, 0)), static_cast<double>(naive(b, t, h)));
    });
    EXPECT_TRUE(alpha.margins_untouched());
    return near.both();
  }
};

TEST(OrderMap, IsItsEquation) {
  for (bool with_entropy : {false, true})
    for (bool with_indicator : {false, true}) {
      orders<double> run;
      run.with_entropy = with_entropy, run.with_indicator = with_indicator;
      EXPECT_LE(run.error(), 1e-15);  // some eps
    }
  EXPECT_LE(orders<float>().error(), 0x1p-24);  // the rounding of the output
  EXPECT_LE(orders<wane::bfloat16>().error(), 0x1p-8);
  EXPECT_LE(orders<wane::float16>().error(), 0x1p-11);
}

TEST(OrderMap, ReadsAnyStrides) {
  for (auto lies : support::all_arrangements) {
    orders<float> const run(lies);
    EXPECT_LE(run.error(), 0x1p-24);
  }
}

// 4th-order differences of the equation in long double: h^4 is 1e-12 at h = 1e-3.
TEST(OrderMap, HasItsGradients) {
  for (bool with_entropy : {false, true}) {
    orders<double> run;
    run.with_entropy = with_entropy;
    tensor<double> g(batch, time, heads, 1), dx(batch, time, width, 1),
        dentropy(batch, time, heads, 1), dweight(heads, width + 2, 1, 1), dbias(heads, 1, 1, 1);
    support::random_values random(8);
    g.fill([&](auto...) { return random.uniform(-1, 1); });
    wane::order_map_adjoint(
        run.in(), least, three(g),
        {.x = three(dx), .weight = two(dweight), .bias = one(dbias), .entropy = three(dentropy)});
    auto const expect_gradient = [&](tensor<double> const& of, tensor<double> const& is) {
      nearness near;
      of.for_each([&](auto... at) {
        double const before = of(at...);
        auto const loss = [&](double by) {
          of(at...) = before + by;
          long double total = 0;
          g.for_each([&](index b, index t, index h, index) {
            total += static_cast<long double>(g(b, t, h, 0)) * run.naive(b, t, h);
          });
          of(at...) = before;
          return total;
        };
        long double const near_by = (loss(1e-3) - loss(-1e-3)) / 2e-3L,
                          far = (loss(2e-3) - loss(-2e-3)) / 4e-3L;
        near.add(is(at...), static_cast<double>((4 * near_by - far) / 3));
      });
      EXPECT_LE(near.both(), 1e-11);
      EXPECT_TRUE(is.margins_untouched());
    };
    expect_gradient(run.x, dx), expect_gradient(run.weight, dweight);
    expect_gradient(run.bias, dbias);
    if (with_entropy) expect_gradient(run.entropy, dentropy);
  }
}

// The loss is one of the outputs of retention, whose adjoint gives the gradient by alpha.
// Differences err by h^2 times the third derivative, 1e-9, and by rounding, 1e-10.
TEST(OrderMap, HasTheGradientsOfWhatRetentionMakesOfItsOrders) {
  orders<double> run;
  wane::spectra::order_weights<double> const nodes(support::rates_of(8, 1000));
  tensor<double> v(batch, time, heads, 4), y(batch, time, heads, 4), dy(batch, time, heads, 4),
      dalpha(batch, time, heads, 1), dx(batch, time, width, 1), dentropy(batch, time, heads, 1),
      dweight(heads, width + 2, 1, 1), dbias(heads, 1, 1, 1);
  support::random_values random(9);
  v.fill([&](auto...) { return random.uniform(-1, 1); });
  dy.fill([&](auto...) { return random.uniform(-1, 1); });
  wane::retention<double> const memory({.value = v, .alpha = three(run.alpha)}, nodes.table());
  auto const loss = [&] {  // dy . y
    wane::order_map(run.in(), least, three(run.alpha));
    wane::run(memory, y.view());
    double total = 0;
    y.for_each([&](auto... at) { total += dy(at...) * y(at...); });
    return total;
  };
  loss();
  wane::adjoint(memory, dy.view(), {.alpha = three(dalpha)});
  wane::order_map_adjoint(
      run.in(), least, three(dalpha),
      {.x = three(dx), .weight = two(dweight), .bias = one(dbias), .entropy = three(dentropy)});
  auto const expect_gradient = [&](tensor<double> const& of, tensor<double> const& is) {
    nearness near;
    of.for_each([&](auto... at) {
      double const before = of(at...), h = 1e-5;
      of(at...) = before + h;
      double const above = loss();
      of(at...) = before - h;
      near.add(is(at...), (above - loss()) / (2 * h));
      of(at...) = before;
    });
    EXPECT_LE(near.both(), 1e-8);
  };
  expect_gradient(run.weight, dweight), expect_gradient(run.bias, dbias);
  expect_gradient(run.x, dx), expect_gradient(run.entropy, dentropy);
}

// Orders reach both ends exactly, where the gradient is 0. A NaN affects its own token only.
TEST(OrderMap, Saturates) {
  orders<float> run;
  run.weight.fill([](index, index i, auto...) { return i == 0; });
  run.x.fill([](index, index t, index i, index) {
    double const first[] = {-HUGE_VAL, -200, 200, HUGE_VAL, NAN};
    return i == 0 ? first[t] : 0;
  });
  wane::order_map(run.in(), least, three(run.alpha));
  tensor<float> g(batch, time, heads, 1), dx(batch, time, width, 1), dbias(heads, 1, 1, 1);
  g.fill([](auto...) { return 1; });
  wane::order_map_adjoint(run.in(), least, three(g), {.x = three(dx)});
  for (index h = 0; h < heads; ++h) {
    for (index t : {0, 1}) EXPECT_EQ(run.alpha(0, t, h, 0), static_cast<float>(least));
    for (index t : {2, 3}) EXPECT_EQ(run.alpha(0, t, h, 0), 1);
    EXPECT_TRUE(std::isnan(run.alpha(0, 4, h, 0)));
  }
  for (index t : {0, 3}) EXPECT_EQ(dx(0, t, 0, 0), 0);
  EXPECT_TRUE(std::isnan(dx(0, 4, 0, 0)));
  index const four[] = {4, 4};  // without the NaN
  tensor<float> dweight(heads, width + 2, 1, 1);
  wane::order_map_adjoint(run.in(), least, three(g), {.weight = two(dweight), .bias = one(dbias)},
                          four);
  dweight.for_each([&](auto... at) { EXPECT_TRUE(std::isfinite(dweight(at...))); });
}

TEST(OrderMap, LeavesPaddingAlone) {
  orders<double> run, alone;
  index const lengths[] = {2, 0};
  tensor<double> g(batch, time, heads, 1), dx(batch, time, width, 1), dbias(heads, 1, 1, 1),
      one_dbias(heads, 1, 1, 1);
  g.fill([](auto...) { return 1; });
  auto const spoil = [&](auto const& x) {
    x.for_each([&](index b, index t, index i, index j) {
      if (t >= lengths[b]) x(b, t, i, j) = NAN;
    });
  };
  spoil(run.x), spoil(run.entropy), spoil(g);
  wane::order_map(run.in(), least, three(run.alpha), lengths);
  wane::order_map_adjoint(run.in(), least, three(g), {.x = three(dx), .bias = one(dbias)}, lengths);
  run.alpha.for_each([&](index b, index t, index h, index) {
    if (t < lengths[b])
      EXPECT_NEAR(run.alpha(b, t, h, 0), static_cast<double>(run.naive(b, t, h)), 1e-15);
    else
      EXPECT_TRUE(std::isnan(run.alpha(b, t, h, 0)) && std::isnan(dx(b, t, h, 0)));
  });
  auto in = alone.in();
  auto const shorten = [](auto&... x) { ((x.extent[0] = 1, x.extent[1] = 2), ...); };
  wane::token_view<double> part = three(g);
  shorten(in.x, in.entropy, in.indicator, part);
  wane::order_map_adjoint(in, least, part, {.bias = one(one_dbias)});
  for (index h = 0; h < heads; ++h) EXPECT_EQ(dbias(h, 0, 0, 0), one_dbias(h, 0, 0, 0));
}

TEST(OrderMap, SaysWhatDoesNotFit) {
  orders<float> run;
  auto const refuses = [&](std::vector<std::string> const& says, auto const& change,
                           double lowest = least) {
    auto in = run.in();
    change(in);
    support::expect_error(says, [&] { wane::order_map(in, lowest, three(run.alpha)); });
    support::expect_error(says, [&] { wane::order_map_adjoint(in, lowest, three(run.alpha), {}); });
  };
  refuses({"weight has columns 8", "9"}, [](auto& in) { in.weight.extent[1] = 8; });
  refuses({"bias has heads 2", "3"}, [](auto& in) { in.bias.extent[0] = 2; });
  refuses({"entropy has time 4", "5"}, [](auto& in) { in.entropy.extent[1] = 4; });
  refuses({"indicator has heads 1", "3"}, [](auto& in) { in.indicator.extent[2] = 1; });
  refuses({"x has no data"}, [](auto& in) { in.x.data = nullptr; });
  for (double wrong : {0., 1., -1., HUGE_VAL, static_cast<double>(NAN)})
    refuses(
        {"least is ", "between 0 and 1"}, [](auto&) {}, wrong);
  support::expect_error({"alpha has heads 7", "3"},
                        [&] { wane::order_map(run.in(), least, three(run.x)); });
  support::expect_error({"gradient of x has heads 3", "7"}, [&] {
    wane::order_map_adjoint(run.in(), least, three(run.alpha), {.x = three(run.alpha)});
  });
  support::expect_error({"gradient of weight has columns 1", "9"}, [&] {
    wane::order_map_adjoint(run.in(), least, three(run.alpha), {.weight = two(run.bias)});
  });
  index const lengths[] = {1};
  support::expect_error({"lengths has 1"},
                        [&] { wane::order_map(run.in(), least, three(run.alpha), lengths); });
}

}  // namespace
