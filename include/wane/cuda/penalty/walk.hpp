// penalty_walk: one thread of a kernel that updates the factor of a penalty along a sequence.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/penalty/chunk.hpp"

namespace wane::cuda::impl {

// One block for each head of a sequence, or for each segment of it. It updates R chunk by chunk.
template <class Config, machine M, class Op, class State>
class penalty_walk : protected penalty_chunk<Config, M> {
  using base = penalty_chunk<Config, M>;
  using base::begin_factor, base::get, base::load_factor, base::put, base::put_row;
  using base::save_factor, base::set_factor, base::take_in;

 public:
  WANE_HOST_DEVICE penalty_walk(M& machine, penalty_arguments<Op, State> const& a, index block)
      : base(machine, a.layout, a.shape.rows),
        a_(a),
        sequence_head_(block % a.sequence_heads()),
        segment_(block / a.sequence_heads()),
        head_(sequence_head_ % a.shape.heads),
        sequence_(sequence_head_ / a.shape.heads),
        lambda_(static_cast<float>(a.op.lambda(head_))) {}

  // Finds the factors before segments, one after the other. factor_before(1) is already complete.
  // Each later one holds at first the factor that the directions of the segment before it make from
  // zero.
  WANE_HOST_DEVICE void link() {
    load_factor(a_.factor_before(1, sequence_head_));
    for (index n = 2; n < a_.segments.count; ++n) {
      float* const other = a_.factor_before(n, sequence_head_);
      for (int first = 0; first < rows_; first += tokens) {
        token_numbers w = {};
        for_tokens([&](auto t) WANE_INLINE_LAMBDA {
          int const i = first + t;
          if (i <= row_ && present()) w.of[t] = other[place_in_triangle(rows_, i, row_)];
        });
        take_in(w, first);
      }
      save_factor(other);
    }
  }

 protected:
  using base::at_, base::machine_, base::row_, base::rows_, base::tokens;
  using base::for_tokens, base::numbers_at, base::present, base::r, base::scale;
  static constexpr bool fades = fading_penalty<Op>;
  using part = chunk_segments::part;

  // Calls use(tokens, k, count, keys, directions) for every chunk before its directions enter R.
  // Makes no calls where the walk finds only the effects of segments.
  template <class Use>
  WANE_INLINE void walk(Use const& use) {
    sequence_tokens const of(a_.sequences, sequence_);
    index const end = is_last() ? of.count : (segment_ + 1) * a_.segments.tokens;
    bool const effects = a_.segments.now == part::effects;
    if (a_.segments.now == part::outputs)
      load_factor(a_.factor_before(segment_, sequence_head_));
    else if (segment_ > 0)
      begin_factor(0.f);
    else
      load(of.count > 0);
    if (effects && segment_ == 0) save_factor(a_.factor_before(0, sequence_head_));
    for (index k = segment_ * a_.segments.tokens; k < end;) {
      int const count = fade(of, k, static_cast<int>(at_most(index{tokens}, end - k)));
      bool const own = a_.op.penalises_keys();
      bring(of, k, count, own);
      machine_.barrier();
      token_numbers key = {}, direction = {};
      if (present()) {
        key = numbers_at(at_.first, row_ * token_stride);
        direction = own ? key : numbers_at(at_.second, row_ * token_stride);
      }
      if constexpr (fades) scale(direction, over_);
      if (!effects) use(of, k, count, key, direction);
      take_in(direction, 0);
      k += count;
    }
    if (effects) return save_factor(a_.factor_before(segment_ + 1, sequence_head_));
    if (is_last() && a_.final.data) save();
  }
  WANE_HOST_DEVICE bool is_last() const { return segment_ + 1 == a_.segments.count; }

  // Sums over rows, one for each token. Overwrites the array `first`.
  WANE_INLINE token_numbers sum_of_rows(token_numbers const& x) const {
    constexpr int parts = Config::threads / tokens;
    put_row(at_.first, x);
    machine_.barrier();
    float sum = 0;
    for (int i = row_ / tokens; i < rows_; i += parts)
      sum += get(at_.first, i * token_stride + row_ % tokens);
    put(at_.sums, row_, sum);
    machine_.barrier();
    token_numbers total = {};
    for (int n = 0; n < parts; ++n) {
      token_numbers const of_part = numbers_at(at_.sums, n * tokens);
      for_tokens([&](auto t) WANE_INLINE_LAMBDA { total.of[t] += of_part.of[t]; });
    }
    return total;
  }

