// Decoding in float is the full pass in double: the architectures of PoST at any position.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/gates/gates.hpp"
#include "wane/operators/mamba2.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/run/run.hpp"
#include "wane/spectra/rates/post_initial.hpp"

namespace {

using wane::index;
namespace spectra = wane::spectra;

constexpr index heads = 4, rows = 8, columns = 6, trained_at = 512;
std::vector<index> const seen{0, 1000, index{1} << 33};  // by the three sequences of a test

// The inputs of the architectures. The numbers are floats, the same for every T.
template <class T>
struct tokens {
  index batch, time;
  support::random_values random{7};
  std::vector<T> query = some(heads * rows, -1, 1), key = some(heads * rows, -0.5, 0.5),
                 value = some(heads * columns, -1, 1), removal = some(heads * rows, -1, 1),
                 rate = some(heads * rows, 0, 1), strength = some(heads, 0, 1),
                 raw = some(heads * rows, -1, 1), raw_of_head = some(heads, -6, -3);

  std::vector<T> some(index channels, double low, double high) {
    return numbers(batch * time * channels, low, high);
  }
  std::vector<T> numbers(index count, double low, double high) {
    std::vector<T> x;
    for (index n = 0; n < count; ++n)
      x.push_back(static_cast<T>(static_cast<float>(random.uniform(low, high))));
    return x;
  }
  auto by_row(auto& x, index channels = rows) const {
    using element = std::remove_pointer_t<decltype(x.data())>;
    return wane::sequence_view<element>(x.data(), batch, time, heads, channels);
  }
  wane::token_view<T const> by_head(std::vector<T> const& x) const {
    return {x.data(), batch, time, heads};
  }
};

// Parameters are doubles; both types read them as floats.
template <class T>
std::vector<T> as(std::vector<double> const& x) {
  std::vector<float> const rounded(x.begin(), x.end());
  return {rounded.begin(), rounded.end()};
}
template <class T>
wane::view<T const, 1> of_heads(std::vector<T> const& x) {
  return {x.data(), heads};
}

// Each architecture has the initial parameters of PoST, and makes its operator for the tokens begin
// <= t < end.
template <class T>
struct mamba2 {
  std::vector<T> A, taper = as<T>(spectra::linear_taper(heads));

  mamba2() {
    for (double p : spectra::mamba2_log_rates(heads, trained_at))
      A.push_back(static_cast<T>(static_cast<float>(-std::exp(p))));
  }
  auto operator()(tokens<T> const& x, index begin, index end) const {
    return wane::mamba2<T>({.x = x.by_row(x.value, columns).tokens(begin, end),
                            .dt = x.by_head(x.raw_of_head).tokens(begin, end),
                            .A = of_heads(A),
                            .B = x.by_row(x.key).tokens(begin, end),
                            .C = x.by_row(x.query).tokens(begin, end),
                            .taper = of_heads(taper)},
                           {.dt_softplus = true});
  }
};

template <class T>
wane::keyed_inputs<T> keyed(tokens<T> const& x, index begin, index end) {
  return {.query = x.by_row(x.query).tokens(begin, end),
          .key = x.by_row(x.key).tokens(begin, end),
          .value = x.by_row(x.value, columns).tokens(begin, end)};
}

template <class T>
struct rwkv7 {
  std::vector<double> const logits = spectra::rwkv7_logits(heads * rows, trained_at);
  std::vector<T> w0 = as<T>(logits), taper = as<T>(spectra::rwkv7_taper(logits, trained_at));

  static wane::view<T const, 2> of_rows(std::vector<T> const& x) { return {x.data(), heads, rows}; }
  auto operator()(tokens<T> const& x, index begin, index end) const {
    auto const part = [&](std::vector<T> const& of) { return x.by_row(of).tokens(begin, end); };
    auto const in = keyed(x, begin, end);
    return wane::rwkv7(
        {.query = in.query,
         .key = in.key,
         .value = in.value,
         .removal = part(x.removal),
         .rate = part(x.rate)},
        wane::sigmoid_gate(part(x.raw), {.bias = of_rows(w0), .taper = {of_rows(taper)}}),
        {.normalise = true});
  }
};

template <class T>
struct gated_delta_net {
  std::vector<T> A_log = as<T>(spectra::gated_delta_net_log_rates(heads, trained_at)),
                 taper = as<T>(spectra::linear_taper(heads));

