// The keyed matrix memories as others write them: a loop over tokens in Eigen, the state a matrix.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "kernels/eigen.hpp"
#include "kernels/linear_recurrence_loops.hpp"

namespace wane::bench {

// The inputs of a keyed memory, or their gradients. An absent input is empty.
template <class Each>
struct keyed_inputs_of {
  Each query{}, key{}, value{};
  Each log_decay{}, strength{};  // for each row, or for the head
  Each removal{}, rate{};        // of RWKV-7
  Each time_step{};              // of Mamba-2; its log_decay is per unit of time
  Each factor{};                 // VLA's DeltaNet: a plain decay
  Each beta{};                   // of Longhorn, for each column
};

// visit(the same member of each).
void for_each_input(auto const& visit, auto&... of) {
  visit(of.query...), visit(of.key...), visit(of.value...);
  visit(of.log_decay...), visit(of.strength...);
  visit(of.removal...), visit(of.rate...);
  visit(of.time_step...), visit(of.factor...), visit(of.beta...);
}

template <class T>
using keyed_vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using keyed_matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// [T, H, width], or [T, 1, width] that all H heads share; without gaps. With sums, [H, width]: the
// gradient of a parameter of `sums` heads, summed over tokens.
struct keyed_tensor {
  float* data = nullptr;
  index width = 0, shared_by = 1, sums = 0;

  Eigen::Map<keyed_vector<float>> at(index token_and_head) const {
    index const place = sums > 0 ? token_and_head % sums : token_and_head / shared_by;
    return {data + place * width, width};
  }
};

struct keyed_arrays {
  index tokens, heads, rows, columns;
  keyed_inputs_of<keyed_tensor> in, gradients;
  keyed_tensor output, output_gradient;
};

// One token of one head, in T.
template <class T>
class keyed_token {
 public:
  using vector = keyed_vector<T>;
  using matrix = keyed_matrix<T>;

  void load(keyed_arrays const& p, index token_and_head) {
    for_each_input([&](keyed_tensor const& from,
                       vector& to) { to = from.at(token_and_head).template cast<T>(); },
                   p.in, x_);
  }
  vector const& query() const { return x_.query; }

  // With P = diag(w) S: the delta rule P + beta k (v - P^T k)^T, VLA's P + k (v - S^T k)^T,
  // otherwise P + k v^T, in RWKV-7 less (a o c) (S^T c)^T, in Mamba-2 with Delta k.
  void advance(matrix& s) {
    find_terms(s);
    if (w_.size() == 1)
      s *= w_[0];
    else if (w_.size() > 1)
      s = w_.asDiagonal() * s;
    s.noalias() += key_ * written_.transpose();
    if (removes()) s.noalias() -= erase_ * read_.transpose();
  }

  // From dL/dS after the token, g, to that before it, and to the gradients of the token. Not for
  // VLA's DeltaNet, which has no row backward.
  void retreat(matrix const& before, matrix& g, keyed_inputs_of<vector>& d) {
    find_terms(before);
    vector const of_key = g * written_;
    d.value.noalias() = g.transpose() * key_;
    d.key = of_key;
    vector of_decay(w_.size() == 0 ? 0 : before.rows()), of_read;
    if (w_.size() > 0) of_decay = w_or_ones().cwiseProduct(before.cwiseProduct(g).rowwise().sum());
    if (corrects()) {
      of_read = -d.value;
      vector const of_reader = before * of_read;
      d.strength = vector::Constant(1, x_.key.dot(of_key));
      d.key = x_.strength[0] * of_key + w_or_ones().cwiseProduct(of_reader);
      if (w_.size() > 0) of_decay += reader_.cwiseProduct(of_reader);
    }
    if (removes()) {
      of_read = -g.transpose() * erase_;
      vector const of_erase = -g * read_;
      d.rate = x_.removal.cwiseProduct(of_erase);
      d.removal = before * of_read + x_.rate.cwiseProduct(of_erase);
    }
    if (w_.size() == 1)
      d.log_decay = vector::Constant(1, of_decay.sum());
    else
      d.log_decay = of_decay;
    if (steps()) {
      T const of_delta = x_.key.dot(of_key) + x_.log_decay.dot(d.log_decay);
      d.time_step = vector::Constant(1, -std::expm1(-delta_) * of_delta);
      d.key *= delta_, d.log_decay *= delta_;
    }
    if (w_.size() == 1)
      g *= w_[0];
    else if (w_.size() > 1)
      g = w_.asDiagonal() * g;
    if (of_read.size() > 0) g.noalias() += reader_ * of_read.transpose();
  }

 private:
  bool corrects() const { return x_.strength.size() > 0; }
  bool removes() const { return x_.removal.size() > 0; }
  bool steps() const { return x_.time_step.size() > 0; }
  vector w_or_ones() const {
    return w_.size() > 1 ? w_ : vector::Constant(x_.key.size(), w_.size() == 1 ? w_[0] : T(1));
  }
  void find_terms(matrix const& s) {
    key_ = x_.key, written_ = x_.value;
    if (x_.factor.size() > 0) {
      w_ = x_.factor;
      written_.noalias() -= s.transpose() * x_.key;
    } else if (steps()) {
      delta_ = std::log1p(std::exp(x_.time_step[0]));
      w_ = (delta_ * x_.log_decay).array().exp();
      key_ *= delta_;
    } else {
      w_ = x_.log_decay.array().exp();
    }
    if (removes()) {
      reader_ = x_.removal;
      erase_ = x_.rate.cwiseProduct(x_.removal);
      read_.noalias() = s.transpose() * reader_;
    }
    if (corrects()) {
      reader_ = w_or_ones().cwiseProduct(x_.key);
      read_.noalias() = s.transpose() * reader_;
      key_ *= x_.strength[0];
      written_ -= read_;
    }
  }

  keyed_inputs_of<vector> x_;
  vector w_, key_, written_, reader_, erase_, read_;
  T delta_ = 0;
};

struct keyed_loops {
  // give(token_and_head, y) for each token of a head.
  template <class T, class Give>
  static void forward(keyed_arrays const& p, index head, keyed_matrix<T>& s, Give const& give) {
    keyed_token<T> x;
    keyed_vector<T> y;
    for (index t = 0; t < p.tokens; ++t) {
      index const at = t * p.heads + head;
      x.load(p, at);
      x.advance(s);
      y.noalias() = s.transpose() * x.query();
      give(at, y);
    }
  }

  // give(token_and_head, gradients) for each token of a head, which starts from zero; the states of
  // all tokens are kept.
  template <class T, class Give>
  static void backward(keyed_arrays const& p, index head, std::vector<keyed_matrix<T>>& kept,
                       Give const& give) {
    keyed_matrix<T> g = keyed_matrix<T>::Zero(p.rows, p.columns);
    kept.resize(static_cast<std::size_t>(p.tokens) + 1, g);
    keyed_token<T> x;
    for (std::size_t t = 0; t + 1 < kept.size(); ++t) {
      x.load(p, static_cast<index>(t) * p.heads + head);
      kept[t + 1] = kept[t];
      x.advance(kept[t + 1]);
    }
    keyed_inputs_of<keyed_vector<T>> d;
    for (std::size_t t = kept.size() - 1; t-- > 0;) {
      index const at = static_cast<index>(t) * p.heads + head;
      x.load(p, at);
      keyed_vector<T> const dy = p.output_gradient.at(at).template cast<T>();
      g.noalias() += x.query() * dy.transpose();
      d.query.noalias() = kept[t + 1] * dy;
      x.retreat(kept[t], g, d);
      give(at, d);
    }
  }
};

}  // namespace wane::bench
