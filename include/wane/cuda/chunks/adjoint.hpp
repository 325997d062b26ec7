// chunk_adjoint: one thread of the kernel that takes gradients back through the chunks of a run.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/chunk/state_products.hpp"
#include "wane/cuda/chunks/warp.hpp"
#include "wane/cuda/scan/adjoint_sums.hpp"

namespace wane::cuda::impl {

// How tokens of 16 fade and erase, as the gradients of their terms ask for it.
template <class Token>
struct chunk_form {
  using scalar = float;
  using vector = float;
  static constexpr int tokens = chunk_tokens;
  static constexpr wane::impl::fading fading = fading_of<Token>;
  static constexpr wane::impl::erasing erasing = erasing_of<Token>;
};

// What the columns of a piece leave of a chunk and head, for the gradients of its terms: the sums
// of product_numbers of every row, those of pairs of tokens, and of direct.
template <class Token>
struct chunk_sums {
  using numbers = product_numbers<chunk_form<Token>>;
  static constexpr int pairs = chunk_tokens * chunk_tokens;  // of a kind
  index rows;

  WANE_HOST_DEVICE index of_row(int number, int i) const { return i * numbers::count + number; }
  WANE_HOST_DEVICE index of_pair(int kind, int t, int s) const {
    return numbers::count * rows + (kind * chunk_tokens + t) * chunk_tokens + s;
  }
  WANE_HOST_DEVICE index of_direct(int t) const { return of_pair(4, 0, t); }
  WANE_HOST_DEVICE index size() const { return of_direct(chunk_tokens); }
};

template <class Op, class Out, class Gradients, class State>
struct chunk_adjoint_arguments : chunk_walks<stored_for<Out>> {
  Op op;
  sequence_view<Out const> output_gradient;
  Gradients gradients;
  view<State const, 4> final_gradient;
  view<State, 4> initial_gradient;
  sequence_list sequences;
  index states;             // one for each sequence
  stored_for<Out>* sums;    // [number of chunk][head][piece][chunk_sums]
  chunk_segments segments;  // with the T of the run
  index blocks = 0;

