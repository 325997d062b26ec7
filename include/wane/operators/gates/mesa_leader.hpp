// mesa_leader: the recurrence of MesaNet's H, whose outputs solve (H + diag(lambda)) x = q.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/numbers/unroll.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/operators/gates/mesa_memory.hpp"

namespace wane::impl {

// States [N, H, K, K] whose upper triangles count: as they are, with mirror images or zeros below.
enum class below_diagonal { mirror, zero };
template <class T>
class upper_triangles {
 public:
  upper_triangles(view<T const, 4> const& h, below_diagonal below) {
    if (!h.data) return;
    for (index n = 0; n < h.extent[0]; ++n)
      for (index head = 0; head < h.extent[1]; ++head)
        for (index i = 0; i < h.extent[2]; ++i)
          for (index j = 0; j < h.extent[3]; ++j)
            numbers_.push_back(i <= j                            ? h(n, head, i, j)
                               : below == below_diagonal::mirror ? h(n, head, j, i)
                                                                 : T(0));
    copy_ = {numbers_.data(), h.extent[0], h.extent[1], h.extent[2], h.extent[3]};
  }
  view<T const, 4> values() const { return copy_; }

 private:
  std::vector<T> numbers_;
  view<T, 4> copy_;
};
// The gradient of a triangle from that of a matrix, in `to`. Without tokens the state stayed as it
// was, and the gradient is what `given` says.
template <class T>
void fold_to_upper(view<T, 4> const& to, view<T const, 4> const& given, walk const& w) {
  for (index i = 0; i < to.extent[2]; ++i)
    for (index j = 0; j < i; ++j) {
      T& below = to(w.sequence, w.head, i, j);
      if (w.count > 0) to(w.sequence, w.head, j, i) += below;
      below = w.count > 0 || !given.data ? T(0) : given(w.sequence, w.head, i, j);
    }
}

// H, of which the state holds the upper triangle, and the solution x of (H + diag(lambda)) x = q
// after every token, by the factor R^T R of the matrix. `asked` replaces q.
template <class Io, class Gate, class Accumulate>
class mesa_leader : public memory_with<mesa_tensors<Io>, Io, Gate, Accumulate> {
  using base = memory_with<mesa_tensors<Io>, Io, Gate, Accumulate>;
  using T = Accumulate;

 public:
  explicit mesa_leader(base const& of, sequence_view<T const> const& asked = {})
      : base(of), asked_(asked) {}

  recurrence_shape shape() const {
    recurrence_shape shape = base::shape();
    shape.columns = shape.rows;
    return shape;
  }
  index output_columns() const { return shape().rows; }

  // Allocates nothing up to 128 rows.
  void advance(place<> at, view<T, 2> const& state, auto const& write) const {
    index const K = state.extent[0], step = state.stride[1];
    constexpr index few = 128;
    alignas(64) T on_stack[few * few + few];
    std::vector<T> in_heap(static_cast<std::size_t>(K > few ? K * K + K : 0));
    T* const factor = K > few ? in_heap.data() : on_stack;
    T* const x = factor + K * K;
    auto const token = this->terms_at(at);
    T const strength = static_cast<T>(this->own_.strength.read(at));
    auto const w = decay_from_log(gate_terms<T, Gate>(this->gate_, at).log_decay());
    for (index i = 0; i < K; ++i) x[i] = token.key(i);
    for (index i = 0; i < K; ++i) {
      T *const h = &state(i, 0), *const row = factor + i * K, along = strength * x[i];
      if (step == 1) {
        std::fill_n(h, i, T(0));
        square_row(w, along, x + i, h + i, K - i);
        std::copy_n(h + i, K - i, row + i);
      } else {
        for (index j = 0; j < K; ++j)
          h[j * step] = row[j] = j < i ? T(0) : carried(w, h[j * step], along * x[j]);
      }
      row[i] += static_cast<T>(this->own_.lambda(at.head, i));
    }
    for (index i = 0; i < K; ++i) x[i] = asked_.data ? asked_.read(at, i) : token.query(i);
    find_factor(factor, K);
    solve(factor, K, x);
    for (index i = 0; i < K; ++i) write(i, x[i]);
  }

