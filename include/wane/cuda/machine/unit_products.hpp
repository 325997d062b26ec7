// Products of matrices by a warp, from fragments in registers and matrices in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/unroll.hpp"
#include "wane/cuda/machine/matrix_unit.hpp"

namespace wane::cuda::impl {

// How precisely a matrix unit reads numbers that are stored as `stored`: 8 bits of them, 11 bits,
// or, in two parts, 22 of the 24 bits of a float.
struct in_bfloat16 {
  using unit = bfloat16;
  using stored = bfloat16;
  static constexpr int parts = 1;
};
struct in_tf32 {
  using unit = tf32;
  using stored = float;
  static constexpr int parts = 1;
};
struct in_two_tf32 {
  using unit = tf32;
  using stored = float;
  static constexpr int parts = 2;
};
// The precision that suffices for outputs of this type. (float16 lacks the range of a state, so
// TF32 is used.)
template <class Out>
using precision_for =
    std::conditional_t<std::is_same_v<Out, bfloat16>, in_bfloat16,
                       std::conditional_t<std::is_same_v<Out, float16>, in_tf32, in_two_tf32>>;

template <class Out>
using stored_for = typename precision_for<Out>::stored;

// Two neighbours in shared memory.
template <class T>
struct alignas(2 * sizeof(T)) pair_of {
  T of[2];
};

// A fragment is 16 x 8 numbers in the registers of a warp, in the layout of the unit's sums.
// Neighbouring fragments are a left factor without rearrangement: a product sums over their
// columns, which may come in any order, and the right factor is read in the same order.
template <class Precision, multiplies<typename Precision::unit> M>
class unit_products {
  using T = typename Precision::unit;
  using unit = matrix_unit<T>;

 public:
  using stored = typename Precision::stored;
  using fragment = typename unit::sum;
  static constexpr int fragments = unit::depth / 8;  // of a left factor
  struct left {
    typename unit::left part[Precision::parts];
  };

  WANE_HOST_DEVICE explicit unit_products(M& machine)
      : machine_(machine),
        row_(machine.thread() % warp_size / 4),
        column_(machine.thread() % 4 * 2) {}

  // Numbers 2n and 2n + 1 of a fragment are in row row() + 8 n, columns column() and the next.
  WANE_HOST_DEVICE int row() const { return row_; }
  WANE_HOST_DEVICE int column() const { return column_; }

  // A left factor whose rows lie `stride` apart.
  template <class X>
  WANE_INLINE left read_left(X const* x, int stride) const {
    left a;
    unroll<2 * fragments>([&](auto n) WANE_INLINE_LAMBDA {
      // In the same order as left_of.
      constexpr int row = n % 2, at = n / 2;
      auto const two = machine_.read_shared(
          reinterpret_cast<pair_of<X> const*>(x + (row_ + 8 * row) * stride + column_ + 8 * at));
      unroll<2>([&](auto e) WANE_INLINE_LAMBDA {
        split(two.of[e], [&](int part) -> T& {
          return a.part[part].of[fragments == 2 ? 2 * n + e : row + 2 * e];
        });
      });
    });
    return a;
  }

  WANE_INLINE left left_of(fragment const* x) const {
    left a;
    unroll<4 * fragments>([&](auto i) WANE_INLINE_LAMBDA {
      // With one fragment, the unit takes the columns in another order.
      constexpr int from = fragments == 2 ? i % 4 : i % 2 * 2 + i / 2;
      split(x[i / 4].of[from], [&](int part) -> T& { return a.part[part].of[i]; });
    });
    return a;
  }

  // sum += a b. The 8 columns of b lie `stride` apart; each has 8 * fragments contiguous numbers.
  template <class X>
  WANE_INLINE void add(fragment& sum, left const& a, X const* b, int stride) const {
    add_with(sum, a, [&](int n) WANE_INLINE_LAMBDA {
      return machine_.read_shared(
          reinterpret_cast<pair_of<X> const*>(b + row_ * stride + column_ + 8 * n));
    });
  }
  // The same where the rows of b lie `stride` apart, each with 8 contiguous numbers.
  template <class X>
  WANE_INLINE void add_transposed(fragment& sum, left const& a, X const* b, int stride) const {
    add_with(sum, a, [&](int n) WANE_INLINE_LAMBDA {
      X const* const from = b + (column_ + 8 * n) * stride + row_;
      return pair_of<X>{{machine_.read_shared(from), machine_.read_shared(from + stride)}};
    });
  }

 private:
  template <class Read>
  WANE_INLINE void add_with(fragment& sum, left const& a, Read const& read) const {
    typename unit::right right[Precision::parts];
    unroll<fragments>([&](auto n) WANE_INLINE_LAMBDA {
      auto const two = read(n);
      unroll<2>([&](auto e) WANE_INLINE_LAMBDA {
        split(two.of[e], [&](int part) -> T& { return right[part].of[2 * n + e]; });
      });
    });
    if constexpr (Precision::parts == 2) {
      machine_.template multiply_add<T>(sum, a.part[1], right[0]);
      machine_.template multiply_add<T>(sum, a.part[0], right[1]);
    }
    machine_.template multiply_add<T>(sum, a.part[0], right[0]);
  }

  // x in parts: part n is rounded from x minus the parts before it.
  template <class X, class Part>
  WANE_INLINE static void split(X x, Part const& part) {
    if constexpr (std::is_same_v<X, T>) {
      part(0) = x;
    } else {
      part(0) = T(x);
      if constexpr (Precision::parts == 2) {
        float const left = x - static_cast<float>(part(0));
        part(1) = T(left == left ? left : 0.f);  // an infinity leaves no remainder
      }
    }
  }

  M& machine_;
  int row_, column_;
};

}  // namespace wane::cuda::impl
