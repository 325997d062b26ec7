// Runs with tapered gates: decoding, packed sequences, and the way back to PoST's own parameters.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/expect_error.hpp"
#include "support/gate_case.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/gates/gates.hpp"
#include "wane/operators/gla.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"
#include "wane/spectra/rates/post_map.hpp"
#include "wane/spectra/rates/taper.hpp"

namespace {

using wane::index;

// One sequence, 4 heads of 5 rows and 3 columns: the inputs of a gated memory, and its output.
template <class T>
struct memory {
  static constexpr index heads = 4, rows = 5, columns = 3;
  index time;
  support::random_values random;
  std::vector<T> query = some(rows, -1, 1), key = some(rows, -1, 1), value = some(columns, -1, 1);
  std::vector<T> strength = some(1, 0, 1), raw = some(rows, -3, 1), log_rate, alpha;
  std::vector<T> output = std::vector<T>(value.size(), std::numeric_limits<T>::quiet_NaN());

  explicit memory(index tokens) : time(tokens) {
    for (index h = 0; h < heads; ++h) {
      log_rate.push_back(static_cast<T>(random.uniform(-2, 1)));
      alpha.push_back(static_cast<T>(1 - static_cast<double>(h) / 3));
    }
  }
  std::vector<T> some(index channels, double low, double high) {
    std::vector<T> x;
    for (index n = 0; n < time * heads * channels; ++n)
      x.push_back(static_cast<T>(random.uniform(low, high)));
    return x;
  }
  template <class U>
  wane::sequence_view<U> all(std::vector<T>& x, index channels, index begin, index end) const {
    return wane::sequence_view<U>(x.data(), 1, time, heads, channels).tokens(begin, end);
  }
  wane::token_view<T const> all(std::vector<T>& x, index begin, index end) const {
    return wane::token_view<T const>(x.data(), 1, time, heads).tokens(begin, end);
  }
  wane::view<T, 1> of_heads(std::vector<T>& x) const { return {x.data(), heads}; }
  wane::keyed_inputs<T> in(index begin, index end) {
    return {.query = all<T const>(query, rows, begin, end),
            .key = all<T const>(key, rows, begin, end),
            .value = all<T const>(value, columns, begin, end)};
  }
  wane::delta_inputs<T> delta_in(index begin, index end) {
    auto const keyed = in(begin, end);
    return {.query = keyed.query,
            .key = keyed.key,
            .value = keyed.value,
            .strength = all(strength, begin, end)};
  }
  wane::sequence_view<T> y(index begin, index end) { return all<T>(output, columns, begin, end); }