 private:
  using vector = simd<T, simd_width<T>>;
  static constexpr index panel = 4;

  // h <- w h + along x
  static void square_row(split_decay<T> w, T along, T const* x, T* h, index count) {
    split_decay<vector> const all{vector(w.whole), vector(w.rest)};
    index j = 0;
    for (; j + vector::width <= count; j += vector::width)
      carried(all, vector::load(h + j), vector(along) * vector::load(x + j)).store(h + j);
    for (; j < count; ++j) h[j] = carried(w, h[j], along * x[j]);
  }
  // to += factor from
  static void add(index count, T factor, T const* from, T* to) {
    index j = 0;
    for (; j + vector::width <= count; j += vector::width)
      multiply_add(vector(factor), vector::load(from + j), vector::load(to + j)).store(to + j);
    for (; j < count; ++j) to[j] = multiply_add(factor, from[j], to[j]);
  }
  // The upper triangle of a matrix becomes R, with 1 / R_kk on its diagonal.
  static void find_factor(T* r, index K) {
    using std::sqrt;
    for (index first = 0; first < K; first += panel) {
      index const end = at_most(first + panel, K);
      for (index k = first; k < end; ++k) {
        T* const row = r + k * K;
        for (index m = first; m < k; ++m) add(K - k, -r[m * K + k], r + m * K + k, row + k);
        T const over = T(1) / sqrt(row[k]);
        for (index j = k + 1; j < K; ++j) row[j] *= over;
        row[k] = over;
      }
      index i = end;
      for (; i + 2 <= K; i += 2) subtract_panel<2>(r, K, first, i);
      if (i < K) subtract_panel<1>(r, K, first, i);
    }
  }
  // Takes what the rows of a whole panel from `first` on contribute out of `Rows` rows from i on.
  template <int Rows>
  static void subtract_panel(T* r, index K, index first, index i) {
    T const* const from = r + first * K;
    vector factor[Rows][panel];
    unroll<Rows>([&](auto n) WANE_INLINE_LAMBDA {
      unroll<panel>([&](auto p)
                        WANE_INLINE_LAMBDA { factor[n][p] = vector(-from[p * K + i + n]); });
    });
    index j = i;
    for (; j + vector::width <= K; j += vector::width) {
      vector sum[Rows];
      unroll<Rows>([&](auto n) WANE_INLINE_LAMBDA { sum[n] = vector::load(r + (i + n) * K + j); });
      unroll<panel>([&](auto p) WANE_INLINE_LAMBDA {
        vector const x = vector::load(from + p * K + j);
        unroll<Rows>([&](auto n)
                         WANE_INLINE_LAMBDA { sum[n] = multiply_add(factor[n][p], x, sum[n]); });
      });
      unroll<Rows>([&](auto n) WANE_INLINE_LAMBDA { sum[n].store(r + (i + n) * K + j); });
    }
    for (; j < K; ++j)
      for (int n = 0; n < Rows; ++n)
        for (int p = 0; p < panel; ++p)
          r[(i + n) * K + j] = multiply_add(factor[n][p][0], from[p * K + j], r[(i + n) * K + j]);
  }
  static void solve(T const* r, index K, T* x) {
    for (index k = 0; k < K; ++k) {
      x[k] *= r[k * K + k];
      add(K - k - 1, -x[k], r + k * K + k + 1, x + k + 1);
    }
    for (index k = K - 1; k >= 0; --k) {
      row_sum<T> found;
      for_row_lanes<T>(true, K - k - 1, [&](auto j) WANE_INLINE_LAMBDA {
        found.add(row_at(r + k * K + k + 1, j), row_at(x + k + 1, j));
      });
      x[k] = (x[k] - found.total()) * r[k * K + k];
    }
  }

  sequence_view<T const> asked_;
};

}  // namespace wane::impl
