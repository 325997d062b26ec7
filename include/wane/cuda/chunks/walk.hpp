// chunk_walk: one thread of the chunk kernel, which takes columns of the state through all tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/call/positions.hpp"
#include "wane/cuda/chunks/pairs.hpp"
#include "wane/cuda/chunks/warp.hpp"

namespace wane::cuda::impl {

template <class Config, class Precision, machine M, class Op, class Out, class State>
class chunk_walk {
  using Arguments = chunk_arguments<Op, Out, State>;
  using form = chunk_form<Config, Precision, Arguments>;
  using Token = typename form::Token;
  using stored = typename form::stored;
  using warp = chunk_warp<Config, Precision, M, Arguments>;
  using fragment = typename unit_products<Precision, M>::fragment;
  using token_fragments = typename warp::token_fragments;
  using warp_state = typename warp::warp_state;
  static constexpr int of_factor = warp::of_factor;
  using part = chunk_segments::part;

 public:
  WANE_HOST_DEVICE chunk_walk(M& machine, Arguments const& a) : machine_(machine), a_(a) {}

  WANE_INLINE void operator()() {
    warp_.for_work(a_.pieces_now(), [&](index n) WANE_INLINE_LAMBDA { walk(n); });
    write_positions(machine_, a_, a_.tickets + 1,
                    arrays_.template shared<std::uint64_t>(form::at.ticket) + 1);
  }

 private:
  WANE_INLINE void walk(index segment) {
    // Segment 0 starts from the real state, so its transition matrix is not needed.
    if (a_.segments.now == part::effects && segment == 0 && warp_.piece >= a_.pieces) return;
    sequence_tokens const of(a_.sequences, warp_.sequence);
    bool const last = segment + 1 == a_.segments.count;
    index const end = last ? of.count : (segment + 1) * a_.segments.tokens;
    warp_state state;
    begin(state, segment);
    int one_by_one = 0;  // how many of the next tokens are taken one at a time
    for (index k = segment * a_.segments.tokens; k < end;) {
      int const n = one_by_one > 0 ? 1 : static_cast<int>(at_most(index{form::tokens}, end - k));
      bool const present = terms_.token() < n;
      auto const where = of.at(k + at_most(terms_.token(), n - 1), warp_.head);
      auto const found = pairs_.bring(where, present, n == form::tokens, warp_.first_column());
      if (index const next = k + form::tokens + terms_.token(); n == form::tokens && next < end)
        terms_.ask_for(of.at(next, warp_.head));
      // 0 times a value is 0 only if the value is finite. So a chunk with a decay of 0, or with a
      // value that is not finite, is taken again token by token.
      bool const resets = machine_.any(found.resets || (n > 1 && !found.finite()));
      if (k % form::tokens == 0 && !one_by_one) keep(state, k);
      if (resets && n > 1) {
        one_by_one = n;
        continue;
      }
      pairs_.prepare({resets, resets});
      advance(state, resets);
      machine_.barrier();
      if (present && has_outputs()) give_outputs(where);
      k += n, one_by_one -= one_by_one > 0;
    }
    if (a_.segments.now == part::effects)
      warp_.save(state, warp_.before(segment + 1));
    else if (last)
      warp_.save(state, a_.final);
  }

  WANE_INLINE void give_outputs(place<> where) const {
    index const first = warp_.first_column();
    pairs_.for_columns([&](int j, auto) WANE_INLINE_LAMBDA {
      if (first + j < a_.shape.columns)
        a_.output.write(
            where, first + j,
            arrays_.template get<float>(form::at.value, form::value_at(terms_.token(), j)));
    });
  }
  // Whether outputs are wanted.
  WANE_INLINE bool has_outputs() const {
    return a_.output.data && a_.segments.now != part::effects;
  }

