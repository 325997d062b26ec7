// Softmax attention under a power law: what VORT's retrieval stands for.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "recall/memories/memory.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"

namespace wane::recall {

// y_t = sum_{i <= t} a_ti w_{t-i} v_i, where a_t is the softmax of q_t . k_i / sqrt(K) over i <= t
// and w the exact Gruenwald-Letnikov weights of order 0.7 (VORT, eq. 13, with the present token).
// No feature map and no sum of exponentials, and so no state: all pairs of tokens are visited.
template <class T>
class power_law_attention : public memory<T> {
 public:
  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    matrix<T> const kept = newest_last(s.time);
    auto const decayed = [=](matrix<T> a) {
      for (index t = 0; t < s.time; ++t)
        a.row(t).head(t + 1).array() *= kept.row(0).tail(t + 1).array();
      return a;
    };
    auto const weights = [=](tape<T> const& of, index b, index h) {
      matrix<T> a = of_head(of[in.query], s, b, h) * of_head(of[in.key], s, b, h).transpose();
      a /= std::sqrt(T(s.size));
      for (index t = 0; t < s.time; ++t) {
        auto row = a.row(t).head(t + 1);
        row = (row.array() - row.maxCoeff()).exp();
        row /= row.sum();
        a.row(t).tail(s.time - 1 - t).setZero();
      }
      return a;
    };
    matrix<T> y(s.batch * s.time, s.width());
    for_each_head(s, [&](index b, index h) {
      of_head(y, s, b, h) = decayed(weights(on, b, h)) * of_head(on[in.value], s, b, h);
    });
    on.note_state(s.batch * s.time * 2 * s.width() * index(sizeof(T)));
    return on.record(std::move(y), [=](tape<T>& back, tensor result) {
      matrix<T> to[3];
      for (matrix<T>& g : to) g.setZero(back[result].rows(), back[result].cols());
      for_each_head(s, [&](index b, index h) {
        matrix<T> const a = weights(back, b, h);
        auto const dy = of_head(back.gradient(result), s, b, h);
        of_head(to[2], s, b, h) = decayed(a).transpose() * dy;
        matrix<T> da = decayed(dy * of_head(back[in.value], s, b, h).transpose());
        auto const along = da.cwiseProduct(a).rowwise().sum().eval();
        da = a.cwiseProduct(da.colwise() - along) / std::sqrt(T(s.size));
        of_head(to[0], s, b, h) = da * of_head(back[in.key], s, b, h);
        of_head(to[1], s, b, h) = da.transpose() * of_head(back[in.query], s, b, h);
      });
      back.give(in.query, std::move(to[0])), back.give(in.key, std::move(to[1]));
      back.give(in.value, std::move(to[2]));
    });
  }

 private:
  static void for_each_head(token_shape const& s, auto const& visit) {
    for (index b = 0; b < s.batch; ++b)
      for (index h = 0; h < s.heads; ++h) visit(b, h);
  }
  static auto of_head(auto& x, token_shape const& s, index b, index h) {
    return x.block(b * s.time, h * s.size, s.time, s.size);
  }
  // w_{time-1}, ..., w_1, w_0
  static matrix<T> newest_last(index time) {
    spectra::gruenwald_letnikov const w(0.7);
    return matrix<T>::NullaryExpr(1, time, [&](index n) { return T(w(time - 1 - n)); });
  }
};

}  // namespace wane::recall
