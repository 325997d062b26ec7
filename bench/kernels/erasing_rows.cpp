// The rows of RWKV-6 and of memories that erase with keys or gates of their own: H:16, D:64.
// SPDX-License-Identifier: MIT
#include <vector>

#include "kernels/keyed_contest.hpp"
#include "wane/operators/comba.hpp"
#include "wane/operators/gated_delta_net2.hpp"
#include "wane/operators/rwkv6.hpp"

namespace wane::bench {
namespace {

// One token: S' = diag(w) S + key (value - S^T read)^T, y = S'^T query, or S^T query.
template <class T>
struct erasing_token {
  using vector = keyed_vector<T>;
  keyed_inputs_of<vector> in;
  vector w, key, value, read;  // read: empty where nothing is erased

  void load(keyed_arrays const& p, index at) {
    for_each_input(
        [&](keyed_tensor const& from, vector& to) { to = from.at(at).template cast<T>(); }, p.in,
        in);
    w = in.log_decay.array().exp();
    if (w.size() == 1) w = vector::Constant(p.rows, w[0]);
    key = in.key, value = in.value, read = {};
  }
  vector written(keyed_matrix<T> const& s) const {
    return read.size() > 0 ? vector(value - s.transpose() * read) : value;
  }
  void advance(keyed_matrix<T>& s) const {
    vector const v = written(s);
    s = w.asDiagonal() * s;
    s.noalias() += key * v.transpose();
  }
};

// Each kind makes its terms from its inputs, and the gradients of its inputs from those of terms.
struct rwkv6_kind {
  static constexpr bool reads_old = true;
  template <class T>
  static void make(erasing_token<T>&) {}
  template <class V>
  static void give(auto const& x, keyed_inputs_of<V>& d, V const&, V const& of_w) {
    d.log_decay = x.w.cwiseProduct(of_w);
  }
};
struct comba_kind {
  static constexpr bool reads_old = false;
  template <class T>
  static void make(erasing_token<T>& x) {
    x.key *= x.in.strength[0], x.read = x.in.removal;
  }
  template <class V>
  static void give(auto const& x, keyed_inputs_of<V>& d, V const& of_read, V const& of_w) {
    d.strength = V::Constant(1, x.in.key.dot(d.key));
    d.key *= x.in.strength[0], d.removal = of_read;
    d.log_decay = V::Constant(1, x.w.dot(of_w));
  }
};
struct gated_delta_net2_kind {
  static constexpr bool reads_old = false;
  template <class T>
  static void make(erasing_token<T>& x) {
    x.value = x.value.cwiseProduct(x.in.beta);
    x.read = x.w.cwiseProduct(x.in.rate).cwiseProduct(x.key);
  }
  template <class V>
  static void give(auto const& x, keyed_inputs_of<V>& d, V const& of_read, V const& of_w) {
    V const read = x.w.cwiseProduct(of_read);
    d.rate = x.in.key.cwiseProduct(read);
    d.key += x.in.rate.cwiseProduct(read);
    d.log_decay = x.w.cwiseProduct(of_w) + x.read.cwiseProduct(of_read);
    d.beta = x.in.value.cwiseProduct(d.value);
    d.value = x.in.beta.cwiseProduct(d.value);
  }
};

template <class Kind>
struct erasing_loops {
  template <class T, class Give>
  static void forward(keyed_arrays const& p, index head, keyed_matrix<T>& s, Give const& give) {
    erasing_token<T> x;
    keyed_vector<T> y;
    for (index t = 0; t < p.tokens; ++t) {
      index const at = t * p.heads + head;
      x.load(p, at), Kind::make(x);
      if (Kind::reads_old) y.noalias() = s.transpose() * x.in.query;
      x.advance(s);
      if (!Kind::reads_old) y.noalias() = s.transpose() * x.in.query;
      give(at, y);
    }
  }

