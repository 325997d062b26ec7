// The rows of memories whose gates decide more than decays: H:16 heads of D:64.
// SPDX-License-Identifier: MIT
#include <vector>

#include "kernels/keyed_contest.hpp"
#include "wane/operators/hgrn2.hpp"
#include "wane/operators/lightning_attention.hpp"

namespace wane::bench {
namespace {

// S <- f S + (1 - f) v^T, y = S^T q, f = e^g for each row.
struct hgrn2_loops {
  template <class T, class Give>
  static void forward(keyed_arrays const& p, index head, keyed_matrix<T>& s, Give const& give) {
    keyed_vector<T> q, f, k, v, y;
    for (index t = 0; t < p.tokens; ++t) {
      index const at = t * p.heads + head;
      read(p, at, q, f, k, v);
      advance(s, f, k, v);
      y.noalias() = s.transpose() * q;
      give(at, y);
    }
  }

  // The states before all tokens are kept.
  template <class T, class Give>
  static void backward(keyed_arrays const& p, index head, std::vector<keyed_matrix<T>>& kept,
                       Give const& give) {
    keyed_matrix<T> g = keyed_matrix<T>::Zero(p.rows, p.columns);
    kept.resize(static_cast<std::size_t>(p.tokens) + 1, g);
    keyed_vector<T> q, f, k, v;
    for (std::size_t t = 0; t + 1 < kept.size(); ++t) {
      read(p, static_cast<index>(t) * p.heads + head, q, f, k, v);
      kept[t + 1] = kept[t];
      advance(kept[t + 1], f, k, v);
    }
    keyed_inputs_of<keyed_vector<T>> d;
    for (std::size_t t = kept.size() - 1; t-- > 0;) {
      index const at = static_cast<index>(t) * p.heads + head;
      read(p, at, q, f, k, v);
      keyed_vector<T> const dy = p.output_gradient.at(at).template cast<T>();
      g.noalias() += q * dy.transpose();
      d.query.noalias() = kept[t + 1] * dy;
      d.value.noalias() = g.transpose() * k;
      d.log_decay = kept[t].cwiseProduct(g).rowwise().sum() - g * v;
      d.log_decay = f.cwiseProduct(d.log_decay);
      g = f.asDiagonal() * g;
      give(at, d);
    }
  }

 private:
  template <class T>
  static void read(keyed_arrays const& p, index at, keyed_vector<T>& q, keyed_vector<T>& f,
                   keyed_vector<T>& k, keyed_vector<T>& v) {
    q = p.in.query.at(at).template cast<T>();
    v = p.in.value.at(at).template cast<T>();
    f = p.in.log_decay.at(at).template cast<T>();
    k = -f.array().expm1();
    f = f.array().exp();
  }
  template <class T>
  static void advance(keyed_matrix<T>& s, keyed_vector<T> const& f, keyed_vector<T> const& k,
                      keyed_vector<T> const& v) {
    s = f.asDiagonal() * s;
    s.noalias() += k * v.transpose();
  }
};

template <pass What>
void add_rows_of_hgrn2(index tokens) {
  keyed_row row("hgrn2", 4.5, {.log_decay = {drawn::row, -0.1, -0.001}});
  row.in.key = {}, row.tokens = tokens;
  add_keyed_row<What, hgrn2_loops>(row, [](keyed_problem const& x) {
    return hgrn2({.query = x.rows(x.p.in.query), .value = x.rows(x.p.in.value)},
                 x.rows(x.p.in.log_decay), {.scale = 1});
  });
}

template <pass What>
void add_row_of_lightning() {
  lightning_layer const layer{.layer = 23, .layers = 24};
  keyed_row row(
      "lightning_attention", 4.5,
      {.log_decay = {.each = drawn::number, .low = 0, .high = -8. / 24, .by_head = true}});
  row.tokens = What == pass::step ? 1 : 512;
  add_keyed_row<What>(row, [=](keyed_problem const& x) {
    return lightning_attention<float>(x.inputs(), layer, {.scale = 1});
  });
}

}  // namespace

void add_gated_rows() {
  for (index const tokens : {512, 4096}) add_rows_of_hgrn2<pass::forward>(tokens);
  add_rows_of_hgrn2<pass::step>(1), add_rows_of_hgrn2<pass::backward>(512);
  add_row_of_lightning<pass::forward>(), add_row_of_lightning<pass::step>();
  add_row_of_lightning<pass::backward>();
}

}  // namespace wane::bench
