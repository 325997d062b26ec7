// A layer of examples/ as a process: random weights go in, its outputs must match its formula.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "bench/process.hpp"
#include "support/naive_memories.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"

namespace support {

using row = numbers<double>;

inline row mapped(row x, auto const& f) {
  for (double& each : x) each = f(each);
  return x;
}
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double softplus(double x) { return std::log1p(std::exp(x)); }
inline double silu(double x) { return x * sigmoid(x); }

inline row sum(row const& x, row const& y) { return difference(x, times(-1., y)); }
inline row part(row const& x, std::size_t first, std::size_t count) {
  auto const begin = x.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}
inline void append(row& to, row const& x) { to.insert(to.end(), x.begin(), x.end()); }

// x / sqrt(mean of squares + epsilon)
inline row rms_norm(row const& x, double epsilon) {
  return times(1 / std::sqrt(dot(x, x) / static_cast<double>(x.size()) + epsilon), x);
}
inline row centred_norm(row const& x, double epsilon) {
  double const mean = dot(x, row(x.size(), 1)) / static_cast<double>(x.size());
  return rms_norm(difference(x, row(x.size(), mean)), epsilon);
}

// A tensor of weights, [out, in].
struct matrix {
  std::size_t rows, columns;
  row values;

  row operator[](std::size_t i) const { return part(values, i * columns, columns); }
  row operator*(row const& x) const {
    row y;
    for (std::size_t i = 0; i < rows; ++i) y.push_back(dot((*this)[i], x));
    return y;
  }
};

// The tensors of a layer in the order of its file.
class weight_file {
 public:
  // Floats between two numbers.
  matrix between(double low, double high, std::size_t rows, std::size_t columns) {
    matrix drawn{rows, columns, {}};
    for (std::size_t i = 0; i < rows * columns; ++i) {
      floats_.push_back(static_cast<float>(random_.uniform(low, high)));
      drawn.values.push_back(floats_.back());
    }
    return drawn;
  }
  matrix linear(std::size_t out, std::size_t in) {
    double const size = std::sqrt(3 / static_cast<double>(in));
    return between(-size, size, out, in);
  }
  // theta, which is `slowest`, and delta, which is uneven.
  matrix spectrum(double slowest, double least, double most, std::size_t channels) {
    matrix all = between(slowest, slowest, 1, 1);
    append(all.values, between(least, most, 1, channels - 1).values);
    return all;
  }
  std::string bytes() const {
    std::string all(floats_.size() * sizeof(float), '\0');
    std::memcpy(all.data(), floats_.data(), all.size());
    return all;
  }

 private:
  random_values random_{1};
  std::vector<float> floats_;
};

constexpr double trained_at = 2048;

// PoST, Algorithm 1, lines 5 and 6: p_1 = theta, p_k = p_{k-1} + softplus(delta_{k-1}).
inline row post_map(matrix const& parameters) {
  row p{parameters.values[0]};
  for (std::size_t k = 1; k < parameters.values.size(); ++k)
    p.push_back(p.back() + softplus(parameters.values[k]));
  return p;
}
// Lines 10 and 11, with k from 0.
inline row post_taper(row const& p) {
  row alpha;
  double const last = static_cast<double>(p.size() - 1), gap = (p.back() - p.front()) / last;
  for (std::size_t n = 0; n < p.size(); ++n) {
    double const k = static_cast<double>(n);
    alpha.push_back(std::clamp(
        (last - k) / last + (p[n] - p.front() - k * gap) / std::log(trained_at), 0., 1.));
  }
  return alpha;
}

// y_t = sum_i w_i o x_{t-3+i}, i = 0..3, from zeros: mamba-ssm's and flash-linear-attention's.
class short_convolution {
 public:
  explicit short_convolution(matrix const& weight)
      : weight_(weight), last_(weight.columns, row(weight.rows)) {}

  row operator()(row const& x) {
    last_.erase(last_.begin());
    last_.push_back(x);
    row y;
    for (std::size_t c = 0; c < x.size(); ++c) {
      y.push_back(0);
      for (std::size_t i = 0; i < last_.size(); ++i) y[c] += weight_[c][i] * last_[i][c];
    }
    return y;
  }

 private:
  matrix weight_;
  std::vector<row> last_;
};

// Runs the layer with these arguments; its two sequences must be what a Sequence(weights) makes of
// theirs, token by token.
template <class Sequence, class Weights>
void expect_sequences(char const* program, std::vector<std::string> arguments,
                      Weights const& weights, std::size_t time, std::size_t width) {
  constexpr std::size_t batch = 2;
  wane::bench::scratch const place;
  std::string const outputs = place.file("outputs");
  arguments.insert(arguments.end(), {"--outputs", outputs});
  auto const result = wane::bench::run(program, arguments);
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  std::string const bytes = wane::bench::content_of(outputs);
  std::vector<float> all(2 * batch * time * width);
  ASSERT_EQ(bytes.size(), all.size() * sizeof(float));
  std::memcpy(all.data(), bytes.data(), bytes.size());

  nearness near;
  row const inputs(all.begin(), all.begin() + std::ssize(all) / 2);
  for (std::size_t b = 0; b < batch; ++b) {
    Sequence sequence(weights);
    for (std::size_t t = b * time; t < (b + 1) * time; ++t) {
      row const y = sequence(part(inputs, t * width, width));
      for (std::size_t i = 0; i < width; ++i) near.add(all[(batch * time + t) * width + i], y[i]);
    }
  }
  // Both are double, and the file rounds to float, by 6e-8 at most.
  EXPECT_LT(near.both(), 1e-7);
}
template <class Sequence, class Weights>
void expect_layer(char const* program, Weights const& weights, std::size_t width = 128) {
  wane::bench::scratch const place;
  std::string const file = place.write("weights", weights.bytes());
  expect_sequences<Sequence>(program, {"--weights", file}, weights, 200, width);
}

}  // namespace support