  // The states before all tokens are kept.
  template <class T, class Give>
  static void backward(keyed_arrays const& p, index head, std::vector<keyed_matrix<T>>& kept,
                       Give const& give) {
    using vector = keyed_vector<T>;
    keyed_matrix<T> g = keyed_matrix<T>::Zero(p.rows, p.columns);
    kept.resize(static_cast<std::size_t>(p.tokens) + 1, g);
    erasing_token<T> x;
    for (std::size_t t = 0; t + 1 < kept.size(); ++t) {
      x.load(p, static_cast<index>(t) * p.heads + head), Kind::make(x);
      kept[t + 1] = kept[t];
      x.advance(kept[t + 1]);
    }
    keyed_inputs_of<vector> d;
    for (std::size_t t = kept.size() - 1; t-- > 0;) {
      index const at = static_cast<index>(t) * p.heads + head;
      x.load(p, at), Kind::make(x);
      vector const dy = p.output_gradient.at(at).template cast<T>();
      if (!Kind::reads_old) g.noalias() += x.in.query * dy.transpose();
      d.query.noalias() = kept[Kind::reads_old ? t : t + 1] * dy;
      d.key.noalias() = g * x.written(kept[t]);
      d.value.noalias() = g.transpose() * x.key;
      vector const of_w = kept[t].cwiseProduct(g).rowwise().sum();
      vector const of_found = -d.value;
      vector const of_read = x.read.size() > 0 ? vector(kept[t] * of_found) : vector();
      g = x.w.asDiagonal() * g;
      if (x.read.size() > 0) g.noalias() += x.read * of_found.transpose();
      if (Kind::reads_old) g.noalias() += x.in.query * dy.transpose();
      Kind::give(x, d, of_read, of_w);
      give(at, d);
    }
  }
};

template <class Kind>
void add_rows(keyed_row row, auto const& make) {
  using loops = erasing_loops<Kind>;
  for (index const tokens : {512, 4096}) {
    row.tokens = tokens;
    add_keyed_row<pass::forward, loops>(row, make);
  }
  row.tokens = 1, add_keyed_row<pass::step, loops>(row, make);
  row.tokens = 512, add_keyed_row<pass::backward, loops>(row, make);
}

}  // namespace

void add_erasing_rows() {
  keyed_options const plain{.scale = 1};
  drawn const of_row{drawn::row, -0.1, -0.001}, of_head{drawn::number, -0.1, -0.001};
  drawn const strength{drawn::number, 0.1, 0.9}, gate{drawn::row, 0.1, 0.9};
  using problem = keyed_problem const&;
  add_rows<rwkv6_kind>({"rwkv6", 4.5, {.log_decay = of_row}}, [=](problem x) {
    auto const in = x.inputs();
    return rwkv6({.query = in.query, .key = in.key, .value = in.value}, x.rows(x.p.in.log_decay),
                 plain);
  });
  add_rows<comba_kind>(
      {"comba", 6.5, {.log_decay = of_head, .strength = strength, .removal = {drawn::unit_row}}},
      [=](problem x) {
        auto const in = x.inputs();
        return comba({.query = in.query,
                      .key = in.key,
                      .value = in.value,
                      .removal = x.rows(x.p.in.removal),
                      .strength = x.whole(x.p.in.strength)},
                     x.whole(x.p.in.log_decay), {.keys = plain});
      });
  add_rows<gated_delta_net2_kind>(
      {"gated_delta_net2", 6.5, {.log_decay = of_row, .rate = gate, .beta = gate}}, [=](problem x) {
        auto const in = x.inputs();
        return gated_delta_net2({.query = in.query,
                                 .key = in.key,
                                 .value = in.value,
                                 .erase_gate = x.rows(x.p.in.rate),
                                 .write_gate = x.rows(x.p.in.beta)},
                                x.rows(x.p.in.log_decay), plain);
      });
}

}  // namespace wane::bench
