// Random tokens of one head of VLA: features of keys and queries, values, penalty directions.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

#include "wane/core/recurrence/view.hpp"
#include "wane/eigen.hpp"
#include "wane/operators/feature_maps.hpp"
#include "wane/spectra/rates/random.hpp"

namespace wane::bench {

using matrix = Eigen::MatrixXd;
using vector = Eigen::VectorXd;

// Normal, mean 0 and deviation 1, by Box and Muller: the same draw with every standard library.
inline matrix normal_numbers(index rows, index columns, std::mt19937_64& bits) {
  matrix x(rows, columns);
  for (double& one : x.reshaped()) {
    double const length = std::sqrt(-2 * std::log1p(-spectra::unit_uniform(bits)));
    one = length * std::cos(2 * std::numbers::pi * spectra::unit_uniform(bits));
  }
  return x;
}

// elu + 1 of every number.
inline matrix features_of(matrix const& x) {
  matrix phi(x.rows(), x.cols());
  elu_plus_one<double>(as_sequence(x), as_sequence(phi));
  return phi;
}

// What the paper's "random inputs" may be: keys and values drawn apart; or projections of one token
// of 128 numbers, W normal of variance 1/128, or as a linear layer of PyTorch begins, uniform of
// variance 1/384.
enum class drawn { apart, projected, by_layers };

// A token a row. `direction` is W_u k before the feature map, of any length.
struct vla_tokens {
  matrix key, query, value, direction;

  vla_tokens(drawn how, index tokens, index width, std::uint64_t seed) {
    constexpr index inputs = 128;
    std::mt19937_64 bits(seed);
    auto const weights = [&](index from) -> matrix {
      if (how != drawn::by_layers)
        return normal_numbers(from, width, bits) / std::sqrt(static_cast<double>(from));
      matrix w(from, width);
      for (double& one : w.reshaped()) one = 2 * spectra::unit_uniform(bits) - 1;
      return w / std::sqrt(static_cast<double>(from));
    };
    matrix const x = normal_numbers(tokens, how == drawn::apart ? 0 : inputs, bits);
    auto const draw = [&]() -> matrix {
      return how == drawn::apart ? normal_numbers(tokens, width, bits) : x * weights(inputs);
    };
    matrix const raw = draw();
    key = features_of(raw), query = features_of(draw()), value = draw();
    direction = raw * weights(width);
  }
};

}  // namespace wane::bench
