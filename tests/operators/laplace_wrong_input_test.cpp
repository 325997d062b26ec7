// Wrong input to laplace: every message names the argument, and nothing is written.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/laplace_sum.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace {

using support::expect_error, support::laplace_parameters;
using wane::index;
using wane::spectra::window_shape;
using words = std::vector<std::string>;

constexpr index B = 2, T = 4, H = 2, S = 3, V = 5;
constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = HUGE_VALF;
float const zeros[(B + 1) * (T + 1) * (H + 1) * (V + 1)] = {};
wane::sequence_view<float const> const x(zeros, B, T, H, V);

template <window_shape Window>
using laplace_of = wane::laplace<float, Window>;
using hann = laplace_of<window_shape::hann>;
using unwindowed = laplace_of<window_shape::none>;

// Valid nodes: sigma 0.1, omega 1, W 3.
struct good : laplace_parameters<float> {
  explicit good(index shown = V) : laplace_parameters(H, S, shown) {
    std::ranges::fill(sigma, .1f), std::ranges::fill(omega, 1.f), std::ranges::fill(width, 3.f);
  }
  auto nodes() const { return view(true, true); }
};

// The constructor, or the run and the adjoint of the operator, must refuse its arguments.
template <class Make>
void refused(words const& pieces, Make const& make) {
  using Op = decltype(make());
  std::vector<float> y(B * T * H * V, -7.f);
  wane::sequence_view<float> const to(y.data(), B, T, H, V);
  expect_error(pieces, [&] { wane::run(make(), to); });
  expect_error(pieces, [&] {
    wane::recurrent_state<wane::accumulate_type<Op>> state(make());
    wane::step(make(), to, state);
  });
  expect_error(pieces, [&] { wane::adjoint(make(), x, {.value = to}); });
  EXPECT_EQ(y, std::vector<float>(y.size(), -7.f)) << "written in spite of the error";
}
// Nodes are refused with one window, with all windows that have a width, or with every window.
template <window_shape Window>
void nodes_refused(words const& pieces, wane::laplace_parameters<float const> const& nodes) {
  refused(pieces, [&] { return laplace_of<Window>({.value = x}, nodes); });
}
void widths_refused(words const& pieces, wane::laplace_parameters<float const> const& nodes) {
  nodes_refused<window_shape::exponential>(pieces, nodes);
  nodes_refused<window_shape::rectangular>(pieces, nodes);
  nodes_refused<window_shape::hann>(pieces, nodes);
}
void everywhere_refused(words const& pieces, wane::laplace_parameters<float const> const& nodes) {
  nodes_refused<window_shape::none>(pieces, nodes);
  widths_refused(pieces, nodes);
}

TEST(LaplaceWrongInput, ShapesOfNodes) {
  good const g;
  auto const with = [&](auto const& change) {
    auto nodes = g.nodes();
    change(nodes);
    return nodes;
  };
  everywhere_refused({"sigma", "[1, 3]", "[2, 3]"}, with([](auto& n) { n.sigma.extent[0] = 1; }));
  everywhere_refused({"omega", "[2, 2]", "[2, 3]"}, with([](auto& n) { n.omega.extent[1] = 2; }));
  everywhere_refused({"omega", "[1, 3]", "[2, 3]"}, with([](auto& n) { n.omega.extent[0] = 1; }));
  everywhere_refused({"mask", "[1, 2, 4]", "[N, H, S] = [1, 2, 3]", "[1, H, S]"},
                     with([](auto& n) { n.mask.extent[2] = 4; }));
  everywhere_refused({"mask", "[1, 3, 3]", "[N, H, S] = [1, 2, 3]"},
                     with([](auto& n) { n.mask.extent[1] = 3; }));
  for (index masks : {0, 3})
    everywhere_refused({"mask", "[" + std::to_string(masks) + ", 2, 3]", "[N, H, S] = [2, 2, 3]"},
                       with([&](auto& n) { n.mask.extent[0] = masks; }));
  everywhere_refused({"read_out", "[1, 3, 5]", "[2, 3, 5]"},
                     with([](auto& n) { n.read_out.extent[0] = 1; }));
  everywhere_refused({"read_out", "[2, 2, 5]", "[2, 3, 5]"},
                     with([](auto& n) { n.read_out.extent[1] = 2; }));
  everywhere_refused({"read_out", "[2, 3, 4]", "[2, 3, 5]", "[H, S, 1]"},
                     with([](auto& n) { n.read_out.extent[2] = 4; }));
  widths_refused({"width", "heads 3", "must be 2"}, with([](auto& n) { n.width.extent[0] = 3; }));
}

TEST(LaplaceWrongInput, NodesWithoutData) {
  good const g;
  auto nodes = g.nodes();
  nodes.sigma.data = nullptr;
  everywhere_refused({"sigma", "no data"}, nodes);
  nodes = g.nodes(), nodes.omega.data = nullptr;
  everywhere_refused({"omega", "no data"}, nodes);
  nodes = g.nodes(), nodes.read_out.data = nullptr;
  everywhere_refused({"read_out", "no data"}, nodes);
  nodes = g.nodes(), nodes.width.data = nullptr;
  widths_refused({"width", "no data"}, nodes);
  widths_refused({"width"}, g.view(false, true));
}

