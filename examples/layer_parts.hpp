// Parts of the layers in this folder: heads of matrices, short convolutions, norms, first weights.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <random>
#include <vector>
#include <wane/eigen.hpp>
#include <wane/spectra/rates/post_map.hpp>
#include <wane/wane.hpp>

namespace layers {

using wane::by_head, wane::in_heads, wane::index;

// Activations are [B T, channels], the T tokens of a sequence one below the other. Weights are
// [out, in], as PyTorch keeps them.
template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The number of sequences in a state; x has their next tokens.
// Throws wane::error unless x is [B T, width].
template <class T>
index batch_of(matrix<T> const& x, index width, wane::recurrent_state<T> const& carried) {
  index const batch = std::ssize(carried.positions());
  wane::require(batch > 0 && x.cols() == width && x.rows() % batch == 0, "the input has shape [",
                x.rows(), ", ", x.cols(), "]; it must be [", batch, " T, ", width, "]");
  return batch;
}
// A row of weights, or of numbers made from it, as a parameter of an operator.
auto numbers(auto const& x) {
  using T = std::remove_pointer_t<decltype(x.data())>;
  return wane::view<T, 1>(x.data(), x.size());
}

template <class Dense>
auto sigmoid(Dense const& x) {
  return (1 + (-x.array()).exp()).inverse().matrix().eval();
}
template <class Dense>
auto silu(Dense const& x) {
  return x.cwiseProduct(sigmoid(x)).eval();
}

// The inputs of every sequence, and before them `tail`, those that came before: [B (n + T), C].
// The last n of them are the new tail, [B n, C].
template <class T, class Dense>
matrix<T> behind(matrix<T>& tail, Dense const& x, index batch) {
  index const time = x.rows() / batch, n = tail.rows() / batch;
  matrix<T> all(batch * (n + time), x.cols());
  for (index b = 0; b < batch; ++b) {
    auto own = all.middleRows(b * (n + time), n + time);
    own << tail.middleRows(b * n, n), x.middleRows(b * time, time);
    tail.middleRows(b * n, n) = own.bottomRows(n);
  }
  return all;
}
// The previous token of each token.
template <class T>
matrix<T> before(matrix<T> const& x, matrix<T>& last, index batch) {
  index const time = x.rows() / batch;
  matrix<T> const all = behind(last, x, batch);
  matrix<T> y(x.rows(), x.cols());
  for (index b = 0; b < batch; ++b)
    y.middleRows(b * time, time) = all.middleRows(b * (1 + time), time);
  return y;
}
// y_t = sum_i w_i o x_{t - (n - i)}, i = 0..n: each channel with its own row of weight, [C, n + 1].
template <class T, class Dense>
matrix<T> causal_convolution(Dense const& x, matrix<T> const& weight, matrix<T>& tail,
                             index batch) {
  index const time = x.rows() / batch, taps = weight.cols();
  matrix<T> const all = behind(tail, x, batch);
  matrix<T> y = matrix<T>::Zero(x.rows(), x.cols());
  for (index b = 0; b < batch; ++b)
    for (index i = 0; i < taps; ++i)
      y.middleRows(b * time, time) +=
          all.middleRows(b * (taps - 1 + time) + i, time) * weight.col(i).asDiagonal();
  return y;
}

// Every row in `groups` equal parts, each divided by its root mean square.
template <class T>
matrix<T> rms_norm(matrix<T> x, index groups, double epsilon) {
  Eigen::Map<matrix<T>> part(x.data(), x.rows() * groups, x.cols() / groups);
  part.array().colwise() /=
      (part.array().square().rowwise().mean() + static_cast<T>(epsilon)).sqrt().eval();
  return x;
}
// The same for the difference of each part from its mean.
template <class T>
matrix<T> group_norm(matrix<T> x, index groups, double epsilon) {
  Eigen::Map<matrix<T>> part(x.data(), x.rows() * groups, x.cols() / groups);
  part.colwise() -= part.rowwise().mean().eval();
  return rms_norm<T>(std::move(x), groups, epsilon);
}

// Outputs of all tokens of `op`; updates the carried state. One token is a step, more are a run.
template <class T, class Op>
matrix<T> remember(Op const& op, wane::recurrent_state<T>& carried) {
  wane::recurrence_shape const s = wane::output_shape_of(op);
  matrix<T> y(s.batch * s.time, s.heads * s.columns);
  wane::sequence_view<T> const output = in_heads(y, s.batch, s.heads);
  if (s.time == 1)
    wane::step(op, output, carried);
  else
    wane::run(op, output, {.initial = carried, .final = carried});
  return y;
}

// PoST's numbers are made in double; an operator of T reads T.
template <class T>
std::vector<T> as(std::vector<double> const& x) {
  return std::vector<T>(x.begin(), x.end());
}
// A row of weights keeps floats, for any T.
template <class T>
matrix<T> row_of(std::vector<double> const& x) {
  using row = Eigen::RowVectorXd;
  return Eigen::Map<row const>(x.data(), std::ssize(x)).cast<float>().template cast<T>();
}
// PoST's map: log rates, slowest first, from theta and delta, [1, N]; and back.
template <class T>
std::vector<double> log_rates(matrix<T> const& parameters) {
  T const* const x = parameters.data();
  return wane::spectra::log_rates(
      {static_cast<double>(x[0]), std::vector<double>(x + 1, x + parameters.size())});
}
template <class T>
matrix<T> parameters(std::vector<double> const& log_rates) {
  auto [theta, all] = wane::spectra::parameters_of(log_rates);
  all.insert(all.begin(), theta);
  return row_of<T>(all);
}

// Initial weights, likewise.
struct initial_weights {
  std::mt19937 bits;

  template <class T>
  matrix<T> random(index rows, index columns, double deviation) {
    std::normal_distribution<float> normal(0, static_cast<float>(deviation));
    return matrix<float>::NullaryExpr(rows, columns, [&] { return normal(bits); })
        .template cast<T>();
  }
  template <class T>
  matrix<T> linear(index out, index in) {
    return random<T>(out, in, 1 / std::sqrt(static_cast<double>(in)));
  }
};

}  // namespace layers
