// The rows of vla, H:16 heads with a memory and a penalty of D x D numbers each, lambda 0.1.
// SPDX-License-Identifier: MIT
#include <vector>

#include "kernels/keyed_contest.hpp"
#include "wane/operators/vla.hpp"
#include "wane/run/adjoint.hpp"

namespace wane::bench {
namespace {

constexpr double lambda = 0.1;

// The paper's loop: A = M^-1 a token at a time by Sherman and Morrison, the rule rls.
struct vla_loops {
  template <class T, class Give>
  static void forward(keyed_arrays const& p, index head, keyed_matrix<T>& s, Give const& give) {
    keyed_matrix<T> a = first<T>(p);
    keyed_vector<T> alpha, error, y;
    for (index t = 0; t < p.tokens; ++t) {
      token<T> const x(p, t, head);
      take(x, a, alpha);
      error.noalias() = x.value - s.transpose() * x.key;
      s.noalias() += alpha * error.transpose();
      y.noalias() = s.transpose() * x.query;
      give(x.at, y);
    }
  }

  // Along time A after and S before every token, kept; back with the transposed equations.
  template <class T, class Give>
  static void backward(keyed_arrays const& p, index head, std::vector<keyed_matrix<T>>& kept,
                       Give const& give) {
    keyed_matrix<T> a = first<T>(p), s = keyed_matrix<T>::Zero(p.rows, p.columns);
    keyed_vector<T> alpha, error, dy, of_error, of_alpha, asked;
    kept.resize(static_cast<std::size_t>(2 * p.tokens));
    for (index t = 0; t < p.tokens; ++t) {
      token<T> const x(p, t, head);
      take(x, a, alpha);
      kept[static_cast<std::size_t>(2 * t)] = a, kept[static_cast<std::size_t>(2 * t + 1)] = s;
      error.noalias() = x.value - s.transpose() * x.key;
      s.noalias() += alpha * error.transpose();
    }
    keyed_matrix<T> of_s = keyed_matrix<T>::Zero(p.rows, p.columns),
                    of_m = keyed_matrix<T>::Zero(p.rows, p.rows);
    keyed_inputs_of<keyed_vector<T>> d;
    for (index t = p.tokens; t-- > 0;) {
      token<T> const x(p, t, head);
      auto const &after = kept[static_cast<std::size_t>(2 * t)],
                 &before = kept[static_cast<std::size_t>(2 * t + 1)];
      dy = p.output_gradient.at(x.at).template cast<T>();
      alpha.noalias() = after * x.key;
      error.noalias() = x.value - before.transpose() * x.key;
      d.query.noalias() = before * dy;
      d.query += error.dot(dy) * alpha;
      of_s.noalias() += x.query * dy.transpose();
      of_error.noalias() = of_s.transpose() * alpha;
      of_alpha.noalias() = of_s * error;
      of_s.noalias() -= x.key * of_error.transpose();
      asked.noalias() = after * of_alpha;
      of_m.noalias() -= asked * alpha.transpose() + alpha * asked.transpose();
      d.value = of_error;
      d.key.noalias() = of_m * x.key + asked - before * of_error;
      give(x.at, d);
    }
  }

 private:
  template <class T>
  struct token {
    index at;
    keyed_vector<T> query, key, value;

    token(keyed_arrays const& p, index t, index head)
        : at(t * p.heads + head),
          query(p.in.query.at(at).template cast<T>()),
          key(p.in.key.at(at).template cast<T>()),
          value(p.in.value.at(at).template cast<T>()) {}
  };
  template <class T>
  static keyed_matrix<T> first(keyed_arrays const& p) {
    return keyed_matrix<T>::Identity(p.rows, p.rows) / T(lambda);
  }
  // A and alpha after a token.
  template <class T>
  static void take(token<T> const& x, keyed_matrix<T>& a, keyed_vector<T>& alpha) {
    alpha.noalias() = a * x.key;
    T const delta = 1 + x.key.dot(alpha);
    alpha /= std::sqrt(delta);
    a.noalias() -= alpha * alpha.transpose();
    alpha /= std::sqrt(delta);
  }
};

}  // namespace

void add_vla_rows() {
  keyed_row row("vla", 12, {});
  auto const make = [](keyed_problem const& x) {
    auto const in = x.inputs();
    return vla<float>({.query = in.query, .key = in.key, .value = in.value},
                      {.lambda = lambda, .normalise = false});
  };
  for (index const size : {64, 128}) {
    row.rows = row.columns = size;
    row.threads = 1;
    row.tokens = 512;
    add_keyed_row<pass::forward, vla_loops>(row, make);
    add_keyed_row<pass::backward, vla_loops>(row, make);
    row.tokens = 4096;
    add_keyed_row<pass::forward, vla_loops>(row, make);
    row.tokens = 16384;
    add_keyed_row<pass::forward, vla_loops>(row, make);
    row.threads = 2;
    add_keyed_row<pass::forward, vla_loops>(row, make);
  }
}

}  // namespace wane::bench