  // log w = -e^log_rate softplus(raw) t^{-alpha}
  auto by_head(index begin, index end) {
    return wane::gated_delta_net(
        delta_in(begin, end),
        wane::softplus_gate(all(raw, begin, end),
                            {.log_rate = of_heads(log_rate), .taper = {of_heads(alpha)}}),
        {.normalise = true});
  }
  // log w = -e^{-1/2} sigmoid(raw - alpha log t)
  auto by_row(index begin, index end) {
    return wane::gla(in(begin, end), wane::sigmoid_gate(all<T const>(raw, rows, begin, end),
                                                        {.taper = {of_heads(alpha)}}));
  }
};

double difference(std::vector<float> const& is, std::vector<float> const& should_be) {
  support::nearness near;
  for (std::size_t n = 0; n < is.size(); ++n)
    near.add(static_cast<double>(is[n]), static_cast<double>(should_be[n]));
  return near.both();
}

TEST(GatesInARun, DecodeAsTheFullPassWithACarriedPosition) {
  memory<float> m(64);
  auto const decode = [&](auto const& op_of) {
    // The first token follows 2^40 others.
    wane::recurrent_state<float> before(op_of(0, m.time)), state = before;
    before.positions() = state.positions() = {index{1} << 40};
    wane::run(op_of(0, m.time), m.y(0, m.time), wane::run_options<float>{.initial = before});
    auto const whole = m.output;
    for (index t = 0; t < m.time; ++t) wane::step(op_of(t, t + 1), m.y(t, t + 1), state);
    EXPECT_LT(difference(m.output, whole), 1e-6);
    EXPECT_EQ(state.positions().front(), (index{1} << 40) + m.time);
  };
  decode([&](index a, index b) { return m.by_head(a, b); });
  decode([&](index a, index b) { return m.by_row(a, b); });
}

TEST(GatesInARun, AreTheLogDecaysOfTheirPositions) {
  memory<double> m(20);
  wane::recurrent_state<double> state(m.by_head(0, 20));
  state.positions() = {100};
  for (auto way : {wane::direction::forward, wane::direction::reverse}) {
    std::vector<double> logs;
    for (index t = 0; t < 20; ++t)
      for (std::size_t h = 0; h < 4; ++h) {
        index const position = 100 + (way == wane::direction::forward ? t + 1 : 20 - t);
        support::gate_numbers const x{m.raw[static_cast<std::size_t>(t) * 4 + h], m.log_rate[h], 0,
                                      m.alpha[h], std::log(static_cast<long double>(position))};
        logs.push_back(static_cast<double>(x.softplus_gate()));
      }
    wane::run_options<double> options{.initial = std::as_const(state), .direction = way};
    wane::run(m.by_head(0, 20), m.y(0, 20), options);
    auto const gated = m.output;
    wane::run(wane::gated_delta_net(m.delta_in(0, 20), m.all(logs, 0, 20), {.normalise = true}),
              m.y(0, 20), options);
    support::nearness near;
    for (std::size_t n = 0; n < gated.size(); ++n) near.add(gated[n], m.output[n]);
    EXPECT_LT(near.both(), 1e-14);  // log decays agree to 1e-15, and 20 tokens pass
  }
}

TEST(GatesInARun, BeginAnewInEveryPackedSequence) {
  memory<float> m(64);
  index const starts[] = {0, 10, 37, 64};
  wane::run(m.by_head(0, 64), m.y(0, 64), wane::run_options<float>{.packed = {starts}});
  auto const packed = m.output;
  for (int n = 0; n < 3; ++n)
    wane::run(m.by_head(starts[n], starts[n + 1]), m.y(starts[n], starts[n + 1]));
  EXPECT_EQ(m.output, packed);
  // The later sequences would decay differently if the taper had other positions.
  wane::run(m.by_head(0, 64), m.y(0, 64));
  EXPECT_GT(difference(m.output, packed), 0.1);
}

TEST(GatesInARun, RefuseATaperBeyondOneBeforeAnythingIsWritten) {
  memory<float> m(4);
  m.alpha[2] = 1.5f;
  auto const untouched = [&] {
    for (float y : m.output) EXPECT_TRUE(std::isnan(y));
  };
  support::expect_error({"the taper is 1.5 at head 2", "[0, 1]"},
                        [&] { wane::run(m.by_head(0, 4), m.y(0, 4)); });
  support::expect_error({"the taper is 1.5 at head 2"},
                        [&] { wane::run(m.by_row(0, 4), m.y(0, 4)); });
  untouched();
}

// The loss <weight, y> of a whole run, as a function of PoST's theta and delta. The map gives the
// log rates, and their adaptive taper gives the exponents.
struct post_loss {
  static constexpr index time = 40;
  static constexpr double log_reference = 5;
  memory<double> m{time};
  std::vector<double> weight = m.some(memory<double>::columns, -1, 1);

  void set(wane::spectra::post_parameters const& parameters) {
    m.log_rate = wane::spectra::log_rates(parameters);
    m.alpha = wane::spectra::adaptive_taper(m.log_rate, log_reference).values();
  }
  double operator()(wane::spectra::post_parameters const& parameters) {
    set(parameters);
    wane::run(m.by_head(0, time), m.y(0, time));
    double total = 0;
    for (std::size_t n = 0; n < weight.size(); ++n) total += weight[n] * m.output[n];
    return total;
  }
  wane::spectra::post_parameters gradient(wane::spectra::post_parameters const& parameters) {
    set(parameters);
    auto const op = m.by_head(0, time);
    double const nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> logs(m.strength.size(), nan), by_log_rate(4, nan), by_alpha(4, nan);
    wane::token_view<double> const by_log_decay{logs.data(), 1, time, 4};
    wane::adjoint(op, m.all<double>(weight, m.columns, 0, time), {.log_decay = by_log_decay});
    wane::softplus_gate const gate(m.all(m.raw, 0, time), {.log_rate = m.of_heads(m.log_rate),
                                                           .taper = {m.of_heads(m.alpha)}});
    wane::gate_adjoint(gate, by_log_decay,
                       {.log_rate = m.of_heads(by_log_rate), .taper = m.of_heads(by_alpha)});
    wane::spectra::adaptive_taper const taper(m.log_rate, log_reference);
    auto const through_taper = taper.adjoint(by_alpha);
    for (std::size_t h = 0; h < 4; ++h) by_log_rate[h] += through_taper[h];
    return wane::spectra::log_rates_adjoint(parameters, by_log_rate);
  }
};

TEST(GatesInARun, LeadBackToThetaAndDelta) {
  post_loss loss;
  wane::spectra::post_parameters here{-3, {0.5, 1, 0.2}};
  auto const gradient = loss.gradient(here);
  auto const slope = [&](double& x) {
    double const step = 1e-5, at = x;
    x = at + step;
    double const above = loss(here);
    x = at - step;
    double const below = loss(here);
    x = at;
    return (above - below) / (2 * step);
  };
  // A central difference is off by the third derivative, some 1e-10, and by rounding, 1e-15 / 1e-5.
  EXPECT_NEAR(gradient.slowest / slope(here.slowest), 1, 1e-7);
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(gradient.gaps[k] / slope(here.gaps[k]), 1, 1e-7) << k;
}

}  // namespace
