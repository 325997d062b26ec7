// pole_chunk: N tokens of a bank of poles, forward and transposed.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "wane/core/numbers/aligned.hpp"
#include "wane/core/numbers/unroll.hpp"
#include "wane/core/recurrence/poles.hpp"
#include "wane/run/poles/carry_factor.hpp"
#include "wane/run/shared/panel_columns.hpp"

namespace wane::impl {

// M_i is the sum of pole i before tokens 0..N-1, x are their inputs, and x' the inputs that leave
// at these tokens, each D tokens (the reach) after it came:
//   y_t = Re sum_i c_i p_i^{t+1} M_i + sum_{s<=t} (k_{t-s} x_s - k_{D+t-s} x'_s)
//   M_i <- p_i^N M_i + sum_t p_i^{N-1-t} x_t - p_i^{D+N-1-t} x'_t,     k_l = Re sum_i c_i p_i^l.
// Real and imaginary parts are rows of real numbers. Each column costs 4 S (1 + 1/N) + (N + 1)/2
// multiply-adds a token, S being the poles, and 4 S more where inputs leave.

// Tokens of a chunk: their inputs, outputs and leaving inputs just fit the registers.
inline constexpr int pole_tokens = simd_bytes == 64 ? 8 : 4;
// p^N is rounded alike at every chunk. Its error is corrected after so many, and at the end, in one
// sum with the inputs: by itself it may be less than half an ulp.
inline constexpr index chunks_between_corrections = 64;

// When p^N is corrected, where tokens are taken in chunks and the rest one by one.
class pole_corrections {
 public:
  // Counts what is taken next of `room` tokens: pole_tokens of them, or one where fewer are left.
  // Returns for how many chunks of that length p^N is to be corrected with it.
  index due(index room) {
    bool const many = room >= pole_tokens, is_last = many ? room < 2 * pole_tokens : room == 1;
    index& taken = many ? chunks_ : tokens_;
    ++taken;
    return is_last || taken == chunks_between_corrections ? std::exchange(taken, 0) : 0;
  }

 private:
  index chunks_ = 0, tokens_ = 0;  // taken since the last correction
};

// The coefficients of one pole for N tokens. `read` is conjugated; it includes the weight unless
// weights differ by column.
template <class T, int N, bool Leave>
struct pole_terms {
  carry_factor<T> carry;
  complex_parts<T> missing;  // what a sum lacks after each use of `carry`, as a part of the sum
  complex_parts<T> read[N], write[N], leave[Leave ? N : 1];
};

// All poles of a head, for chunks of N tokens of a sequence; weights of columns
// [first, first + count).
template <pole_bank Op, int N>
class pole_chunk {
 public:
  using T = real_type<accumulate_type<Op>>;
  using vector = simd<T, simd_width<T>>;
  static constexpr int width = vector::width;
  static constexpr bool leave = leaving_inputs<Op>;

  pole_chunk(Op const& op, index sequence, index head, index first, index count)
      : by_column_(op.weighs_columns()),
        stride_(by_column_ ? (count + width - 1) / width * width : 1),
        poles_(static_cast<std::size_t>(op.poles())),
        weights_(by_column_ ? 2 * op.poles() * stride_ : 1),
        lags_((leave ? 2 : 1) * N * stride_) {
    index const reach = op.reach(head), columns = by_column_ ? count : 1;
    std::fill_n(weights_.data(), by_column_ ? 2 * op.poles() * stride_ : 1, T(0));
    using Exact = std::conditional_t<std::is_same_v<T, double>, long double, double>;
    auto const size = [](index n) { return static_cast<std::size_t>(n); };
    std::vector<double> lags(size((leave ? 2 : 1) * N * stride_)), re(size(columns)), im = re;
    // Adds Re c_j z of all columns to a row.
    auto const add = [&](double* row, std::complex<double> z) {
      for (std::size_t j = 0; j < re.size(); ++j) row[j] += z.real() * re[j] - z.imag() * im[j];
    };
    for (index i = 0; i < op.poles(); ++i) {
      auto& pole = poles_[size(i)];
      std::complex<double> power[N + 1] = {1., op.power(head, i, 1)}, far[N] = {};
      if constexpr (leave) far[0] = op.power(head, i, reach);
      for (int n = 2; n <= N; ++n) power[n] = multiply(power[n - 1], power[1]);
      for (int n = 1; n < N; ++n) far[n] = multiply(far[0], power[n]);
      auto const exact = op.template power<Exact>(head, i, N);
      pole.carry = carry_factor<T>(std::complex<double>(exact));
      // Where p^N fades, a sum holds mostly recent inputs, carried less often: a smaller error.
      auto const drift = pole.carry.drift(exact) *
                         std::pow(std::abs(exact), static_cast<Exact>(chunks_between_corrections));
      pole.missing = multiply(drift, exact);
      std::complex<double> const weight = by_column_ ? 1. : op.weight(sequence, head, i, 0);
      for (int t = 0; t < N; ++t) {
        pole.read[t] = conjugate(multiply(weight, power[t + 1]));
        pole.write[t] = power[N - 1 - t];
        if constexpr (leave) pole.leave[t] = -far[N - 1 - t];
      }
      for (index j = 0; j < columns; ++j) {
        std::complex<double> const c = op.weight(sequence, head, i, first + j);
        re[size(j)] = c.real(), im[size(j)] = c.imag();
      }
      if (by_column_)
        for (index j = 0; j < columns; ++j) {
          weights_.data()[2 * i * stride_ + j] = static_cast<T>(re[size(j)]);
          weights_.data()[(2 * i + 1) * stride_ + j] = static_cast<T>(im[size(j)]);
        }
      for (int n = 0; n < N; ++n) {
        add(lags.data() + n * stride_, power[n]);
        if constexpr (leave) add(lags.data() + (N + n) * stride_, -far[n]);
      }
    }
    std::copy(lags.begin(), lags.end(), lags_.data());
  }

