// The rows of VLA's rivals, linear_attention and vla_delta_net: H:16 heads of D:64.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "kernels/keyed_contest.hpp"
#include "wane/operators/linear_attention.hpp"
#include "wane/operators/vla_delta_net.hpp"

namespace wane::bench {
namespace {

constexpr double least = 1e-10;  // of denominators

// The sums S of k v^T and z of k; y = S^T q / (q . z).
struct linear_attention_loops {
  template <class T, class Give>
  static void forward(keyed_arrays const& p, index head, keyed_matrix<T>& s, Give const& give) {
    keyed_vector<T> z = keyed_vector<T>::Zero(p.rows), q, k, v, y;
    for (index t = 0; t < p.tokens; ++t) {
      index const at = t * p.heads + head;
      read(p, at, q, k, v);
      s.noalias() += k * v.transpose();
      z += k;
      y.noalias() = s.transpose() * q;
      y /= std::max(q.dot(z), T(least));
      give(at, y);
    }
  }

  // Along time the gradients of queries, numerators and denominators, kept; back the others.
  template <class T, class Give>
  static void backward(keyed_arrays const& p, index head, std::vector<keyed_matrix<T>>& kept,
                       Give const& give) {
    keyed_matrix<T> s = keyed_matrix<T>::Zero(p.rows, p.columns);
    keyed_vector<T> z = keyed_vector<T>::Zero(p.rows), q, k, v, y, dy;
    kept.resize(3);
    kept[0].resize(p.tokens, p.rows), kept[1].resize(p.tokens, p.columns);
    kept[2].resize(p.tokens, 1);
    for (index t = 0; t < p.tokens; ++t) {
      index const at = t * p.heads + head;
      read(p, at, q, k, v);
      dy = p.output_gradient.at(at).template cast<T>();
      s.noalias() += k * v.transpose();
      z += k;
      y.noalias() = s.transpose() * q;
      T const denominator = std::max(q.dot(z), T(least));
      dy /= denominator;
      T const of_denominator = -dy.dot(y) / denominator;
      kept[0].row(t).transpose().noalias() = s * dy + of_denominator * z;
      kept[1].row(t) = dy.transpose();
      kept[2](t, 0) = of_denominator;
    }
    s.setZero(), z.setZero();  // now their gradients
    keyed_inputs_of<keyed_vector<T>> d;
    for (index t = p.tokens; t-- > 0;) {
      index const at = t * p.heads + head;
      read(p, at, q, k, v);
      s.noalias() += q * kept[1].row(t);
      z += kept[2](t, 0) * q;
      d.query = kept[0].row(t).transpose();
      d.key.noalias() = s * v + z;
      d.value.noalias() = s.transpose() * k;
      give(at, d);
    }
  }

 private:
  template <class T>
  static void read(keyed_arrays const& p, index at, keyed_vector<T>& q, keyed_vector<T>& k,
                   keyed_vector<T>& v) {
    q = p.in.query.at(at).template cast<T>();
    k = p.in.key.at(at).template cast<T>();
    v = p.in.value.at(at).template cast<T>();
  }
};

}  // namespace

void add_linear_attention_rows() {
  keyed_options const plain{.scale = 1};
  using problem = keyed_problem const&;
  drawn const features{drawn::unit_row, 0, 1};
  keyed_row row("linear_attention", 4, {.query = features, .key = features});
  auto const make = [=](problem x) {
    return linear_attention<float>(x.inputs(), {.keys = plain, .floor = least});
  };
  row.tokens = 512;
  add_keyed_row<pass::forward, linear_attention_loops>(row, make);
  add_keyed_row<pass::backward, linear_attention_loops>(row, make);
  row.tokens = 4096;
  add_keyed_row<pass::forward, linear_attention_loops>(row, make);

  keyed_row delta("vla_delta_net", 6, {.factor = {drawn::number, 0.9, 0.999}});
  delta.tokens = 512;
  add_keyed_row<pass::forward>(delta, [=](problem x) {
    auto const in = x.inputs();
    return vla_delta_net<float>(
        {.query = in.query, .key = in.key, .value = in.value, .decay = x.whole(x.p.in.factor)},
        plain);
  });
}

}  // namespace wane::bench
