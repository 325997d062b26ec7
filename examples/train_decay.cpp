// Training decays: gradient descent through the adjoint recovers the two rates that made a signal.
// SPDX-License-Identifier: MIT
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>
#include <wane/wane.hpp>

using numbers = std::vector<double>;

// y = v convolved with e^{-r_0 l} + e^{-r_1 l}; the rates are learned as p = log r.
struct two_exponentials {
  numbers const& v;
  std::array<double, 2> log_rate;
  std::array<double, 2> one{1, 1}, log_decay{-std::exp(log_rate[0]), -std::exp(log_rate[1])};

  wane::index tokens() const { return std::ssize(v); }
  wane::exponential_bank<double> op() const {
    return wane::exponential_bank<double>({.value = {v.data(), 1, tokens(), 1, 1},
                                           .log_decay = {log_decay.data(), 1, 2},
                                           .key = {one.data(), 1, 2},
                                           .query = {one.data(), 1, 2}});
  }
  numbers output() const {
    numbers y(v.size());
    wane::run(op(), {y.data(), 1, tokens(), 1, 1});
    return y;
  }
  // dL/dp from dL/dy: the adjoint gives dL/d(log decay) summed over tokens, and
  // d(log decay)/dp = -e^p.
  std::array<double, 2> gradient(numbers const& output_gradient) const {
    std::array<double, 2> g{};
    wane::adjoint(op(), {output_gradient.data(), 1, tokens(), 1, 1},
                  {.log_decay = {g.data(), 1, 2}});  // the others stay absent
    return {g[0] * log_decay[0], g[1] * log_decay[1]};
  }
};

int main() {
  std::mt19937 bits(1);
  std::normal_distribution<double> normal;
  numbers v(4000);
  for (double& x : v) x = normal(bits);
  std::array<double, 2> const true_rate{0.005, 0.3};
  numbers const wanted =
      two_exponentials{v, {std::log(true_rate[0]), std::log(true_rate[1])}}.output();

  std::array<double, 2> p{std::log(0.02), std::log(0.08)}, speed{}, square{};
  double loss = 0;
  for (int n = 1; n <= 400; ++n) {  // Adam, with a rate that falls
    two_exponentials const model{v, p};
    numbers error = model.output();
    loss = 0;
    for (std::size_t t = 0; t < error.size(); ++t) {
      error[t] -= wanted[t];
      loss += error[t] * error[t] / 2;
    }
    auto const g = model.gradient(error);
    for (std::size_t k = 0; k < 2; ++k) {
      speed[k] = 0.9 * speed[k] + 0.1 * g[k];
      square[k] = 0.99 * square[k] + 0.01 * g[k] * g[k];
      double const unbiased = std::sqrt(square[k] / (1 - std::pow(0.99, n)));
      p[k] -= 0.1 * std::pow(0.98, n) * speed[k] / (1 - std::pow(0.9, n)) / unbiased;
    }
    if (n == 1 || n % 100 == 0)
      std::printf("step %3d   loss %9.3e   rates %.6f %.6f\n", n, loss, std::exp(p[0]),
                  std::exp(p[1]));
  }
  std::printf("true rates                    %.6f %.6f\n", true_rate[0], true_rate[1]);
  bool close = true;
  for (std::size_t k = 0; k < 2; ++k)
    close = close && std::abs(std::exp(p[k]) / true_rate[k] - 1) < 0.01;
  return close ? 0 : 1;
}
