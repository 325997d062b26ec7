// The rows of longhorn: H:16 heads of P:64 channels with N:16 states, which share their keys.
// SPDX-License-Identifier: MIT
#include <vector>

#include "kernels/keyed_contest.hpp"
#include "wane/operators/longhorn.hpp"

namespace wane::bench {
namespace {

// S <- (1 - (k o k) e^T) o S + k (e o x)^T, y = S^T q, e = beta / (1 + beta |k|^2).
struct longhorn_loops {
  template <class T>
  struct token {
    keyed_vector<T> query, key, value, beta, step, square, written;

    token(keyed_arrays const& p, index at)
        : query(p.in.query.at(at).template cast<T>()),
          key(p.in.key.at(at).template cast<T>()),
          value(p.in.value.at(at).template cast<T>()),
          beta(p.in.beta.at(at).template cast<T>()),
          step(beta.array() / (1 + beta.array() * key.squaredNorm())),
          square(key.cwiseAbs2()),
          written(step.cwiseProduct(value)) {}

    void fade(keyed_matrix<T>& s) const { s.array() *= 1 - (square * step.transpose()).array(); }
    void advance(keyed_matrix<T>& s) const {
      fade(s);
      s.noalias() += key * written.transpose();
    }
  };

  template <class T, class Give>
  static void forward(keyed_arrays const& p, index head, keyed_matrix<T>& s, Give const& give) {
    keyed_vector<T> y;
    for (index t = 0; t < p.tokens; ++t) {
      token<T> const x(p, t * p.heads + head);
      x.advance(s);
      y.noalias() = s.transpose() * x.query;
      give(t * p.heads + head, y);
    }
  }

  // The states before all tokens are kept.
  template <class T, class Give>
  static void backward(keyed_arrays const& p, index head, std::vector<keyed_matrix<T>>& kept,
                       Give const& give) {
    keyed_matrix<T> g = keyed_matrix<T>::Zero(p.rows, p.columns), of_part;
    kept.resize(static_cast<std::size_t>(p.tokens) + 1, g);
    for (std::size_t t = 0; t + 1 < kept.size(); ++t) {
      kept[t + 1] = kept[t];
      token<T>(p, static_cast<index>(t) * p.heads + head).advance(kept[t + 1]);
    }
    keyed_inputs_of<keyed_vector<T>> d;
    for (std::size_t t = kept.size() - 1; t-- > 0;) {
      index const at = static_cast<index>(t) * p.heads + head;
      token<T> const x(p, at);
      keyed_vector<T> const dy = p.output_gradient.at(at).template cast<T>();
      g.noalias() += x.query * dy.transpose();
      d.query.noalias() = kept[t + 1] * dy;
      keyed_vector<T> const of_written = g.transpose() * x.key;
      of_part = -kept[t].cwiseProduct(g);
      keyed_vector<T> const of_step =
          x.value.cwiseProduct(of_written) + of_part.transpose() * x.square;
      T const of_length = -of_step.dot(x.step.cwiseAbs2());
      d.value = x.step.cwiseProduct(of_written);
      d.key = g * x.written;
      d.key +=
          2 * x.key.cwiseProduct(of_part * x.step + keyed_vector<T>::Constant(p.rows, of_length));
      d.beta = of_step.array() / (1 + x.beta.array() * x.key.squaredNorm()).square();
      x.fade(g);
      give(at, d);
    }
  }
};

template <pass What>
void add(index tokens) {
  drawn const shared{.each = drawn::row, .for_all_heads = true};
  keyed_row row("longhorn", 4.5, {.query = shared, .key = shared, .beta = {drawn::row, 0.01, 0.5}});
  row.rows = 16, row.tokens = tokens;
  add_keyed_row<What, longhorn_loops>(row, [](keyed_problem const& x) {
    return longhorn<float>({.query = x.rows(x.p.in.query),
                            .key = x.rows(x.p.in.key),
                            .value = x.rows(x.p.in.value),
                            .beta = x.rows(x.p.in.beta)});
  });
}

}  // namespace

void add_longhorn_rows() {
  add<pass::forward>(512), add<pass::forward>(4096);
  add<pass::step>(1), add<pass::backward>(512);
}

}  // namespace wane::bench