  // The state before a segment, or unit vectors in the pieces of T.
  WANE_INLINE void begin(warp_state& state, index segment) const {
    if (warp_.piece < a_.pieces) return warp_.begin(state, a_.initial, segment);
    index const unit = (warp_.piece - a_.pieces) * Config::columns;
    warp_.template over_state<warp::fragments>([&](auto r) WANE_INLINE_LAMBDA {
      state[r] = {};
      for (int e = 0; e < 4; ++e)
        if (8 * r + products_.column() + e % 2 == unit + warp_.column_of_number(e))
          state[r].of[e] = 1.f;
    });
  }

  // Keeps the state before the chunk that begins with token k, where states are kept.
  WANE_INLINE void keep(warp_state const& state, index k) const {
    if (a_.kept && a_.segments.now != part::effects)
      warp_.save(state, warp_.kept(warp_.place_of_chunk(k)));
  }

  // Takes the columns of this warp through the prepared chunk.
  WANE_INLINE void advance(warp_state& state, bool alone) {
    bool const reads = has_outputs();
    token_fragments read, erased;
    if (alone) {
      if constexpr (form::erases)
        warp_.for_factors([&](auto k, int row) WANE_INLINE_LAMBDA {
          fragment s[of_factor];
          unroll<of_factor>([&](auto n) WANE_INLINE_LAMBDA {
            s[n] = where_read(state[k * of_factor + n], row + 8 * n);
          });
          warp_.add_reads(erased, products_.left_of(s), form::at.faded_read, row);
        });
      if constexpr (form::reads_old)
        if (reads)
          warp_.for_factors([&](auto k, int row) WANE_INLINE_LAMBDA {
            warp_.add_reads(read, products_.left_of(state + k * of_factor), form::at.faded_query,
                            row);
          });
      warp_.fade(state);
    }
    warp_.for_factors([&](auto k, int row) WANE_INLINE_LAMBDA {
      auto const s = products_.left_of(state + k * of_factor);
      if constexpr (form::erases)
        if (!alone) warp_.add_reads(erased, s, form::at.faded_read, row);
      if (reads && !(alone && form::reads_old)) warp_.add_reads(read, s, form::at.faded_query, row);
    });
    token_fragments const value = warp_.columns_of(form::at.value);
    token_fragments written = value;
    if constexpr (form::erases) {
      erased = warp_.scaled(erased, form::at.before_token);
      warp_.erase(value, erased, written);
    }
    if (reads) {
      read = warp_.scaled(read, form::at.to_token);
      if constexpr (form::general) warp_.add(read, erased, form::at.query_write);
      warp_.add(read, written, form::at.query_key);
      if constexpr (has_direct<Token>)
        warp_.for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
          float const direct =
              arrays_.template get<float>(form::at.direct, warp_.token_of_number(n, e));
          read.of[n].of[e] = multiply_add(direct, value.of[n].of[e], read.of[n].of[e]);
        });
    }
    warp_.write_faded(state, warp_.scaled(written, form::at.to_end), form::at.faded_key, alone);
    if constexpr (form::general)
      warp_.write(state, warp_.scaled(erased, form::at.to_end), form::at.faded_write);
    if (reads) warp_.put_columns(form::at.value, read);
  }

  // A fragment of the state with zeros in the rows that the erasing token does not read.
  WANE_INLINE fragment where_read(fragment s, int row) const {
    for (int e = 0; e < 4; ++e)
      if (static_cast<float>(arrays_.template get<stored>(form::at.faded_read,
                                                          row + products_.column() + e % 2)) == 0.f)
        s.of[e] = 0.f;
    return s;
  }

  M& machine_;
  Arguments const& a_;
  shared_arrays<M> const arrays_{machine_};
  chunk_terms<Config, Precision, M, Arguments> const terms_{machine_, a_};
  chunk_pairs<Config, Precision, M, Arguments> const pairs_{machine_, a_};
  unit_products<Precision, M> const products_{machine_};
  warp warp_{machine_, a_};
};

}  // namespace wane::cuda::impl