TEST(LaplaceWrongInput, NodesThatGrowOrAlias) {
  for (auto [sigma, is] : {std::pair(-.25f, "-0.25"), {nan, "nan"}, {infinity, "inf"}}) {
    good g;
    g.sigma[4] = sigma;
    everywhere_refused({"sigma(1, 1)", is, "not negative"}, g.nodes());
  }
  for (auto [omega, is] : {std::pair(3.25f, "3.25"),
                           {-3.25f, "-3.25"},
                           {nan, "nan"},
                           {infinity, "inf"},
                           {-infinity, "-inf"}}) {
    good g;
    g.omega[5] = omega;
    everywhere_refused({"omega(1, 2)", is, "pi"}, g.nodes());
  }
}

TEST(LaplaceWrongInput, AReadOutOrMaskThatIsNaN) {
  for (std::complex<float> bad : {std::complex(nan, 0.f), {0.f, nan}}) {
    good g;
    g.read_out[1 * V + 3] = bad;
    everywhere_refused({"read_out(0, 1, 3)", "NaN"}, g.nodes());
  }
  good g;
  g.mask[3] = nan;
  everywhere_refused({"mask(0, 1, 0)", "NaN"}, g.nodes());
  float const masks[B * H * S] = {1, 1, 1, 1, 1, 1, 1, nan};
  auto nodes = g.nodes();
  nodes.mask = {masks, B, H, S};
  everywhere_refused({"mask(1, 0, 1)", "NaN"}, nodes);
}

TEST(LaplaceWrongInput, AWidthThatIsNoWidth) {
  for (auto [width, is] : {std::pair(0.f, "0"), {-0.f, "0"}, {-2.f, "-2"}, {nan, "nan"}}) {
    good g;
    g.width[1] = width;
    widths_refused({"width(1)", is, "above 0"}, g.nodes());
  }
  good g;
  g.width[1] = infinity;
  nodes_refused<window_shape::rectangular>({"width(1)", "inf", "below 2^31"}, g.nodes());
  nodes_refused<window_shape::hann>({"width(1)", "inf", "below 2^31"}, g.nodes());
}

// Arguments that are not used are not checked: widths without a window.
TEST(LaplaceWrongInput, DoesNotLookAtWhatItDoesNotUse) {
  good g;
  g.width = {nan, -1.f};
  std::vector<float> y(B * T * H * V, -7.f);
  wane::sequence_view<float> const to(y.data(), B, T, H, V);
  EXPECT_NO_THROW(wane::run(unwindowed({.value = x}, g.nodes()), to));
  EXPECT_EQ(y, std::vector<float>(y.size(), 0.f));
}

// A turn of pi a token is the greatest; pi rounded to float is accepted.
TEST(LaplaceWrongInput, IsNotATurnOfPi) {
  good g;
  g.omega = {3.14159265f, -3.14159265f, 0, 0, 0, 0}, g.sigma = {};
  g.sigma.resize(H * S);
  std::vector<float> y(B * T * H * V);
  EXPECT_NO_THROW(
      wane::run(hann({.value = x}, g.nodes()), wane::sequence_view<float>(y.data(), B, T, H, V)));
}

TEST(LaplaceWrongInput, ValuesAndOutputs) {
  good const g;
  auto const with = [&](wane::sequence_view<float const> const& value) {
    return [&, value] { return hann({.value = value}, g.nodes()); };
  };
  std::vector<float> y(B * T * H * (V + 1), -7.f);
  wane::sequence_view<float> const to(y.data(), B, T, H, V), wide(y.data(), B, T, H, V + 1);
  expect_error({"value has no data"}, [&] { wane::run(with({nullptr, B, T, H, V})(), to); });
  expect_error({"sigma", "[2, 3]", "[3, 3]"}, [&] { wane::run(with({zeros, B, T, 3, V})(), to); });
  expect_error({"read_out", "5", "6"}, [&] { wane::run(with({zeros, B, T, H, 6})(), to); });
  expect_error({"output", "columns 6", "must be 5"}, [&] { wane::run(with(x)(), wide); });
  expect_error({"output", "time 4", "must be 3"}, [&] {
    wane::run(with({zeros, B, 3, H, V})(), to);
  });
  expect_error({"output_gradient", "columns 6", "must be 5"},
               [&] { wane::adjoint(with(x)(), wide, {}); });
  EXPECT_EQ(y, std::vector<float>(y.size(), -7.f)) << "written in spite of the error";
}

