// chunk_walk: one thread of the chunk kernel, which takes columns of the state through all tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/chunks/warp.hpp"

namespace wane::cuda::impl {

template <class Config, class Precision, machine M, class Op, class Out, class State>
class chunk_walk : chunk_warp<Config, Precision, M, chunk_arguments<Op, Out, State>> {
  using base = chunk_warp<Config, Precision, M, chunk_arguments<Op, Out, State>>;
  using base::a_, base::at_, base::machine_, base::products_;
  using base::tokens, base::erases, base::general, base::of_factor;
  using typename base::Token, typename base::fragment, typename base::token_fragments,
      typename base::warp_state, typename base::stored;
  using part = chunk_segments::part;

 public:
  WANE_HOST_DEVICE chunk_walk(M& machine, chunk_arguments<Op, Out, State> const& a)
      : base(machine, a) {}

  WANE_INLINE void operator()() {
    this->for_work(a_.pieces_now(), [&](index n) WANE_INLINE_LAMBDA { walk(n); });
    write_positions(machine_, a_, a_.tickets + 1,
                    this->template shared<std::uint64_t>(at_.ticket) + 1);
  }

 private:
  WANE_INLINE void walk(index segment) {
    // What the first makes of unit vectors nobody asks.
    if (a_.segments.now == part::effects && segment == 0 && this->piece_ >= a_.pieces) return;
    sequence_tokens const of(a_.sequences, this->sequence_);
    bool const last = segment + 1 == a_.segments.count;
    index const end = last ? of.count : (segment + 1) * a_.segments.tokens;
    warp_state state;
    begin(state, segment);
    int one_by_one = 0;  // tokens that are to be taken so
    for (index k = segment * a_.segments.tokens; k < end;) {
      int const n = one_by_one > 0 ? 1 : static_cast<int>(at_most(index{tokens}, end - k));
      bool const present = this->token() < n;
      auto const where = of.at(k + at_most(this->token(), n - 1), this->head_);
      auto const found = this->bring(where, present, n == tokens, this->first_column());
      if (index const next = k + tokens + this->token(); n == tokens && next < end)
        this->ask_for(of.at(next, this->head_));
      // A product with a decay of 0 is a reset only of finite numbers, and one with a token that is
      // not read is 0 only of these.
      bool const resets = machine_.any(found.resets || (n > 1 && !found.finite()));
      if (k % tokens == 0 && !one_by_one) keep(state, k);
      if (resets && n > 1) {
        one_by_one = n;
        continue;
      }
      this->prepare({resets, resets});
      advance(state, resets);
      machine_.barrier();
      if (present && has_outputs()) give_outputs(where);
      k += n, one_by_one -= one_by_one > 0;
    }
    if (a_.segments.now == part::effects)
      this->save(state, this->before(segment + 1));
    else if (last)
      this->save(state, a_.final);
  }

  WANE_INLINE void give_outputs(place<> where) const {
    index const first = this->first_column();
    this->for_columns([&](int j, auto) WANE_INLINE_LAMBDA {
      if (first + j < a_.shape.columns)
        a_.output.write(where, first + j,
                        this->template get<float>(at_.value, this->value_at(this->token(), j)));
    });
  }
  // Is what tokens read asked for?
  WANE_INLINE bool has_outputs() const {
    return a_.output.data && a_.segments.now != part::effects;
  }

  // The state that a segment begins with, or unit vectors behind the state's columns.
  WANE_INLINE void begin(warp_state& state, index segment) const {
    if (this->piece_ < a_.pieces) return base::begin(state, a_.initial, segment);
    index const unit = (this->piece_ - a_.pieces) * Config::columns;
    this->template over_state<base::fragments>([&](auto r) WANE_INLINE_LAMBDA {
      state[r] = {};
      for (int e = 0; e < 4; ++e)
        if (8 * r + products_.column() + e % 2 == unit + this->column_of_number(e))
          state[r].of[e] = 1.f;
    });
  }

  // The state before the chunk that begins with token k.
  WANE_INLINE void keep(warp_state const& state, index k) const {
    if (a_.kept && a_.segments.now != part::effects)
      this->save(state, this->kept(this->place_of_chunk(k)));
  }

  // The chunk that is prepared, through the columns of this warp.
  WANE_INLINE void advance(warp_state& state, bool alone) {
    bool const reads = has_outputs();
    token_fragments read, erased;
    if (alone) {
      if constexpr (erases)
        this->for_factors([&](auto k, int row) WANE_INLINE_LAMBDA {
          fragment s[of_factor];
          unroll<of_factor>([&](auto n) WANE_INLINE_LAMBDA {
            s[n] = where_read(state[k * of_factor + n], row + 8 * n);
          });
          this->add_reads(erased, products_.left_of(s), at_.faded_read, row);
        });
      this->fade(state);
    }
    this->for_factors([&](auto k, int row) WANE_INLINE_LAMBDA {
      auto const s = products_.left_of(state + k * of_factor);
      if constexpr (erases)
        if (!alone) this->add_reads(erased, s, at_.faded_read, row);
      if (reads) this->add_reads(read, s, at_.faded_query, row);
    });
    token_fragments const value = this->columns_of(at_.value);
    token_fragments written = value;
    if constexpr (erases) {
      erased = this->scaled(erased, at_.before_token);
      this->erase(value, erased, written);
    }
    if (reads) {
      read = this->scaled(read, at_.to_token);
      if constexpr (general) this->add(read, erased, at_.query_write);
      this->add(read, written, at_.query_key);
      if constexpr (has_direct<Token>)
        this->for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
          float const direct = this->template get<float>(at_.direct, this->token_of_number(n, e));
          read.of[n].of[e] = multiply_add(direct, value.of[n].of[e], read.of[n].of[e]);
        });
    }
    this->write_faded(state, this->scaled(written, at_.to_end), at_.faded_key, alone);
    if constexpr (general) this->write(state, this->scaled(erased, at_.to_end), at_.faded_write);
    if (reads) this->put_columns(at_.value, read);
  }

  // A fragment of the state, but for rows that a token which resets does not read to erase.
  WANE_INLINE fragment where_read(fragment s, int row) const {
    for (int e = 0; e < 4; ++e)
      if (static_cast<float>(
              this->template get<stored>(at_.faded_read, row + products_.column() + e % 2)) == 0.f)
        s.of[e] = 0.f;
    return s;
  }
};

}  // namespace wane::cuda::impl