  auto operator()(tokens<T> const& x, index begin, index end) const {
    auto const in = keyed(x, begin, end);
    return wane::gated_delta_net(
        {.query = in.query,
         .key = in.key,
         .value = in.value,
         .strength = x.by_head(x.strength).tokens(begin, end)},
        wane::softplus_gate(x.by_head(x.raw_of_head).tokens(begin, end),
                            {.log_rate = of_heads(A_log), .taper = {of_heads(taper)}}),
        {.normalise = true});
  }
};

// Algorithm 4 for both: RetNet's decays are constants, GLA multiplies them by a gate of its rows.
template <class T>
struct constants {
  std::vector<T> log_rate = as<T>(spectra::retnet_log_rates(heads, trained_at)),
                 taper = as<T>(spectra::linear_taper(heads));
};
template <class T>
struct gla : constants<T> {
  auto operator()(tokens<T> const& x, index begin, index end) const {
    return wane::gla(keyed(x, begin, end),
                     wane::log_sigmoid_gate(x.by_row(x.raw).tokens(begin, end),
                                            {.normaliser = 1,
                                             .log_rate = of_heads(this->log_rate),
                                             .taper = {of_heads(this->taper)}}));
  }
};
template <class T>
struct retnet : constants<T> {
  auto operator()(tokens<T> const& x, index begin, index end) const {
    return wane::retnet(keyed(x, begin, end), wane::constant_rate_gate<T>(of_heads(this->log_rate),
                                                                          {of_heads(this->taper)}));
  }
};

// The state of three sequences at the given positions; the numbers are the same for every T.
template <class T>
wane::recurrent_state<T> left_behind(std::vector<index> const& positions) {
  wane::recurrent_state<T> state(3, heads, rows, columns);
  state.values() = tokens<T>{1, 1}.numbers(std::ssize(state.values()), -1, 1);
  state.positions() = positions;
  return state;
}

struct passed {
  std::vector<double> y, state;
};
// All tokens at once, in double.
template <class Architecture>
passed full_pass(Architecture const& make, tokens<double> const& x,
                 std::vector<index> const& positions, wane::packed_sequences packed = {}) {
  wane::recurrent_state<double> state = left_behind<double>(positions);
  passed found{std::vector<double>(x.value.size(), NAN), {}};
  wane::run(make(x, 0, x.time), x.by_row(found.y, columns),
            wane::run_options<double>{.initial = state, .final = state, .packed = packed});
  found.state = state.values();
  return found;
}

double distance(std::vector<float> const& is, std::vector<double> const& should_be) {
  EXPECT_EQ(is.size(), should_be.size());
  support::nearness near;
  for (std::size_t n = 0; n < is.size(); ++n) near.add(static_cast<double>(is[n]), should_be[n]);
  return near.both();
}
void expect_decoded(std::vector<float> const& y, wane::recurrent_state<float> const& state,
                    passed const& wanted) {
  EXPECT_LT(distance(y, wanted.y), 1e-6);  // HOUSE section 3
  EXPECT_LT(distance(state.values(), wanted.state), 1e-6);
}

template <class Float, class Double>
struct architecture {
  Float in_float;
  Double in_double;
};
template <class Architecture>
class Decoding : public ::testing::Test {};
using FiveOfPost = ::testing::Types<
    architecture<mamba2<float>, mamba2<double>>, architecture<rwkv7<float>, rwkv7<double>>,
    architecture<gated_delta_net<float>, gated_delta_net<double>>,
    architecture<gla<float>, gla<double>>, architecture<retnet<float>, retnet<double>>>;
TYPED_TEST_SUITE(Decoding, FiveOfPost);

TYPED_TEST(Decoding, OfABatchWhoseSequencesStandAtPositionsOfTheirOwn) {
  TypeParam const make;
  index const time = 64;
  tokens<float> const x{3, time};
  wane::recurrent_state<float> state = left_behind<float>(seen);
  std::vector<float> y(x.value.size(), NAN);
  for (index t = 0; t < time; ++t)
    wane::step(make.in_float(x, t, t + 1), x.by_row(y, columns).tokens(t, t + 1), state);
  expect_decoded(y, state, full_pass(make.in_double, {3, time}, seen));
  for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(state.positions()[n], seen[n] + time);

  // A wrong position would be seen: it changes the outputs.
  for (std::size_t n = 1; n < 3; ++n) {
    std::vector<index> lost = seen;
    lost[n] = 0;
    EXPECT_GT(distance(y, full_pass(make.in_double, {3, time}, lost).y), 0.01) << n;
  }
}

TYPED_TEST(Decoding, OfPackedSequencesOneByOne) {
  TypeParam const make;
  std::vector<index> const starts{0, 11, 40, 64};
  tokens<float> const x{1, 64};
  wane::recurrent_state<float> all = left_behind<float>(seen);
  std::vector<float> y(x.value.size(), NAN);
  index const size = heads * rows * columns;
  for (index n = 0; n < 3; ++n) {
    auto const at = static_cast<std::size_t>(n);
    wane::state_view<float> const one{{all.values().data() + n * size, 1, heads, rows, columns},
                                      &all.positions()[at]};
    for (index t = starts[at]; t < starts[at + 1]; ++t)
      wane::step(make.in_float(x, t, t + 1), x.by_row(y, columns).tokens(t, t + 1), one);
  }
  expect_decoded(y, all, full_pass(make.in_double, {1, 64}, seen, {starts}));
}

}  // namespace
