// chunk_terms: reads the terms of a chunk; several threads share each token.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "wane/core/recurrence/row_lanes.hpp"
#include "wane/cuda/chunks/form.hpp"
#include "wane/cuda/machine/lane_sums.hpp"
#include "wane/cuda/machine/shared_arrays.hpp"

namespace wane::cuda::impl {

// One thread of a block.
template <class Config, class Precision, machine M, class Arguments>
class chunk_terms {
  using form = chunk_form<Config, Precision, Arguments>;
  using Op = typename form::Op;
  using Token = typename form::Token;

 public:
  WANE_HOST_DEVICE chunk_terms(M& machine, Arguments const& a) : machine_(machine), a_(a) {}

  // The token of this thread, and the first row or column that the thread takes. Its other rows or
  // columns follow `lanes` apart.
  WANE_INLINE int token() const { return machine_.thread() / form::lanes; }
  WANE_INLINE int lane() const { return machine_.thread() % form::lanes; }

  // Whether a token has a decay of 0, and whether all its values are finite.
  struct sight {
    bool resets = false;
    float zero = 0;  // the sum of 0 times each of its values: NaN where one is not finite
    WANE_INLINE bool finite() const { return zero == 0.f; }
    WANE_INLINE float note(float x) {
      zero = multiply_add(x, 0.f, zero);
      return x;
    }
    WANE_INLINE void note_decay(float stated) { resets = resets || is_reset(stated), note(stated); }
  };

  // Calls body(std::true_type{}) where all rows that the kernel has room for exist and `otherwise`
  // is true, else body(std::false_type{}). Adjoints and kernels with more rows lack the registers
  // for the first.
  template <class Body>
  WANE_INLINE void whole_or_not(bool otherwise, Body const& body) const {
    if constexpr (form::rows <= (form::general && form::by_row ? 64 : 128) && !Arguments::goes_back)
      if (a_.shape.rows == form::rows && otherwise) return body(std::true_type{});
    body(std::false_type{});
  }

  // Prefetches the cache lines that hold `count` numbers. The threads of a token share them.
  struct asks {
    static constexpr index cache_line = 128;
    M& machine;
    int lane;

    template <class T>
    WANE_INLINE void operator()(T const* row, index count) const {
      auto const* const first = reinterpret_cast<std::byte const*>(row);
      auto const before = static_cast<index>(reinterpret_cast<std::uintptr_t>(row) % cache_line);
      index const bytes = before + count * static_cast<index>(sizeof(T));
      for (index at = lane * cache_line; at < bytes; at += form::lanes * cache_line)
        machine.ask_for(first + at_least(index{0}, at - before));
    }
    WANE_INLINE void number(void const* x) const {
      if (lane == 0) machine.ask_for(x);
    }
  };
  // Prefetches the terms of a token, if the operator tells their addresses.
  WANE_INLINE void ask_for(place<> where) const {
    if constexpr (knows_rows<Op>) a_.op.each_row(where, asks{machine_, lane()});
  }

  // A token whose threads find its sums together. All threads of a warp must call this.
  WANE_INLINE Token shared_token(place<> where) const {
    return token_at(a_.op, where, lane_sums<M, form::lanes, form::rows>{machine_});
  }

  // The terms of a token in one row. Those of an absent token neither read, write nor fade.
  struct row_terms {
    float query = 0, key = 0, read = 0, write = 0, decay = form::in_logs ? 0.f : 1.f;
  };
  // Calls take(row, terms) for the rows of this thread, then stores the decay of a head. Several
  // rows are loaded before the first is taken, so that their loads overlap.
  template <bool Whole, class Take>
  WANE_INLINE void bring_rows(Token const& x, bool present, std::bool_constant<Whole>, sight& seen,
                              Take const& take) const {
    constexpr int each = form::rows / form::lanes, together = rows_at_once(each);
    static_assert(form::rows % form::lanes == 0);
    int const there = static_cast<int>(a_.shape.rows);
    unroll_if<Whole, each / together>([&](auto turn) WANE_INLINE_LAMBDA {
      int const first = turn * together * form::lanes + lane();
      row_terms of[together];
      unroll<together>([&](auto n) WANE_INLINE_LAMBDA {
        // An absent row is replaced by the last one, which other threads have noted.
        int const i = first + n * form::lanes;
        row_terms& r = of[n];
        r = terms_of(x, Whole ? i : at_most(i, there - 1));
        seen.note(r.query), seen.note(r.key), seen.note(r.read), seen.note(r.write);
        if constexpr (form::by_row) seen.note_decay(r.decay);
      });
      unroll<together>([&](auto n) WANE_INLINE_LAMBDA {
        int const i = first + n * form::lanes;
        take(i, Whole || (present && i < there) ? of[n] : row_terms{});
      });
    });
    if constexpr (form::fades && !form::by_row)
      if (lane() == 0) {
        float const stated = present ? decay(x, 0) : row_terms{}.decay;
        seen.note_decay(stated);
        arrays_.template put<float>(form::at.decay, token(), stated),
            arrays_.template put<float>(form::at.factor, token(), factor(stated));
      }
  }

  WANE_INLINE static float factor(float stated) {
    if constexpr (form::in_logs)
      return factor_of(decay_from_log(stated));
    else
      return stated;
  }
  WANE_INLINE static bool is_reset(float stated) {
    if constexpr (form::in_logs)
      return decay_from_log(stated).whole == 0.f;
    else
      return stated == 0.f;
  }

 private:
  WANE_INLINE static float decay(Token const& x, index i) {
    if constexpr (has_row_log_decay<Token>)
      return x.log_decay(i);
    else if constexpr (has_log_decay<Token>)
      return x.log_decay();
    else if constexpr (has_row_plain_decay<Token>)
      return x.decay(i);
    else
      return x.decay();
  }
  WANE_INLINE static row_terms terms_of(Token const& x, index i) {
    row_terms r;
    r.query = x.query(i), r.key = x.key(i);
    if constexpr (form::erases) r.read = x.erase_read(i);
    if constexpr (form::general) r.write = x.erase_write(i);
    if constexpr (form::by_row) r.decay = decay(x, i);
    return r;
  }

  M& machine_;
  Arguments const& a_;
  shared_arrays<M> const arrays_{machine_};
};

}  // namespace wane::cuda::impl