  static constexpr bool goes_back = true;
  template <class Config>
  static constexpr chunk_layout layout =
      chunk_layout::of_adjoint<Config, token_of<Op>, stored_for<Out>>();
  WANE_HOST_DEVICE index work_items() const {
    return states * this->shape.heads * this->pieces * segments.walks();
  }
};

// With S the state before a chunk, G the cotangent of that after it, and what the chunk's columns
// are (chunk_walk) found again from S, the cotangents of what it writes and erases are found from
// the last token to the first by the same products, transposed, and
//   G <- P G + sum_t (q_t P_t) dy_t^T + (b_t P_{t-1}) du_t^T.
// Sums over columns go to memory; chunk_gradients makes of them what tokens get.
template <class Config, class Precision, machine M, class Op, class Out, class Gradients,
          class State>
class chunk_adjoint
    : chunk_warp<Config, Precision, M, chunk_adjoint_arguments<Op, Out, Gradients, State>> {
  using base = chunk_warp<Config, Precision, M, chunk_adjoint_arguments<Op, Out, Gradients, State>>;
  using base::a_, base::at_, base::machine_, base::products_, base::warps;
  using base::tokens, base::fades, base::erases, base::general, base::of_factor, base::fragments;
  using typename base::Token, typename base::fragment, typename base::token_fragments,
      typename base::warp_state, typename base::stored;
  using numbers = typename chunk_sums<Token>::numbers;
  using kept_state = typename base::template state_memory<stored>;
  using Sink = sink_of<Gradients, Op>;
  static constexpr bool sums = takes_sums<Gradients, Op>;
  static constexpr int column_step = column_stride<Config>;

 public:
  WANE_HOST_DEVICE chunk_adjoint(M& machine,
                                 chunk_adjoint_arguments<Op, Out, Gradients, State> const& a)
      : base(machine, a) {}

  WANE_INLINE void operator()() {
    this->for_work(a_.pieces, [&](index n) WANE_INLINE_LAMBDA { walk(n); });
  }

 private:
  // Segment n from the last.
  WANE_INLINE void walk(index n) {
    sequence_tokens const of(a_.sequences, this->sequence_);
    index const start = (a_.segments.count - 1 - n) * a_.segments.tokens;
    index const end = n == 0 ? of.count : start + a_.segments.tokens;
    warp_state cotangent;
    this->begin(cotangent, a_.final_gradient, n);
    for (index c = chunks_in(end) - 1; c >= start / tokens; --c) {
      index const first = c * tokens, number = this->place_of_chunk(first);
      bool const present = first + this->token() < of.count;
      auto const where = of.at(at_most(first + this->token(), of.count - 1), this->head_);
      bool const resets = machine_.any(
          this->bring(where, present, first + tokens <= of.count, this->first_column()).resets);
      bring_output_gradient(where, present);
      if (first > 0) ask_for(of.at(first - tokens + this->token(), this->head_));
      this->prepare({resets, false});
      take(cotangent, number);
      if constexpr (takes_columns<Sink, index, float>)
        if (present && gives()) give_columns(where);
      machine_.barrier();
    }
    if (!gives())
      this->save(cotangent, this->before(n + 1));
    else if (start == 0)
      this->save(cotangent, a_.initial_gradient);
  }
  // Is this more than what becomes of cotangents?
  WANE_INLINE bool gives() const { return a_.segments.now != chunk_segments::part::effects; }

  WANE_INLINE void ask_for(place<> where) const {
    base::ask_for(where);
    typename base::asks{machine_, this->lane()}(
        a_.output_gradient.element(where, this->first_column()),
        at_most(a_.shape.columns - this->first_column(), index{Config::columns}));
  }
  WANE_INLINE void bring_output_gradient(place<> where, bool present) const {
    this->for_columns([&](int j, auto) WANE_INLINE_LAMBDA {
      index const column = this->first_column() + j;
      this->template put<float>(at_.output_gradient, this->value_at(this->token(), j),
                                present && column < a_.shape.columns
                                    ? convert<float>(a_.output_gradient.read(where, column))
                                    : 0.f);
    });
  }
  WANE_INLINE void give_columns(place<> where) const {
    auto const sink = sink_at(a_.gradients, a_.op, where);
    this->for_columns([&](int j, auto) WANE_INLINE_LAMBDA {
      index const column = this->first_column() + j;
      if (column < a_.shape.columns)
        sink.column(column, this->template get<float>(at_.value_gradient,
                                                      this->value_at(this->token(), j)));
    });
  }

  // The chunk that is prepared, back through the columns of this warp. Ends behind a barrier
  // of what the columns get.
  WANE_INLINE void take(warp_state& cotangent, index number) {
    token_fragments const value = this->columns_of(at_.value);
    token_fragments const of_output = this->columns_of(at_.output_gradient);
    token_fragments of_value, of_erased;
    if constexpr (erases)
      if (gives()) put_written(value, number);
    this->for_factors([&](auto k, int row) WANE_INLINE_LAMBDA {
      auto const g = products_.left_of(cotangent + k * of_factor);
      this->add_writes(of_value, g, at_.faded_key, row);
      if constexpr (general) this->add_writes(of_erased, g, at_.faded_write, row);
    });
    of_value = this->scaled(of_value, at_.to_end);
    this->template add<true>(of_value, of_output, at_.query_key);
    if constexpr (general) {
      of_erased = this->scaled(of_erased, at_.to_end);
      this->template add<true>(of_erased, of_output, at_.query_write);
      of_erased = this->template product<true>(of_erased, at_.inverse);
      this->template add<true>(of_value, of_erased, at_.read_key);
    } else if constexpr (erases) {
      of_value = this->template product<true>(of_value, at_.inverse);
      this->for_numbers([&](int n, int e)
                            WANE_INLINE_LAMBDA { of_erased.of[n].of[e] = -of_value.of[n].of[e]; });
    }
    if constexpr (erases) this->put_columns(at_.erased_gradient, of_erased);
    if constexpr (has_direct<Token>)
      this->for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
        float const direct = this->template get<float>(at_.direct, this->token_of_number(n, e));
        of_value.of[n].of[e] = multiply_add(direct, of_output.of[n].of[e], of_value.of[n].of[e]);
      });
    this->put_columns(at_.value_gradient, of_value);
    if constexpr (sums)
      if (gives()) give_sums(cotangent, number);
    this->template write_faded<true>(cotangent, this->scaled(of_output, at_.to_token),
                                     at_.faded_query, false);
    if constexpr (erases)
      this->template write<true>(cotangent, this->scaled(of_erased, at_.before_token),
                                 at_.faded_read);
    if constexpr (!sums) machine_.barrier();
  }

  // What the tokens write or, in a general memory, erase, from the state before the chunk.
  WANE_INLINE void put_written(token_fragments const& value, index number) const {
    token_fragments erased, written;
    auto const kept = this->kept(number);
    this->for_factors([&](auto k, int row) WANE_INLINE_LAMBDA {
      fragment s[of_factor];
      unroll<of_factor>([&](auto n) WANE_INLINE_LAMBDA {
        for (int e = 0; e < 4; ++e) s[n].of[e] = kept.read(k * of_factor + n, e);
      });
      this->add_reads(erased, products_.left_of(s), at_.faded_read, row);
    });
    erased = this->scaled(erased, at_.before_token);
    this->erase(value, erased, written);
    this->put_columns(at_.written, general ? erased : written);
  }

  WANE_INLINE void give_sums(warp_state const& cotangent, index number) const {
    int const all = static_cast<int>(whole_rows(a_.shape.rows));
    chunk_sums<Token> const of{all};
    stored* const to = a_.sums + (number * a_.pieces + this->piece_) * of.size();
    kept_state const kept = this->kept(number);
    this->template over_state<(fragments + 3) / 4>([&](auto part) WANE_INLINE_LAMBDA {
      int const first = part * 4;
      if (8 * first >= all) return;
      if (part > 0) machine_.barrier();
      unroll<4>([&](auto n) WANE_INLINE_LAMBDA {
        int const r = first + n;
        if (r < fragments && 8 * r < all) put_rows(cotangent[r], kept, r, n);
      });
      machine_.barrier();
      int const now = at_most(all - 8 * first, rows_at_a_time);
      for (int n = machine_.thread() / warp_size; 8 * n < now; n += warps)
        multiply_rows(to, of, 8 * first, 8 * n);
      if constexpr (fades) multiply_states(to, of, 8 * first, now);
    });
    multiply_columns(to, of);
  }
  // Tile r of cotangent and state into [row][column], the rows from 8 n on.
  WANE_INLINE void put_rows(fragment const& cotangent, kept_state const& kept, int r, int n) const {
    for (int e = 0; e < 4; ++e) {
      int const to = (8 * n + products_.column() + e % 2) * column_step + this->column_of_number(e);
      this->template put<float>(at_.cotangent, to, cotangent.of[e]);
      this->template put<float>(at_.state, to, kept.read(r, e));
    }
  }
  WANE_INLINE std::size_t under_keys() const {
    return is_delta_rule<Token> ? at_.written : at_.value;
  }
  // The sums of eight rows with the columns of every token.
  WANE_INLINE void multiply_rows(stored* to, chunk_sums<Token> const& of, int first,
                                 int row) const {
    multiply_row_kind(to, of, numbers::of_query, at_.output_gradient, at_.state, first, row);
    multiply_row_kind(to, of, numbers::of_key, under_keys(), at_.cotangent, first, row);
    if constexpr (erases)
      multiply_row_kind(to, of, numbers::of_read, at_.erased_gradient, at_.state, first, row);
    if constexpr (general)
      multiply_row_kind(to, of, numbers::of_write, at_.written, at_.cotangent, first, row);
  }
  WANE_INLINE void multiply_row_kind(stored* to, chunk_sums<Token> const& of, int number,
                                     std::size_t tokens_of, std::size_t rows_of, int first,
                                     int row) const {
    fragment const sum =
        this->template pairs<float, Config::columns, column_step>(tokens_of, rows_of, row / 8);
    for (int e = 0; e < 4; ++e)
      to[of.of_row(number + products_.row() + 8 * (e / 2),
                   first + row + products_.column() + e % 2)] = stored(sum.of[e]);
  }
  // S . G of every row, four threads a row.
  WANE_INLINE void multiply_states(stored* to, chunk_sums<Token> const& of, int first,
                                   int count) const {
    for (int n = machine_.thread(); n < 4 * rows_at_a_time; n += Config::threads) {
      int const row = n / 4;
      float sum = 0;
      for (int j = n % 4; row < count && j < Config::columns; j += 4)
        sum = multiply_add(this->template get<float>(at_.state, row * column_step + j),
                           this->template get<float>(at_.cotangent, row * column_step + j), sum);
      sum = sum_of_neighbours<4>(machine_, sum);
      if (n % 4 == 0 && row < count) to[of.of_row(numbers::of_state, first + row)] = stored(sum);
    }
  }
  // The sums of pairs of tokens, and of direct.
  WANE_INLINE void multiply_columns(stored* to, chunk_sums<Token> const& of) const {
    auto const multiply = [&](int kind, std::size_t reader, std::size_t writer) {
      for (int n = 0; n < 2; ++n)
        if ((2 * kind + n) % warps == machine_.thread() / warp_size) {
          fragment const sum =
              this->template pairs<float, Config::columns, column_step>(reader, writer, n);
          for (int e = 0; e < 4; ++e)
            to[of.of_pair(kind, products_.row() + 8 * (e / 2),
                          8 * n + products_.column() + e % 2)] = stored(sum.of[e]);
        }
    };
    multiply(0, at_.output_gradient, under_keys());
    if constexpr (erases) multiply(1, at_.erased_gradient, under_keys());
    if constexpr (general) multiply(2, at_.output_gradient, at_.written);
    if constexpr (general) multiply(3, at_.erased_gradient, at_.written);
    if constexpr (has_direct<Token>) {
      float sum = 0;
      this->for_columns([&](int j, auto) WANE_INLINE_LAMBDA {
        int const at = this->value_at(this->token(), j);
        sum = multiply_add(this->template get<float>(at_.value, at),
                           this->template get<float>(at_.output_gradient, at), sum);
      });
      sum = sum_of_neighbours<base::lanes>(machine_, sum);
      if (this->lane() == 0) to[of.of_direct(this->token())] = stored(sum);
    }
  }
};

}  // namespace wane::cuda::impl
