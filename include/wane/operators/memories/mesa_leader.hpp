// mesa_leader: the recurrence of MesaNet's H, whose outputs solve (H + diag(lambda)) x = q.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/numbers/aligned.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/unroll.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/operators/memories/mesa_memory.hpp"

namespace wane::impl {

// A copy of states [N, H, K, K], of which the upper triangles count.
template <class T>
class upper_triangles {
 public:
  explicit upper_triangles(view<T const, 4> const& h) {
    if (!h.data) return;
    for (index n = 0; n < h.extent[0]; ++n)
      for (index head = 0; head < h.extent[1]; ++head)
        for (index i = 0; i < h.extent[2]; ++i)
          for (index j = 0; j < h.extent[3]; ++j) numbers_.push_back(h(n, head, i, j));
    copy_ = {numbers_.data(), h.extent[0], h.extent[1], h.extent[2], h.extent[3]};
  }
  view<T const, 4> values() const { return copy_; }

  // What lies below the diagonal becomes the mirror image of what lies above, or zeros.
  void mirror(walk const& w) const {
    change(w, [](T& below, T above) { below = above; });
  }
  void clear(walk const& w) const {
    change(w, [](T& below, T) { below = T(0); });
  }

 private:
  void change(walk const& w, auto const& set) const {
    for (index i = 0; copy_.data && i < copy_.extent[2]; ++i)
      for (index j = 0; j < i; ++j)
        set(copy_(w.sequence, w.head, i, j), copy_(w.sequence, w.head, j, i));
  }
  std::vector<T> numbers_;
  view<T, 4> copy_;
};
// The gradient of a triangle from that of a matrix whose lower triangle is its mirror image.
template <class T>
void fold_to_upper(view<T, 4> const& h, walk const& w) {
  for (index i = 0; i < h.extent[2]; ++i)
    for (index j = 0; j < i; ++j) {
      h(w.sequence, w.head, j, i) += h(w.sequence, w.head, i, j);
      h(w.sequence, w.head, i, j) = T(0);
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
    index const K = state.extent[0];
    constexpr index few = 128;
    alignas(64) T on_stack[few * (few + 2)];
    aligned_numbers<T> const in_heap(K > few ? padded(K) * (padded(K) + 2) : 0);
    T* const memory = K > few ? in_heap.data() : on_stack;
    factor const r{K, padded(K), memory, memory + padded(K) * K, memory + padded(K) * (K + 1)};
    auto const token = this->terms_at(at);
    for (index i = 0; i < r.stride; ++i) r.x[i] = i < K ? token.key(i) : T(0);
    add_square(at, state, r);
    for (index i = 0; i < r.stride; ++i)
      r.x[i] = i >= K ? T(0) : asked_.data ? asked_.read(at, i) : token.query(i);
    find(r);
    solve(r);
    for (index i = 0; i < K; ++i) write(i, r.x[i]);
  }

 private:
  using vector = simd<T, simd_width<T>>;
  static constexpr index width = vector::width, panel = 4;
  static index padded(index count) { return (count + width - 1) / width * width; }
  static index block_of(index i) { return i / width * width; }

  // R, in rows `stride` apart that whole vectors fill, with zeros on its diagonal and below;
  // `over`, 1 / R_kk; and x.
  struct factor {
    index K, stride;
    T *rows, *over, *x;
    T* row(index k) const { return rows + k * stride; }
  };

  // H <- e^g H + beta k k^T with k in r.x, and r becomes the upper triangle of H + diag(lambda).
  void add_square(place<> at, view<T, 2> const& state, factor const& r) const {
    T const strength = static_cast<T>(this->own_.strength.read(at));
    auto const w = decay_from_log(gate_terms<T, Gate>(this->gate_, at).log_decay());
    vector const whole(w.whole), rest(w.rest);
    bool const resets = factor_of(w) == T(0);
    index const step = state.stride[1];
    for (index i = 0; i < r.K; ++i) {
      T *const h = &state(i, 0), *const row = r.row(i), along = strength * r.x[i];
      for (index j = block_of(i); j < r.stride; j += width) {
        index const count = at_most(width, r.K - j);
        for (index l = 0; l < count && step != 1; ++l) row[j + l] = h[(j + l) * step];
        vector const before = step != 1 ? vector::load(row + j)
                                        : load_first<T, width>(h + j, static_cast<int>(count));
        vector const added = vector(along) * vector::load(r.x + j);
        (resets ? added : multiply_add(whole, before, multiply_add(rest, before, added)))
            .store(row + j);
      }
      std::fill_n(row + block_of(i), i - block_of(i), T(0));
      std::fill_n(row + r.K, r.stride - r.K, T(0));
      if (step == 1)
        std::copy_n(row + i, r.K - i, std::fill_n(h, i, T(0)));
      else
        for (index j = 0; j < r.K; ++j) h[j * step] = j < i ? T(0) : row[j];
      row[i] += static_cast<T>(this->own_.lambda(at.head, i));
    }
  }
  // to += factor from, in the vectors from that of row `first` on.
  static void add(factor const& r, index first, T along, T const* from, T* to) {
    for (index j = block_of(first); j < r.stride; j += width)
      multiply_add(vector(along), vector::load(from + j), vector::load(to + j)).store(to + j);
  }
  // The upper triangle of a matrix becomes R.
  static void find(factor const& r) {
    using std::sqrt;
    for (index first = 0; first < r.K; first += panel) {
      index const end = at_most(first + panel, r.K);
      for (index k = first; k < end; ++k) {
        T* const row = r.row(k);
        for (index m = first; m < k; ++m) add(r, k, -r.row(m)[k], r.row(m), row);
        vector const over(r.over[k] = T(1) / sqrt(row[k]));
        for (index j = block_of(k); j < r.stride; j += width)
          (vector::load(row + j) * over).store(row + j);
        std::fill_n(row + block_of(k), k + 1 - block_of(k), T(0));
      }
      index i = end;
      for (; i + 2 <= r.K; i += 2) subtract_panel<2>(r, first, i);
      if (i < r.K) subtract_panel<1>(r, first, i);
    }
  }
  // Takes what the rows of a whole panel from `first` on contribute out of `Rows` rows from i on.
  template <int Rows>
  static void subtract_panel(factor const& r, index first, index i) {
    vector along[Rows][panel];
    unroll<Rows>([&](auto n) WANE_INLINE_LAMBDA {
      unroll<panel>([&](auto p)
                        WANE_INLINE_LAMBDA { along[n][p] = vector(-r.row(first + p)[i + n]); });
    });
    for (index j = block_of(i); j < r.stride; j += width) {
      vector sum[Rows];
      unroll<Rows>([&](auto n) WANE_INLINE_LAMBDA { sum[n] = vector::load(r.row(i + n) + j); });
      unroll<panel>([&](auto p) WANE_INLINE_LAMBDA {
        vector const x = vector::load(r.row(first + p) + j);
        unroll<Rows>([&](auto n)
                         WANE_INLINE_LAMBDA { sum[n] = multiply_add(along[n][p], x, sum[n]); });
      });
      unroll<Rows>([&](auto n) WANE_INLINE_LAMBDA { sum[n].store(r.row(i + n) + j); });
    }
  }
  // R^T R x = x
  static void solve(factor const& r) {
    for (index k = 0; k < r.K; ++k) {
      r.x[k] *= r.over[k];
      add(r, k, -r.x[k], r.row(k), r.x);
    }
    for (index k = r.K - 1; k >= 0; --k) {
      vector sum(T(0));
      for (index j = block_of(k); j < r.stride; j += width)
        sum = multiply_add(vector::load(r.row(k) + j), vector::load(r.x + j), sum);
      r.x[k] = (r.x[k] - impl::sum(sum)) * r.over[k];
    }
  }

  sequence_view<T const> asked_;
};

}  // namespace wane::impl