TEST(LaplaceWrongInput, NoNodes) {
  good const g;
  auto nodes = g.nodes();
  for (index* extent : {&nodes.sigma.extent[1], &nodes.omega.extent[1], &nodes.mask.extent[2],
                        &nodes.read_out.extent[1]})
    *extent = 0;
  nodes_refused<window_shape::none>({"nodes 0", "1 or more"}, nodes);
  nodes_refused<window_shape::exponential>({"nodes 0", "1 or more"}, nodes);
  nodes_refused<window_shape::hann>({"nodes 0", "1 or more"}, nodes);
}

// W = 3 holds 3 floats in the bits of 16: 9 poles twice, and a row.
TEST(LaplaceWrongInput, AStateOfAnotherShape) {
  good g;
  hann const op({.value = x}, g.nodes());
  EXPECT_EQ(op.shape().rows, 19);
  std::vector<float> y(B * T * H * V, -7.f);
  wane::sequence_view<float> const to(y.data(), B, T, H, V);
  using C = std::complex<double>;
  auto const refuse = [&](words const& pieces, index n, index h, index rows, index columns) {
    wane::recurrent_state<C> state(n, h, rows, columns);
    auto const both = [&](char const* name, auto const& call) {
      words named = pieces;
      named.push_back(name);
      expect_error(named, call);
    };
    both("initial", [&] { wane::run(op, to, wane::run_options<C>{.initial = state}); });
    both("final", [&] { wane::run(op, to, wane::run_options<C>{.final = state}); });
    both("state", [&] { wane::step(op, to, state); });
    both("initial",
         [&] { wane::adjoint(op, x, {.value = to}, wane::adjoint_options<C>{.initial = state}); });
    both("final_gradient", [&] {
      wane::adjoint(op, x, {.value = to}, wane::adjoint_options<C>{.final_gradient = state});
    });
  };
  refuse({"rows 9", "must be 19"}, B, H, 9, V);
  refuse({"rows 20", "must be 19"}, B, H, 20, V);
  refuse({"columns 4", "must be 5"}, B, H, 19, 4);
  refuse({"heads 1", "must be 2"}, B, 1, 19, V);
  refuse({"sequences 1", "must be 2"}, 1, H, 19, V);
  EXPECT_EQ(y, std::vector<float>(y.size(), -7.f)) << "written in spite of the error";
  // The widest head says how long the ring is.
  g.width[0] = 5.5;
  EXPECT_EQ(hann({.value = x}, g.nodes()).shape().rows, 20);
}

TEST(LaplaceWrongInput, GradientsOfAnotherShape) {
  good const g;
  std::vector<float> written(2 * B * T * H * (V + 1), -7.f);
  laplace_parameters<float> to(H, S, V);
  auto const refuse = [&](words const& pieces, auto const& change) {
    hann::gradients gradients{.value = {written.data(), B, T, H, V}, .nodes = to.view(true, true)};
    change(gradients);
    expect_error(pieces, [&] { wane::adjoint(hann({.value = x}, g.nodes()), x, gradients); });
  };
  refuse({"gradient of value ", "columns 4", "must be 5"},
         [](auto& to_) { to_.value.extent[3] = 4; });
  refuse({"gradient of sigma", "[2, 2]", "[2, 3]"},
         [](auto& to_) { to_.nodes.sigma.extent[1] = 2; });
  refuse({"gradient of omega", "[1, 3]", "[2, 3]"},
         [](auto& to_) { to_.nodes.omega.extent[0] = 1; });
  refuse({"gradient of mask", "[1, 2, 4]", "[1, 2, 3]"},
         [](auto& to_) { to_.nodes.mask.extent[2] = 4; });
  refuse({"gradient of mask", "sequences 2", "must be 1"},
         [](auto& to_) { to_.nodes.mask.extent[0] = 2; });
  refuse({"gradient of read_out", "[2, 3, 4]", "[2, 3, 5]"},
         [](auto& to_) { to_.nodes.read_out.extent[2] = 4; });
  refuse({"gradient of read_out", "columns 1", "must be 5"},
         [](auto& to_) { to_.nodes.read_out.extent[2] = 1; });
  refuse({"gradient of width", "heads 1", "must be 2"},
         [](auto& to_) { to_.nodes.width.extent[0] = 1; });
  expect_error({"width", "no window"}, [&] {
    wane::adjoint(unwindowed({.value = x}, g.nodes()), x, {.nodes = to.view(true, true)});
  });
  EXPECT_EQ(written, std::vector<float>(written.size(), -7.f)) << "written in spite of the error";
  EXPECT_EQ(to.sigma, std::vector<float>(H * S)) << "written in spite of the error";
}

// The channels share a read-out, but the gradient has one for each channel.
TEST(LaplaceWrongInput, AGradientForEveryChannelOfASharedReadOut) {
  good const shared(1);
  laplace_parameters<float> to(H, S, V);
  expect_error({"gradient of read_out", "columns 5", "must be 1"}, [&] {
    wane::adjoint(hann({.value = x}, shared.nodes()), x,
                  {.nodes = {.read_out = to.view(true, true).read_out}});
  });
}

}  // namespace
