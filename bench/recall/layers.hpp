// The parts of a model beside its memories: linear maps, norms, activations, convolutions, losses.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "recall/tape.hpp"
#include "recall/tasks/task.hpp"

namespace wane::recall {

// Weights of parameters are given by their place in the list.

// A parameter as a value.
template <class T>
tensor learned(tape<T>& on, std::size_t weight) {
  return on.record(on.weight(weight), [weight](tape<T>& back, tensor result) {
    back.weight_gradient(weight) += back.gradient(result);
  });
}

template <class T>
tensor constant(tape<T>& on, matrix<T> value) {
  return on.record(std::move(value), [](auto&, tensor) {});
}

template <class T>
tensor linear(tape<T>& on, tensor x, std::size_t weight) {
  matrix<T> y(on[x].rows(), on.weight(weight).cols());
  y.noalias() = on[x] * on.weight(weight);
  return on.record(std::move(y), [x, weight](tape<T>& back, tensor result) {
    matrix<T> const& dy = back.gradient(result);
    back.weight_gradient(weight).noalias() += back[x].transpose() * dy;
    back.gradient(x).noalias() += dy * back.weight(weight).transpose();
  });
}

// The same map for every head: [B T, H in] to [B T, H out], weight [in, out].
template <class T>
tensor linear_of_heads(tape<T>& on, tensor x, std::size_t weight) {
  index const in = on.weight(weight).rows(), out = on.weight(weight).cols();
  index const rows = on[x].size() / in;
  using heads = Eigen::Map<matrix<T>>;
  using const_heads = Eigen::Map<matrix<T> const>;
  matrix<T> y(on[x].rows(), on[x].cols() / in * out);
  heads(y.data(), rows, out).noalias() = const_heads(on[x].data(), rows, in) * on.weight(weight);
  return on.record(std::move(y), [x, weight, rows, in, out](tape<T>& back, tensor result) {
    const_heads const dy(back.gradient(result).data(), rows, out);
    back.weight_gradient(weight).noalias() +=
        const_heads(back[x].data(), rows, in).transpose() * dy;
    heads(back.gradient(x).data(), rows, in).noalias() += dy * back.weight(weight).transpose();
  });
}

template <class T>
tensor add(tape<T>& on, tensor a, tensor b) {
  return on.record(on[a] + on[b], [a, b](tape<T>& back, tensor result) {
    back.give(a, back.gradient(result)), back.give(b, back.gradient(result));
  });
}
template <class T>
tensor product(tape<T>& on, tensor a, tensor b) {
  return on.record(on[a].cwiseProduct(on[b]), [a, b](tape<T>& back, tensor result) {
    matrix<T> const& dy = back.gradient(result);
    back.give(a, dy.cwiseProduct(back[b])), back.give(b, dy.cwiseProduct(back[a]));
  });
}
// x with the columns of a row of weights as factors.
template <class T>
tensor scaled(tape<T>& on, tensor x, std::size_t weight) {
  return on.record(on[x] * on.weight(weight).row(0).asDiagonal(),
                   [x, weight](tape<T>& back, tensor result) {
                     matrix<T> const& dy = back.gradient(result);
                     back.weight_gradient(weight) += dy.cwiseProduct(back[x]).colwise().sum();
                     back.give(x, dy * back.weight(weight).row(0).asDiagonal());
                   });
}
// x + bias, a row.
template <class T>
tensor biased(tape<T>& on, tensor x, std::size_t bias) {
  return on.record(on[x].rowwise() + on.weight(bias).row(0),
                   [x, bias](tape<T>& back, tensor result) {
                     back.weight_gradient(bias) += back.gradient(result).colwise().sum();
                     back.give(x, back.gradient(result));
                   });
}

// y = f(x) and dy/dx = slope(x, y), number by number; f and slope take and return Eigen's arrays.
template <class T, class F, class Slope>
tensor each(tape<T>& on, tensor x, F const& f, Slope slope) {
  return on.record(f(on[x].array()).matrix(), [x, slope](tape<T>& back, tensor result) {
    back.give(
        x, (back.gradient(result).array() * slope(back[x].array(), back[result].array())).matrix());
  });
}
auto logistic(auto const& z) { return (1 + (-z).exp()).inverse(); }

template <class T>
tensor exponential(tape<T>& on, tensor x) {
  return each(
      on, x, [](auto const& z) { return z.exp(); }, [](auto const&, auto const& y) { return y; });
}
template <class T>
tensor silu(tape<T>& on, tensor x) {
  return each(
      on, x, [](auto const& z) { return z * logistic(z); },
      [](auto const& z, auto const& y) { return y + logistic(z) * (1 - y); });
}
// ELU + 1, the feature map of linear attention.
template <class T>
tensor elu_plus_one(tape<T>& on, tensor x) {
  return each(
      on, x, [](auto const& z) { return z.max(T(0)) + z.min(T(0)).exp(); },
      [](auto const&, auto const& y) { return y.min(T(1)); });
}

// y = x / sqrt(mean of squares + 1e-6) o weight, row by row.
template <class T>
tensor rms_norm(tape<T>& on, tensor x, std::size_t weight) {
  auto const inverse_length = [](matrix<T> const& rows) {
    return (rows.rowwise().squaredNorm().array() / T(rows.cols()) + T(1e-6)).rsqrt().eval();
  };
  auto const normed = [inverse_length](matrix<T> const& rows) {
    return matrix<T>(rows.array().colwise() * inverse_length(rows));
  };
  return on.record(
      normed(on[x]) * on.weight(weight).row(0).asDiagonal(),
      [x, weight, inverse_length, normed](tape<T>& back, tensor result) {
        matrix<T> const n = normed(back[x]);
        back.weight_gradient(weight) += n.cwiseProduct(back.gradient(result)).colwise().sum();
        matrix<T> dn = back.gradient(result) * back.weight(weight).row(0).asDiagonal();
        auto const along = (dn.cwiseProduct(n).rowwise().sum().array() / T(n.cols())).eval();
        dn.array() = (dn.array() - n.array().colwise() * along).colwise() * inverse_length(back[x]);
        back.give(x, std::move(dn));
      });
}

// Each head of each row, of `size` channels, stretched to `length`.
template <class T>
tensor normed_heads(tape<T>& on, tensor x, index size, T length) {
  auto const rows_of = [size](matrix<T> const& of) {
    return Eigen::Map<matrix<T> const>(of.data(), of.size() / size, size);
  };
  auto const stretch = [rows_of, length](matrix<T> const& of) {
    return (length * (rows_of(of).rowwise().squaredNorm().array() + T(1e-12)).rsqrt()).eval();
  };
  matrix<T> y(on[x].rows(), on[x].cols());
  Eigen::Map<matrix<T>>(y.data(), y.size() / size, size) =
      (rows_of(on[x]).array().colwise() * stretch(on[x])).matrix();
  return on.record(std::move(y), [=](tape<T>& back, tensor result) {
    auto const dy = rows_of(back.gradient(result)), n = rows_of(back[result]);
    auto const along = (dy.cwiseProduct(n).rowwise().sum().array() / (length * length)).eval();
    matrix<T> dx(back[x].rows(), back[x].cols());
    Eigen::Map<matrix<T>>(dx.data(), dx.size() / size, size) =
        ((dy.array() - n.array().colwise() * along).colwise() * stretch(back[x])).matrix();
    back.give(x, std::move(dx));
  });
}

// The token before each, zeros before the first of a sequence of `time` tokens.
template <class T>
tensor shift(tape<T>& on, tensor x, index time) {
  matrix<T> y = matrix<T>::Zero(on[x].rows(), on[x].cols());
  index const batch = y.rows() / time;
  for (index b = 0; b < batch; ++b)
    y.middleRows(b * time + 1, time - 1) = on[x].middleRows(b * time, time - 1);
  return on.record(std::move(y), [x, time, batch](tape<T>& back, tensor result) {
    matrix<T> dx = matrix<T>::Zero(back[x].rows(), back[x].cols());
    for (index b = 0; b < batch; ++b)
      dx.middleRows(b * time, time - 1) = back.gradient(result).middleRows(b * time + 1, time - 1);
    back.give(x, std::move(dx));
  });
}

// y_t = sum_j weight_j o x_{t-j} for the taps j of weight, [taps, channels].
template <class T>
tensor convolution(tape<T>& on, tensor x, std::size_t weight, index time) {
  auto const each_tap = [time](matrix<T> const& of, index taps, auto const& visit) {
    for (index b = 0; b < of.rows() / time; ++b)
      for (index j = 0; j < std::min(taps, time); ++j)
        visit(j, b * time + j, b * time, time - j);  // rows of y, rows of x, how many
  };
  matrix<T> y = matrix<T>::Zero(on[x].rows(), on[x].cols());
  matrix<T> const& w = on.weight(weight);
  each_tap(y, w.rows(), [&](index j, index to, index from, index count) {
    y.middleRows(to, count) += on[x].middleRows(from, count) * w.row(j).asDiagonal();
  });
  return on.record(std::move(y), [x, weight, each_tap](tape<T>& back, tensor result) {
    matrix<T> const &dy = back.gradient(result), &taps = back.weight(weight);
    matrix<T> dx = matrix<T>::Zero(dy.rows(), dy.cols());
    each_tap(dy, taps.rows(), [&](index j, index to, index from, index count) {
      auto const part = dy.middleRows(to, count);
      dx.middleRows(from, count) += part * taps.row(j).asDiagonal();
      back.weight_gradient(weight).row(j) +=
          part.cwiseProduct(back[x].middleRows(from, count)).colwise().sum();
    });
    back.give(x, std::move(dx));
  });
}

// Row tokens[n] of the table for token n. With positions, also row n mod time of theirs.
template <class T>
tensor embedding(tape<T>& on, std::vector<int> const& tokens, std::size_t table,
                 std::size_t const* positions, index time) {
  matrix<T> x = on.weight(table)(tokens, Eigen::all);
  for (index n = 0; positions && n < x.rows(); ++n) x.row(n) += on.weight(*positions).row(n % time);
  std::size_t const of_positions = positions ? *positions : table;
  return on.record(
      std::move(x), [&tokens, table, of_positions, time](tape<T>& back, tensor result) {
        matrix<T> const& dy = back.gradient(result);
        for (index n = 0; n < dy.rows(); ++n) {
          back.weight_gradient(table).row(tokens[static_cast<std::size_t>(n)]) += dy.row(n);
          if (of_positions != table) back.weight_gradient(of_positions).row(n % time) += dy.row(n);
        }
      });
}

// The rows whose answer is not -1.
template <class T>
tensor asked_rows(tape<T>& on, tensor x, std::vector<int> const& answers) {
  std::vector<index> rows;
  for (index n = 0; n < std::ssize(answers); ++n)
    if (answers[static_cast<std::size_t>(n)] >= 0) rows.push_back(n);
  return on.record(on[x](rows, Eigen::all), [x, rows](tape<T>& back, tensor result) {
    matrix<T> dx = matrix<T>::Zero(back[x].rows(), back[x].cols());
    dx(rows, Eigen::all) = back.gradient(result);
    back.give(x, std::move(dx));
  });
}

// Logits x E^T, their cross-entropy, and how often the largest is the answer. The loss is a sum
// over rows. Each row counts `weight` times in the gradients, which start here.
template <class T>
score answer(tape<T>& on, tensor x, std::size_t table, std::vector<int> const& answers, T weight) {
  matrix<T> z(on[x].rows(), on.weight(table).rows());
  z.noalias() = on[x] * on.weight(table).transpose();
  score found;
  index n = 0;
  for (int const right : answers) {
    if (right < 0) continue;
    index best = 0;
    T const greatest = z.row(n).maxCoeff(&best);
    z.row(n) = (z.row(n).array() - greatest).exp();
    z.row(n) /= z.row(n).sum();
    found.loss -= std::log(std::max(static_cast<double>(z(n, right)), 1e-300));
    found.right += best == right, found.asked += 1;
    z(n++, right) -= 1;
  }
  if (on.learns()) {
    z *= weight;
    on.weight_gradient(table).noalias() += z.transpose() * on[x];
    on.give(x, z * on.weight(table));
  }
  return found;
}

}  // namespace wane::recall
