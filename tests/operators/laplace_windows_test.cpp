// laplace over long sequences: no drift, and an input that has left the window leaves no trace.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>

#include "support/laplace_sum.hpp"
#include "wane/run/run.hpp"

namespace {

using support::laplace_parameters;
using wane::index;
using wane::spectra::window_shape;

// How a long sequence is run.
enum class by { run, pieces, step };

// One node over one channel of Io, its state in double or float.
template <class Io, window_shape Window, class Part = double>
struct long_case {
  using V = std::complex<Part>;
  using Op = wane::laplace<Io, Window, V>;
  laplace_parameters<Io> parameters{1, 1, 1};
  std::vector<Io> x, y;
  support::random_values random{3};

  long_case(index tokens, double sigma, double omega, double width)
      : x(static_cast<std::size_t>(tokens)), y(x.size(), nothing()) {
    parameters.sigma[0] = static_cast<Io>(sigma), parameters.omega[0] = static_cast<Io>(omega);
    parameters.width[0] = static_cast<Io>(width);
    parameters.read_out[0] = {Io(.8), Io(-.6)};
    for (Io& v : x) v = static_cast<Io>(random.uniform(-1, 1));
  }

  index tokens() const { return static_cast<index>(x.size()); }
  Op op(index begin, index end) const {
    return {{.value = {x.data() + begin, 1, end - begin, 1, 1}},
            parameters.view(Op::has_window, false)};
  }
  void take(by how) {
    wane::recurrent_state<V> state(op(0, tokens()));
    index const piece = how == by::run ? tokens() : how == by::step ? 1 : 777;
    for (index begin = 0; begin < tokens(); begin += piece) {
      index const end = std::min(begin + piece, tokens());
      wane::sequence_view<Io> const to(y.data() + begin, 1, end - begin, 1, 1);
      if (how == by::step)
        wane::step(op(begin, end), to, state);
      else
        wane::run(op(begin, end), to, wane::run_options<V>{.initial = state, .final = state});
    }
  }

  // The error of some outputs of tokens [begin, end), chosen at random.
  double error(index begin, index end, int places) {
    auto const response = parameters.response(Window, 0, 0, tokens());
    support::error_of_rms found;
    for (int i = 0; i < places; ++i) {
      index const n =
          begin + static_cast<index>(random.bits() % static_cast<std::uint64_t>(end - begin));
      found.add(y[at(n)], support::laplace_sum(response, n, [&](index m) { return x[at(m)]; }));
    }
    return found();
  }

