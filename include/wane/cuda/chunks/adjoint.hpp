// chunk_adjoint: one thread of the kernel that takes gradients back through the chunks of a run.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/chunks/adjoint_plan.hpp"
#include "wane/cuda/chunks/pairs.hpp"
#include "wane/cuda/chunks/warp.hpp"

namespace wane::cuda::impl {

// S is the state before a chunk, G the cotangent of the state after it. What the chunk writes and
// erases is found again from S, as in chunk_walk. The cotangents of both follow from the last token
// to the first by the same products, transposed, and
//   G <- P G + sum_t (q_t P_t) dy_t^T + (b_t P_{t-1}) du_t^T.
// Sums over columns go to memory; chunk_gradients turns them into gradients of tokens.
template <class Config, class Precision, machine M, class Op, class Out, class Gradients,
          class State>
class chunk_adjoint {
  using Arguments = chunk_adjoint_arguments<Op, Out, Gradients, State>;
  using form = chunk_form<Config, Precision, Arguments>;
  using Token = typename form::Token;
  using stored = typename form::stored;
  using warp = chunk_warp<Config, Precision, M, Arguments>;
  using fragment = typename unit_products<Precision, M>::fragment;
  using token_fragments = typename warp::token_fragments;
  using warp_state = typename warp::warp_state;
  static constexpr int of_factor = warp::of_factor;
  using terms = chunk_terms<Config, Precision, M, Arguments>;
  using numbers = typename chunk_sums<Token>::numbers;
  using kept_state = chunk_state_memory<stored>;
  using Sink = sink_of<Gradients, Op>;
  static constexpr bool sums = takes_sums<Gradients, Op>;
  static constexpr int column_step = column_stride<Config>;

 public:
  WANE_HOST_DEVICE chunk_adjoint(M& machine, Arguments const& a) : machine_(machine), a_(a) {}

  WANE_INLINE void operator()() {
    warp_.for_work(a_.pieces, [&](index n) WANE_INLINE_LAMBDA { walk(n); });
  }

 private:
  // n counts segments from the last.
  WANE_INLINE void walk(index n) {
    sequence_tokens const of(a_.sequences, warp_.sequence);
    index const start = (a_.segments.count - 1 - n) * a_.segments.tokens;
    index const end = n == 0 ? of.count : start + a_.segments.tokens;
    warp_state cotangent;
    warp_.begin(cotangent, a_.final_gradient, n);
    for (index c = chunks_in(end) - 1; c >= start / form::tokens; --c) {
      index const first = c * form::tokens, number = warp_.place_of_chunk(first);
      bool const present = first + terms_.token() < of.count;
      auto const where = of.at(at_most(first + terms_.token(), of.count - 1), warp_.head);
      bool const resets = machine_.any(
          pairs_.bring(where, present, first + form::tokens <= of.count, warp_.first_column())
              .resets);
      bring_output_gradient(where, present);
      if (first > 0) ask_for(of.at(first - form::tokens + terms_.token(), warp_.head));
      pairs_.prepare({resets, false});
      take(cotangent, number);
      if constexpr (takes_columns<Sink, index, float>)
        if (present && gives()) give_columns(where);
      machine_.barrier();
    }
    if (!gives())
      warp_.save(cotangent, warp_.before(n + 1));
    else if (start == 0)
      warp_.save(cotangent, a_.initial_gradient);
  }
  // Whether gradients are wanted, not only the effect of a segment on cotangents.
  WANE_INLINE bool gives() const { return a_.segments.now != chunk_segments::part::effects; }

  WANE_INLINE void ask_for(place<> where) const {
    terms_.ask_for(where);
    typename terms::asks{machine_, terms_.lane()}(
        a_.output_gradient.element(where, warp_.first_column()),
        at_most(a_.shape.columns - warp_.first_column(), index{Config::columns}));
  }
  WANE_INLINE void bring_output_gradient(place<> where, bool present) const {
    pairs_.for_columns([&](int j, auto) WANE_INLINE_LAMBDA {
      index const column = warp_.first_column() + j;
      arrays_.template put<float>(form::at.output_gradient, form::value_at(terms_.token(), j),
                                  present && column < a_.shape.columns
                                      ? convert<float>(a_.output_gradient.read(where, column))
                                      : 0.f);
    });
  }
  WANE_INLINE void give_columns(place<> where) const {
    auto const sink = sink_at(a_.gradients, a_.op, where);
    pairs_.for_columns([&](int j, auto) WANE_INLINE_LAMBDA {
      index const column = warp_.first_column() + j;
      if (column < a_.shape.columns)
        sink.column(column, arrays_.template get<float>(form::at.value_gradient,
                                                        form::value_at(terms_.token(), j)));
    });
  }