  // One vector of columns, `first` + j and on: y receives the outputs for N inputs x; `left` holds
  // the inputs that leave. All rows lie `stride` apart. The state has two rows a pole, real and
  // imaginary part, and behind them, where inputs leave, the same of the second sums (pole_state).
  // p^N is corrected for `due` chunks.
  void answer(T const* x, T const* left, T* y, T* state, index stride, index j, index due) const {
    by_column_ ? take<true>(x, left, y, state, stride, j, due)
               : take<false>(x, left, y, state, stride, j, due);
  }

  // The transpose of answer: dy are N gradients of outputs, dx receives those of inputs. The state
  // is the conjugated cotangent, behind the chunk at entry and before it on return. `left` holds
  // cotangents of the ring: those of x at entry, those of x' on return.
  void answer_back(T const* dy, T* left, T* dx, T* state, index stride, index j, index due) const {
    by_column_ ? take_back<true>(dy, left, dx, state, stride, j, due)
               : take_back<false>(dy, left, dx, state, stride, j, due);
  }

 private:
  template <bool ByColumn>
  WANE_HOST_INLINE vector lag(int n, index j) const {
    if constexpr (ByColumn) return vector::load(lags_.data() + n * stride_ + j);
    return vector(lags_.data()[n]);
  }

  template <bool ByColumn>
  [[gnu::noinline]] void take(T const* x, T const* left, T* y, T* state, index stride, index j,
                              index due) const {
    vector in[N], out[N], gone[leave ? N : 1];
    unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
      in[t] = vector::load(x + t * stride);
      if constexpr (leave) gone[t] = vector::load(left + t * stride);
    });
    unroll<N>([&](auto n) WANE_INLINE_LAMBDA {
      vector const k = lag<ByColumn>(n, j);
      [[maybe_unused]] vector far;
      if constexpr (leave) far = lag<ByColumn>(N + n, j);
      unroll<N - n>([&](auto s) WANE_INLINE_LAMBDA {
        out[s + n] = n == 0 ? k * in[s] : multiply_add(k, in[s], out[s + n]);
        if constexpr (leave) out[s + n] = multiply_add(far, gone[s], out[s + n]);
      });
    });
    T* const sums = state;
    T* const next = state + 2 * static_cast<index>(poles_.size()) * stride;
    T const* weight = weights_.data() + j;
    index at = 0;
    for (auto const& pole : poles_) {
      vector re = vector::load(sums + at), im = vector::load(sums + at + stride);
      vector seen_re = re, seen_im = im;
      if constexpr (ByColumn) {
        vector const a = vector::load(weight), b = vector::load(weight + stride_);
        seen_re = a * re - b * im, seen_im = multiply_add(a, im, b * re);
        weight += 2 * stride_;
      }
      vector in_re = vector(pole.write[0].re) * in[0], in_im = vector(pole.write[0].im) * in[0];
      unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
        out[t] = multiply_add(vector(pole.read[t].re), seen_re, out[t]);
        out[t] = multiply_add(vector(pole.read[t].im), seen_im, out[t]);
        if constexpr (t > 0) {
          in_re = multiply_add(vector(pole.write[t].re), in[t], in_re);
          in_im = multiply_add(vector(pole.write[t].im), in[t], in_im);
        }
      });
      if constexpr (leave) {
        vector next_re = vector::load(next + at), next_im = vector::load(next + at + stride);
        vector next_in_re = in_re, next_in_im = in_im;
        if (due > 0) pole.missing.add_to(next_in_re, next_in_im, due, next_re, next_im);
        pole.carry(next_re, next_im, next_in_re, next_in_im);
        next_re.store(next + at), next_im.store(next + at + stride);
        unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
          in_re = multiply_add(vector(pole.leave[t].re), gone[t], in_re);
          in_im = multiply_add(vector(pole.leave[t].im), gone[t], in_im);
        });
      }
      if (due > 0) pole.missing.add_to(in_re, in_im, due, re, im);
      pole.carry(re, im, in_re, in_im);
      re.store(sums + at), im.store(sums + at + stride);
      at += 2 * stride;
    }
    unroll<N>([&](auto t) WANE_INLINE_LAMBDA { out[t].store(y + t * stride); });
  }

  template <bool ByColumn>
  [[gnu::noinline]] void take_back(T const* dy, T* left, T* dx, T* state, index stride, index j,
                                   index due) const {
    vector in[N], out[N], gone[leave ? N : 1];
    unroll<N>([&](auto t) WANE_INLINE_LAMBDA { in[t] = vector::load(dy + t * stride); });
    unroll<N>([&](auto n) WANE_INLINE_LAMBDA {
      vector const k = lag<ByColumn>(n, j);
      [[maybe_unused]] vector far;
      if constexpr (leave) far = lag<ByColumn>(N + n, j);
      unroll<N - n>([&](auto s) WANE_INLINE_LAMBDA {
        out[s] = n == 0 ? k * in[s] : multiply_add(k, in[s + n], out[s]);
        if constexpr (leave) gone[s] = n == 0 ? far * in[s] : multiply_add(far, in[s + n], gone[s]);
      });
    });
    if constexpr (leave)
      unroll<N>([&](auto t)
                    WANE_INLINE_LAMBDA { out[t] = out[t] + vector::load(left + t * stride); });
    T* const sums = state;
    T* const next = state + 2 * static_cast<index>(poles_.size()) * stride;
    T const* weight = weights_.data() + j;
    index at = 0;
    for (auto const& pole : poles_) {
      vector re = vector::load(sums + at), im = vector::load(sums + at + stride);
      vector all_re = re, all_im = im;
      if constexpr (leave) {
        vector next_re = vector::load(next + at), next_im = vector::load(next + at + stride);
        all_re = all_re + next_re, all_im = all_im + next_im;
        vector next_in_re(T(0)), next_in_im(T(0));
        if (due > 0) pole.missing.add_to(next_in_re, next_in_im, due, next_re, next_im);
        pole.carry(next_re, next_im, next_in_re, next_in_im);
        next_re.store(next + at), next_im.store(next + at + stride);
      }
      vector of_re(T(0)), of_im(T(0));
      unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
        out[t] = multiply_add(vector(pole.write[t].re), all_re, out[t]);
        out[t] = multiply_add(vector(-pole.write[t].im), all_im, out[t]);
        if constexpr (leave) {
          gone[t] = multiply_add(vector(pole.leave[t].re), re, gone[t]);
          gone[t] = multiply_add(vector(-pole.leave[t].im), im, gone[t]);
        }
        of_re = multiply_add(vector(pole.read[t].re), in[t], of_re);
        of_im = multiply_add(vector(-pole.read[t].im), in[t], of_im);
      });
      if constexpr (ByColumn) {
        vector const a = vector::load(weight), b = vector::load(weight + stride_), old = of_re;
        of_re = a * of_re - b * of_im, of_im = multiply_add(a, of_im, b * old);
        weight += 2 * stride_;
      }
      if (due > 0) pole.missing.add_to(of_re, of_im, due, re, im);
      pole.carry(re, im, of_re, of_im);
      re.store(sums + at), im.store(sums + at + stride);
      at += 2 * stride;
    }
    unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
      out[t].store(dx + t * stride);
      if constexpr (leave) gone[t].store(left + t * stride);
    });
  }

  bool const by_column_;
  index const stride_;
  std::vector<pole_terms<T, N, leave>> poles_;
  aligned_numbers<T> weights_, lags_;
};

}  // namespace wane::impl