  static std::size_t at(index n) { return static_cast<std::size_t>(n); }
  static Io nothing() { return std::numeric_limits<Io>::quiet_NaN(); }
};

// |r| = e^-sigma from 0.5 to 1.
std::vector<double> const all_fading = {.6931471805599453, .01, 1e-4, 1e-6, 0}, slowly = {1e-4, 0};

template <class Io, window_shape Window>
void expect_no_drift(double bound, by how, std::vector<double> const& widths,
                     std::vector<double> const& fading = all_fading, index tokens = 1000000) {
  for (double width : widths)
    for (double sigma : fading)
      for (double omega : {.37, 0.}) {
        if (omega == 0 && sigma > 0) continue;
        long_case<Io, Window> run(tokens, sigma, omega, width);
        run.take(how);
        EXPECT_LE(run.error(tokens * 4 / 5, tokens, 12), bound)
            << "width " << width << ", sigma " << sigma << ", omega " << omega;
      }
}

constexpr double of_double = 1e-12, of_float = 1e-6;
std::vector<double> const narrow = {.5, 1, 7.3, 64, 1000.5}, wide = {99999.5, 1e5};

TEST(LaplaceLongRuns, WithoutAWindow) {
  expect_no_drift<double, window_shape::none>(of_double, by::run, {1}, {.6931471805599453, .01, 0});
  expect_no_drift<float, window_shape::none>(of_float, by::run, {1}, {1e-4}, 300000);
}

TEST(LaplaceLongRuns, OfExponentialWindows) {
  expect_no_drift<double, window_shape::exponential>(of_double, by::run, {.5, 1000.5});
  expect_no_drift<double, window_shape::exponential>(of_double, by::run, {1e4}, slowly);
  expect_no_drift<float, window_shape::exponential>(of_float, by::run, {1000.5}, {0});
}

TEST(LaplaceLongRuns, OfRectangularWindows) {
  expect_no_drift<double, window_shape::rectangular>(of_double, by::run, narrow);
  expect_no_drift<double, window_shape::rectangular>(of_double, by::run, wide, slowly);
  expect_no_drift<float, window_shape::rectangular>(of_float, by::run, narrow, {1e-6, 0});
}

TEST(LaplaceLongRuns, OfHannWindows) {
  expect_no_drift<double, window_shape::hann>(of_double, by::run, narrow);
  expect_no_drift<double, window_shape::hann>(of_double, by::run, wide, slowly);
  expect_no_drift<float, window_shape::hann>(of_float, by::run, narrow, {1e-6, 0});
}

TEST(LaplaceLongRuns, InPieces) {
  expect_no_drift<double, window_shape::rectangular>(of_double, by::pieces, narrow, slowly);
  expect_no_drift<double, window_shape::hann>(of_double, by::pieces, narrow, slowly);
  expect_no_drift<float, window_shape::hann>(of_float, by::pieces, {64}, slowly);
}

// A correction of carried states must not harm states that fade before they are carried twice. This
// is hardest where p^N is near the least float.
TEST(LaplaceLongRuns, OfFastDecaysInFloat) {
  for (double sigma : {.05, .2, 10.88, 10.9, 21.8, 21.83})
    for (double omega : {.075, .09, .18, .2}) {
      long_case<float, window_shape::none, float> run(4096, sigma, omega, 1);
      wane::recurrent_state<std::complex<float>> state(run.op(0, 4096));
      wane::run(run.op(0, 4096), wane::sequence_view<float>(run.y.data(), 1, 4096, 1, 1),
                wane::run_options<std::complex<float>>{.final = state});
      using V = std::complex<double>;
      V const pole = std::exp(-V(double(run.parameters.sigma[0]), double(run.parameters.omega[0])));
      V sum = 0;
      for (float x : run.x) sum = pole * sum + double(x);
      EXPECT_LE(std::abs(V(state.values()[0]) - sum), 1e-6 * std::max(1., std::abs(sum)))
          << "sigma " << sigma << ", omega " << omega;
    }
}

TEST(LaplaceLongRuns, TokenByToken) {
  expect_no_drift<double, window_shape::rectangular>(of_double, by::step, {1000.5}, {0});
  expect_no_drift<double, window_shape::hann>(of_double, by::step, {64}, {1e-4});
  expect_no_drift<float, window_shape::hann>(of_float, by::step, {7.3}, {0}, 200000);
}

// A step multiplies by a rounded pole, so an input l tokens old has l rounded factors.
TEST(LaplaceLongRuns, TokenByTokenInWideWindows) {
  expect_no_drift<double, window_shape::rectangular>(1e5 * 0x1p-52, by::step, {1e5}, {0}, 250000);
  expect_no_drift<double, window_shape::hann>(1e5 * 0x1p-52, by::step, {1e5}, {0}, 250000);
}

// In float a sum is rounded by 3e-8 every few tokens, and these errors last for 1e5 tokens. A decay
// of 1 - 1e-5 that is itself rounded to float would give an error of 3e-3.
TEST(LaplaceLongRuns, OfSlowDecaysInFloat) {
  long_case<float, window_shape::none, float> run(400000, 1e-5, .37, 1);
  run.take(by::run);
  EXPECT_LE(run.error(300000, 400000, 20), 3e-5);
}

// The mean is a hundred times the noise. A node with omega > 0 hardly sees it, nor may its error.
TEST(LaplaceLongRuns, OverALargeMean) {
  for (double width : {64., 1000.5}) {
    long_case<double, window_shape::hann> run(300000, 0, .37, width);
    for (double& v : run.x) v += 100;
    run.take(by::run);
    EXPECT_LE(run.error(200000, 300000, 20), of_double) << width;
  }
}

// The outputs 2 D tokens after an event are those of a sequence without it. The oracle sums only D
// inputs, so the state must hold no more.
template <class Io, window_shape Window>
void expect_to_forget(double bound, Io event) {
  for (double width : {.5, 1., 7.3, 64., 100.5})
    for (double sigma : {.6931471805599453, 1e-4, 0.})
      for (by how : {by::run, by::pieces, by::step}) {
        index const reach = static_cast<index>(std::ceil(width));
        // The event is in the middle of a block of D tokens, at its start and at its end.
        for (index n : {1700 / reach * reach + reach / 3, 1700 / reach * reach,
                        1700 / reach * reach + reach - 1}) {
          SCOPED_TRACE(::testing::Message()
                       << "event " << event << " at " << n << ", width " << width << ", sigma "
                       << sigma << ", by " << static_cast<int>(how));
          long_case<Io, Window> run(2500, sigma, .37, width);
          run.x[static_cast<std::size_t>(n)] = event;
          run.take(how);
          EXPECT_LE(run.error(n + 2 * reach, n + 2 * reach + 40, 30), bound);
          if (std::isfinite(event)) continue;
          for (index k = 0; k < n; ++k)
            ASSERT_TRUE(std::isfinite(run.y[static_cast<std::size_t>(k)])) << "before, at " << k;
          EXPECT_FALSE(std::isfinite(run.y[static_cast<std::size_t>(n)]));
        }
      }
}

template <class Io>
void expect_every_event_forgotten(double bound) {
  using limits = std::numeric_limits<Io>;
  for (Io event : {Io(1e6), limits::max(), limits::infinity(), limits::quiet_NaN()}) {
    expect_to_forget<Io, window_shape::rectangular>(bound, event);
    expect_to_forget<Io, window_shape::hann>(bound, event);
  }
}

TEST(LaplaceWindows, ForgetBurstsAndNaNsOfDoubles) {
  expect_every_event_forgotten<double>(of_double);
}
TEST(LaplaceWindows, ForgetBurstsAndNaNsOfFloats) { expect_every_event_forgotten<float>(of_float); }

// A burst is in the output exactly as long as it is in the window.
TEST(LaplaceWindows, EndSharply) {
  long_case<double, window_shape::rectangular> run(300, 0, 0, 50.5);
  for (double& v : run.x) v = 0;
  run.x[120] = 1;
  run.take(by::run);
  for (index n = 0; n < 300; ++n)
    EXPECT_NEAR(run.y[static_cast<std::size_t>(n)], 120 <= n && n <= 170 ? .8 : 0, 1e-14) << n;
}

}  // namespace