  // Takes the cotangent back through the prepared chunk, for the columns of this warp. Where the
  // gradients of the values are given to the sink, a barrier follows them.
  WANE_INLINE void take(warp_state& cotangent, index number) {
    token_fragments const value = warp_.columns_of(form::at.value);
    token_fragments const of_output = warp_.columns_of(form::at.output_gradient);
    token_fragments of_value, of_erased;
    if constexpr (form::erases)
      if (gives()) put_written(value, number);
    warp_.for_factors([&](auto k, int row) WANE_INLINE_LAMBDA {
      auto const g = products_.left_of(cotangent + k * of_factor);
      warp_.add_writes(of_value, g, form::at.faded_key, row);
      if constexpr (form::general) warp_.add_writes(of_erased, g, form::at.faded_write, row);
    });
    of_value = warp_.scaled(of_value, form::at.to_end);
    warp_.template add<true>(of_value, of_output, form::at.query_key);
    if constexpr (form::general) {
      of_erased = warp_.scaled(of_erased, form::at.to_end);
      warp_.template add<true>(of_erased, of_output, form::at.query_write);
      of_erased = warp_.template product<true>(of_erased, form::at.inverse);
      warp_.template add<true>(of_value, of_erased, form::at.read_key);
    } else if constexpr (form::erases) {
      of_value = warp_.template product<true>(of_value, form::at.inverse);
      warp_.for_numbers([&](int n, int e)
                            WANE_INLINE_LAMBDA { of_erased.of[n].of[e] = -of_value.of[n].of[e]; });
    }
    if constexpr (form::erases) warp_.put_columns(form::at.erased_gradient, of_erased);
    if constexpr (has_direct<Token>)
      warp_.for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
        float const direct =
            arrays_.template get<float>(form::at.direct, warp_.token_of_number(n, e));
        of_value.of[n].of[e] = multiply_add(direct, of_output.of[n].of[e], of_value.of[n].of[e]);
      });
    warp_.put_columns(form::at.value_gradient, of_value);
    if constexpr (sums)
      if (gives()) give_sums(cotangent, number);
    warp_.template write_faded<true>(cotangent, warp_.scaled(of_output, form::at.to_token),
                                     form::at.faded_query, false);
    if constexpr (form::erases)
      warp_.template write<true>(cotangent, warp_.scaled(of_erased, form::at.before_token),
                                 form::at.faded_read);
    if constexpr (!sums) machine_.barrier();
  }

  // Stores what the tokens write, or what they erase in a general memory, from the state before the
  // chunk.
  WANE_INLINE void put_written(token_fragments const& value, index number) const {
    token_fragments erased, written;
    auto const kept = warp_.kept(number);
    warp_.for_factors([&](auto k, int row) WANE_INLINE_LAMBDA {
      fragment s[of_factor];
      unroll<of_factor>([&](auto n) WANE_INLINE_LAMBDA {
        for (int e = 0; e < 4; ++e) s[n].of[e] = kept.read(k * of_factor + n, e);
      });
      warp_.add_reads(erased, products_.left_of(s), form::at.faded_read, row);
    });
    erased = warp_.scaled(erased, form::at.before_token);
    warp_.erase(value, erased, written);
    warp_.put_columns(form::at.written, form::general ? erased : written);
  }

  WANE_INLINE void give_sums(warp_state const& cotangent, index number) const {
    int const all = static_cast<int>(whole_rows(a_.shape.rows));
    chunk_sums<Token> const of{all};
    stored* const to = a_.sums + (number * a_.pieces + warp_.piece) * of.size();
    kept_state const kept = warp_.kept(number);
    warp_.template over_state<(warp::fragments + 3) / 4>([&](auto part) WANE_INLINE_LAMBDA {
      int const first = part * 4;
      if (8 * first >= all) return;
      if (part > 0) machine_.barrier();
      unroll<4>([&](auto n) WANE_INLINE_LAMBDA {
        int const r = first + n;
        if (r < warp::fragments && 8 * r < all) put_rows(cotangent[r], kept, r, n);
      });
      machine_.barrier();
      int const now = at_most(all - 8 * first, rows_at_a_time);
      for (int n = machine_.thread() / warp_size; 8 * n < now; n += form::warps)
        multiply_rows(to, of, 8 * first, 8 * n);
      if constexpr (form::fades) multiply_states(to, of, 8 * first, now);
    });
    multiply_columns(to, of);
  }
  // Stores tile r of cotangent and state in [row][column], from row 8 n on.
  WANE_INLINE void put_rows(fragment const& cotangent, kept_state const& kept, int r, int n) const {
    for (int e = 0; e < 4; ++e) {
      int const to = (8 * n + products_.column() + e % 2) * column_step + warp_.column_of_number(e);
      arrays_.template put<float>(form::at.cotangent, to, cotangent.of[e]);
      arrays_.template put<float>(form::at.state, to, kept.read(r, e));
    }
  }
  WANE_INLINE std::size_t under_keys() const {
    return is_delta_rule<Token> ? form::at.written : form::at.value;
  }
  // The sums over columns of eight rows times every token.
  WANE_INLINE void multiply_rows(stored* to, chunk_sums<Token> const& of, int first,
                                 int row) const {
    multiply_row_kind(to, of, numbers::of_query, form::at.output_gradient, form::at.state, first,
                      row);
    multiply_row_kind(to, of, numbers::of_key, under_keys(), form::at.cotangent, first, row);
    if constexpr (form::erases)
      multiply_row_kind(to, of, numbers::of_read, form::at.erased_gradient, form::at.state, first,
                        row);
    if constexpr (form::general)
      multiply_row_kind(to, of, numbers::of_write, form::at.written, form::at.cotangent, first,
                        row);
  }
  WANE_INLINE void multiply_row_kind(stored* to, chunk_sums<Token> const& of, int number,
                                     std::size_t tokens_of, std::size_t rows_of, int first,
                                     int row) const {
    fragment const sum =
        pairs_.template pairs<float, Config::columns, column_step>(tokens_of, rows_of, row / 8);
    for (int e = 0; e < 4; ++e)
      to[of.of_row(number + products_.row() + 8 * (e / 2),
                   first + row + products_.column() + e % 2)] = stored(sum.of[e]);
  }
  // S . G of every row; four threads share a row.
  WANE_INLINE void multiply_states(stored* to, chunk_sums<Token> const& of, int first,
                                   int count) const {
    for (int n = machine_.thread(); n < 4 * rows_at_a_time; n += Config::threads) {
      int const row = n / 4;
      float sum = 0;
      for (int j = n % 4; row < count && j < Config::columns; j += 4)
        sum = multiply_add(arrays_.template get<float>(form::at.state, row * column_step + j),
                           arrays_.template get<float>(form::at.cotangent, row * column_step + j),
                           sum);
      sum = sum_of_neighbours<4>(machine_, sum);
      if (n % 4 == 0 && row < count) to[of.of_row(numbers::of_state, first + row)] = stored(sum);
    }
  }
  // The sums of pairs of tokens, and of direct.
  WANE_INLINE void multiply_columns(stored* to, chunk_sums<Token> const& of) const {
    auto const multiply = [&](int kind, std::size_t reader, std::size_t writer) {
      for (int n = 0; n < 2; ++n)
        if ((2 * kind + n) % form::warps == machine_.thread() / warp_size) {
          fragment const sum =
              pairs_.template pairs<float, Config::columns, column_step>(reader, writer, n);
          for (int e = 0; e < 4; ++e)
            to[of.of_pair(kind, products_.row() + 8 * (e / 2),
                          8 * n + products_.column() + e % 2)] = stored(sum.of[e]);
        }
    };
    multiply(0, form::at.output_gradient, under_keys());
    if constexpr (form::erases) multiply(1, form::at.erased_gradient, under_keys());
    if constexpr (form::general) multiply(2, form::at.output_gradient, form::at.written);
    if constexpr (form::general) multiply(3, form::at.erased_gradient, form::at.written);
    if constexpr (has_direct<Token>) {
      float sum = 0;
      pairs_.for_columns([&](int j, auto) WANE_INLINE_LAMBDA {
        int const at = form::value_at(terms_.token(), j);
        sum = multiply_add(arrays_.template get<float>(form::at.value, at),
                           arrays_.template get<float>(form::at.output_gradient, at), sum);
      });
      sum = sum_of_neighbours<form::lanes>(machine_, sum);
      if (terms_.lane() == 0) to[of.of_direct(terms_.token())] = stored(sum);
    }
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
