// Gradient kernel of penalised memories: one thread for each row of M, g = M^-1 dL/dalpha.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/penalty/walk.hpp"

namespace wane::cuda::impl {

// The equations are those of run/penalty/adjoint.hpp, forward through the tokens. `output` holds
// the directions a, which are only read. `segments` holds the factors from the direction kernel.
template <class Op, class State>
struct inverse_gradient_arguments : penalty_arguments<Op, State> {
  sequence_view<float> inverse_gradients;  // dL/da, replaced by g = M^-1 x (see take)
  sequence_view<float> key_gradients;      // dL/dk; gradients through alpha are added
  token_view<float> changes;  // of a fading M under rls: see penalised_gradient_arguments
  view<State const, 4> final_gradient;
  // Written where final_gradient is present. behind: N after the last token, [sequence][2 H][K][K],
  // zeros in the second half of the heads. whole, where M fades: <dL/d(R^T R), R^T R>,
  // [sequence][head].
  float *behind, *whole;
};

template <class Config, machine M, class Op, class State>
class penalty_inverse_gradients : penalty_walk<Config, M, Op, State> {
  using base = penalty_walk<Config, M, Op, State>;
  using base::at_, base::fades, base::for_tokens, base::head_, base::numbers_at,
      base::sequence_head_, base::machine_;
  using base::of_given, base::over_, base::present, base::r, base::row_, base::rows_, base::scale;
  using base::sequence_, base::solve, base::subtract, base::sum_of_rows, base::tokens;

 public:
  WANE_HOST_DEVICE penalty_inverse_gradients(M& machine,
                                             inverse_gradient_arguments<Op, State> const& a,
                                             index block)
      : base(machine, a, block), a_(a) {}

  WANE_HOST_DEVICE void operator()() {
    this->walk([&](auto const&... chunk) WANE_INLINE_LAMBDA { take(chunk...); });
    if (this->is_last() && a_.final_gradient.data) begin_sums();
  }

 private:
  // a = by alpha, dL/dalpha = by x, g = M^-1 x. Under the rule rls g . k = x . a. Under the other
  // rules it is 0, since their x has no part along alpha. Where u = k, the terms of the token
  // itself through M^-1 and through its direction cancel, except for 1 - alpha . k = 1 / C_tt^2:
  //   by g - g (a . k) - a (g . k) = (by / C_tt^2) g - a (g . k).
  WANE_INLINE void take(sequence_tokens const& of, index k, int count, token_numbers const& key,
                        token_numbers const& direction) const {
    auto const read = [&](sequence_view<float> const& from) WANE_INLINE_LAMBDA {
      token_numbers x = {};
      for_tokens([&](auto t) WANE_INLINE_LAMBDA {
        if (t < count && present()) x.of[t] = from.read(of.at(k + t, head_), row_);
      });
      return x;
    };
    token_numbers x = read(a_.inverse_gradients), to = read(a_.key_gradients);
    token_numbers const a = read(a_.output);
    token_numbers along = a;
    scale(along, x);
    along = sum_of_rows(along);
    if constexpr (Op::rule == write_rule::rls) {
      for_tokens([&](auto t) WANE_INLINE_LAMBDA {
        to.of[t] = multiply_add(-along.of[t], a.of[t], to.of[t]);
      });
    } else {
      for_tokens([&](auto t) WANE_INLINE_LAMBDA {
        float const from = Op::rule == write_rule::unit ? a.of[t] : key.of[t];
        x.of[t] = multiply_add(-along.of[t], from, x.of[t]);
        if constexpr (Op::rule == write_rule::projective)
          to.of[t] = multiply_add(-along.of[t], a.of[t], to.of[t]);
      });
    }
    x = of_given(direction, x);
    if constexpr (fades) scale(x, over_), scale(x, over_);
    if (!present()) return;
    token_numbers const over = numbers_at(at_.over, 0);
    bool const own = a_.op.penalises_keys();
    for_tokens([&](auto t) WANE_INLINE_LAMBDA {
      if (t >= count) return;
      place<> const where = of.at(k + t, head_);
      float by = own ? over.of[t] * over.of[t] : 1.f;
      if constexpr (fades && Op::rule == write_rule::rls)
        if (row_ == 0) a_.changes.write(where, -by * along.of[t]);
      if constexpr (Op::rule != write_rule::rls) by *= a_.marks.factors.read(where);
      a_.inverse_gradients.write(where, row_, x.of[t]);
      a_.key_gradients.write(where, row_, multiply_add(by, x.of[t], to.of[t]));
    });
  }

  // N = R^-1 X R^-T as in penalty_sums::begin, where X is -2 sym(P).
  WANE_INLINE void begin_sums() const {
    machine_.barrier();  // R of a sequence without tokens was just written
    index const numbers = index{rows_} * rows_, heads = a_.shape.heads;
    float* const to = a_.behind + (sequence_ * 2 * heads + head_) * numbers;
    for (index n = row_; n < numbers; n += Config::threads) to[heads * numbers + n] = 0.f;
    auto const columns = [&](auto const& x, auto const& put) WANE_INLINE_LAMBDA {
      for (int first = 0; first < rows_; first += tokens) {
        token_numbers some = {};
        for_tokens([&](auto t) WANE_INLINE_LAMBDA {
          if (first + t < rows_ && present()) some.of[t] = x(first + t);
        });
        solve(some, at_.first);
        for_tokens([&](auto t) WANE_INLINE_LAMBDA {
          if (first + t < rows_ && present()) put(first + t, some.of[t]);
        });
      }
    };
    columns([&](int j) WANE_INLINE_LAMBDA { return row_ > j ? half(row_, j) : half(j, row_); },
            [&](int j, float x) WANE_INLINE_LAMBDA { to[j * rows_ + row_] = x; });
    machine_.barrier();
    columns([&](int j) WANE_INLINE_LAMBDA { return to[row_ * rows_ + j]; },
            [&](int j, float x) WANE_INLINE_LAMBDA { to[row_ * rows_ + j] = x; });
    if constexpr (fades) {
      token_numbers sum = {};
      for (int i = 0; i <= row_ && present(); ++i)
        sum.of[0] = multiply_add(gradient(i, row_), r(i, row_), sum.of[0]);
      sum = sum_of_rows(sum);
      if (row_ == 0) a_.whole[sequence_head_] = sum.of[0] / 2;
    }
  }
  // X(i, j) for j <= i.
  WANE_INLINE float half(int i, int j) const {
    float sum = 0;
    for (int l = i; l < rows_; ++l) sum = multiply_add(-r(i, l), gradient(j, l), sum);
    return sum;
  }
  WANE_INLINE float gradient(int i, int j) const {
    return static_cast<float>(a_.final_gradient(sequence_, head_, i, a_.values + j));
  }

  inverse_gradient_arguments<Op, State> const& a_;
};

}  // namespace wane::cuda::impl
