// penalty_chunk: a block of threads finds M_t^-1 x_t for each of 16 tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/penalty/factor.hpp"

namespace wane::cuda::impl {

// R is the factor of M before the chunk, U its penalty directions, X vectors, both [rows x tokens]:
//   F = R^-T U,  H = R^-T X,  I + F^T F = C^T C  (C upper triangular; its leading blocks belong to
//   the first tokens alone),
//   M_t^-1 x_t = R^-1 (h_t - F_t (I + F_t^T F_t)^-1 F_t^T h_t),  F_t the columns up to t.
// For X = U the following is the same:
//   M_t^-1 u_t = (R^-1 f_t - sum_{s<t} C_st p_s) / C_tt^2,  p_s = M_{s-1}^-1 u_s / C_ss.
// I + F^T F has the square of C's condition, so small lambda costs more digits than on the CPU
// (run/penalty/reflections.hpp), where sums over rows need no exchange between threads.
template <class Config, machine M>
class penalty_chunk : protected penalty_factor<Config, M> {
  using base = penalty_factor<Config, M>;

 protected:
  using base::at_, base::machine_, base::row_, base::rows_;
  using base::for_tokens, base::get, base::numbers_at, base::put, base::solve;
  using base::solve_transposed, base::subtract;
  using base::tokens;

  WANE_HOST_DEVICE penalty_chunk(M& machine, penalty_layout const& at, index rows)
      : base(machine, at, rows) {}

  // M_t^-1 u_t.
  WANE_INLINE token_numbers of_own(token_numbers x) const {
    solve_transposed(x, at_.first);
    machine_.barrier();
    put_products(at_.first, at_.triangle);
    machine_.barrier();
    if (row_ < warp_size) triangulate([](auto const&, auto const&) {});
    solve(x, at_.first);
    for_tokens([&](auto s) WANE_INLINE_LAMBDA {
      token_numbers const c = numbers_at(at_.triangle, s * tokens);
      float const over = get(at_.over, s), past = over * x.of[s];
      unroll<tokens - 1 - s>([&](auto n) WANE_INLINE_LAMBDA {
        constexpr int t = s + 1 + n;
        x.of[t] = multiply_add(-c.of[t], past, x.of[t]);
      });
      x.of[s] = over * past;
    });
    return x;
  }
  // M_t^-1 x_t, where M contains directions u.
  WANE_INLINE token_numbers of_given(token_numbers u, token_numbers x) const {
    solve_transposed(u, at_.first);
    solve_transposed(x, at_.second);
    machine_.barrier();
    put_products(at_.first, at_.triangle);
    put_products(at_.second, at_.weights);
    machine_.barrier();
    if (row_ < warp_size)
      triangulate([&](auto const& c, auto const& over) WANE_INLINE_LAMBDA { weigh(c, over); });
    machine_.barrier();
    for_tokens([&](auto s) WANE_INLINE_LAMBDA {
      token_numbers const weight = numbers_at(at_.weights, s * tokens);
      unroll<tokens - s>([&](auto n) WANE_INLINE_LAMBDA {
        constexpr int t = s + n;
        x.of[t] = multiply_add(-u.of[s], weight.of[t], x.of[t]);
      });
    });
    solve(x, at_.first);
    return x;
  }

 private:
  // to[s][t] = f_s . x_t, with F in the array `first` and X in `array`.
  WANE_INLINE void put_products(std::size_t array, std::size_t to) const {
    for (int n = row_; n < tokens * tokens; n += Config::threads) {
      float sum = 0;
      for (int i = 0; i < rows_; ++i)
        sum = multiply_add(get(at_.first, i * token_stride + n / tokens),
                           get(array, i * token_stride + n % tokens), sum);
      put(to, n, sum);
    }
  }
  // Lane t reads column t of an array [token][token].
  WANE_INLINE token_numbers column(std::size_t array) const {
    token_numbers x = {};
    for_tokens([&](auto s) WANE_INLINE_LAMBDA {
      if (row_ < tokens) x.of[s] = get(array, s * tokens + row_);
    });
    return x;
  }
  WANE_INLINE void put_column(std::size_t array, token_numbers const& x) const {
    for_tokens([&](auto s) WANE_INLINE_LAMBDA {
      if (row_ < tokens) put(array, s * tokens + row_, x.of[s]);
    });
  }
  // One warp replaces F^T F by C, where I + F^T F = C^T C. Each lane then calls then(its column of
  // C, 1 / C_ss of all s).
  template <class Then>
  WANE_INLINE void triangulate(Then const& then) const {
    token_numbers c = column(at_.triangle), over;
    for_tokens([&](auto s) WANE_INLINE_LAMBDA {
      using std::sqrt;
      over.of[s] = 1.f / sqrt(1.f + machine_.shuffle(c.of[s], s));
      c.of[s] = over.of[s] * (c.of[s] + (row_ == s ? 1.f : 0.f));
      unroll<tokens - 1 - s>([&](auto n) WANE_INLINE_LAMBDA {
        constexpr int i = s + 1 + n;
        c.of[i] = multiply_add(-machine_.shuffle(c.of[s], i), c.of[s], c.of[i]);
      });
      if (row_ == s) put(at_.over, s, over.of[s]);
    });
    put_column(at_.triangle, c);
    then(c, over);
  }
  // Turns column t of F^T H into (I + F_t^T F_t)^-1 F_t^T h_t, the weights of f_s in h_t.
  WANE_INLINE void weigh(token_numbers const& c, token_numbers const& over) const {
    token_numbers x = column(at_.weights);
    for_tokens([&](auto s) WANE_INLINE_LAMBDA {
      unroll<s>([&](auto i) WANE_INLINE_LAMBDA {
        x.of[s] = multiply_add(-machine_.shuffle(c.of[i], s), x.of[i], x.of[s]);
      });
      x.of[s] *= over.of[s];
    });
    for_tokens([&](auto n) WANE_INLINE_LAMBDA {
      constexpr int s = tokens - 1 - n;
      if (s > row_) x.of[s] = 0.f;
      unroll<n>([&](auto m) WANE_INLINE_LAMBDA {
        constexpr int i = s + 1 + m;
        float const later = machine_.shuffle(c.of[s], i);
        if (i <= row_) x.of[s] = multiply_add(-later, x.of[i], x.of[s]);
      });
      x.of[s] *= over.of[s];
    });
    put_column(at_.weights, x);
  }
};

}  // namespace wane::cuda::impl