  penalty_arguments<Op, State> const& a_;
  index const sequence_head_, segment_, head_, sequence_;
  token_numbers over_{};  // 1/sqrt(l) at each token

 private:
  // A state of zeros means that no token was seen. It stays zeros where the sequence has no tokens.
  WANE_INLINE void load(bool sees) {
    auto const state = [&](index i, index j) WANE_INLINE_LAMBDA {
      return static_cast<float>(a_.initial(sequence_, head_, i, a_.values + j));
    };
    if (!a_.initial.data || state(0, 0) == 0.f) {
      using std::sqrt;
      begin_factor(sees ? sqrt(lambda_) : 0.f);
    } else {
      set_factor([&](int i) WANE_INLINE_LAMBDA { return state(i, row_); });
    }
    if constexpr (fades)
      if (a_.initial.data) left_.log = state(0, rows_);
  }
  WANE_INLINE void save() const {
    if (!present()) return;
    auto const state = [&](index i, index j) WANE_INLINE_LAMBDA -> State& {
      return a_.final(sequence_, head_, i, a_.values + j);
    };
    for (int i = 0; i < rows_; ++i)
      state(i, row_) = static_cast<State>(i <= row_ ? r(i, row_) : 0.f);
    if constexpr (fades) state(row_, rows_) = static_cast<State>(row_ == 0 ? left_.log : 0.f);
  }

  // Applies the decays of up to `most` tokens from k on, and returns how many. It stops before any
  // later token at which M must be renewed, so M is renewed only before the first token.
  WANE_INLINE int fade(sequence_tokens const& of, index k, int most) {
    if constexpr (fades)
      for_tokens([&](auto t) WANE_INLINE_LAMBDA {
        over_.of[t] = 0.f;
        if (t >= most) return;
        penalty_left<float> left = left_;
        bool const renewed = left.fades_too_far(a_.op, of.at(k + t, head_));
        if (renewed && t > 0) {
          most = t;
          return;
        }
        if (row_ == 0) mark(of, k + t, left.log, renewed);
        if constexpr (t == 0)
          if (renewed) {
            renew(left.log);
            left.log = 0;
          }
        left_ = left;
        over_.of[t] = left.over();
      });
    return most;
  }
  WANE_INLINE void mark(sequence_tokens const& of, index k, float log_left, bool renewed) const {
    a_.marks.lefts.write(of.at(k, head_), log_left), a_.marks.decays.write(of.at(k, head_), 0.f);
    if (k > 0) a_.marks.log_decays.write(of.at(k - 1, head_), renewed ? log_left : 0.f);
    if (k + 1 == of.count) a_.marks.log_decays.write(of.at(k, head_), 0.f);
  }
  // R^T R <- l R^T R + (1 - l) lambda I; see renew_penalty.
  WANE_INLINE void renew(float log_left) {
    using std::exp, std::expm1, std::sqrt;
    float const root = exp(log_left / 2), given = sqrt(-expm1(log_left) * lambda_);
    if (nothing_is_left(log_left)) return begin_factor(sqrt(lambda_));
    set_factor([&](int i) WANE_INLINE_LAMBDA { return root * r(i, row_); });
    for (int first = 0; first < rows_; first += tokens) {
      token_numbers w;
      for_tokens([&](auto t) WANE_INLINE_LAMBDA { w.of[t] = row_ == first + t ? given : 0.f; });
      take_in(w, first);
    }
  }

  // Copies keys and directions of the chunk to shared memory. Several threads copy one token.
  // Absent tokens become zeros.
  WANE_INLINE void bring(sequence_tokens const& of, index k, int count, bool own) const {
    constexpr int parts = Config::threads / tokens;
    int const t = row_ / parts, part_of_token = row_ % parts;
    place<> const where = of.at(k + (t < count ? t : 0), head_);
    auto const rows = [&](std::size_t array, auto const& x) WANE_INLINE_LAMBDA {
      for (int i = part_of_token; i < rows_; i += parts)
        put(array, i * token_stride + t, t < count ? x(i) : 0.f);
    };
    auto const sums = sums_of_lanes<M, parts, Config::most_rows>(machine_);
    auto const x = a_.op.terms_at(where, sums);
    rows(at_.first, [&](index i) WANE_INLINE_LAMBDA { return x.key(i); });
    if (!own) rows(at_.second, a_.op.direction_at(where, sums));
  }

  float const lambda_;
  penalty_left<float> left_{};
};

}  // namespace wane::cuda::impl
