// chunk_warp: the columns of the state that a warp holds, and their products with a chunk.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/unroll.hpp"
#include "wane/cuda/chunks/form.hpp"
#include "wane/cuda/chunks/state_memory.hpp"
#include "wane/cuda/machine/lane_sums.hpp"
#include "wane/cuda/machine/shared_arrays.hpp"

namespace wane::cuda::impl {

// One block takes some columns of a head of a sequence through time. Each of its warps has 16
// columns. It holds their state, transposed, from the first chunk to the last.
template <class Config, class Precision, machine M, class Arguments>
class chunk_warp {
  using form = chunk_form<Config, Precision, Arguments>;
  using Token = typename form::Token;
  using stored = typename form::stored;
  using products = unit_products<Precision, M>;
  using fragment = typename products::fragment;

 public:
  static constexpr int fragments = Config::most_rows / 8, of_factor = products::fragments;

  WANE_HOST_DEVICE chunk_warp(M& machine, Arguments const& a) : machine_(machine), a_(a) {}

  // Two products with all tokens of the chunk: [16 columns][16 tokens].
  struct token_fragments {
    fragment of[2] = {};
  };

  // The state of a warp: a local variable whose address is never taken. Up to 128 rows lie in
  // registers; more lie in the thread's own memory, where loops index them.
  using warp_state = fragment[fragments];
  static constexpr bool in_registers = form::rows <= 128;
  template <int count, class Body>
  WANE_INLINE static void over_state(Body const& body) {
    unroll_if<in_registers, count>(body);
  }

  // Calls walk(n) for every work item, where n counts the segments of a sequence, head and piece.
  template <class Walk>
  WANE_INLINE void for_work(index pieces, Walk const& walk) {
    auto const items = static_cast<std::uint64_t>(a_.work_items());
    for (std::uint64_t ticket; (ticket = take()) < items;) {
      auto const item = static_cast<index>(ticket), sequence_head = item / pieces;
      index const walked = sequence_head / a_.shape.heads;
      piece = item % pieces, head = sequence_head % a_.shape.heads, sequence = walked % a_.states;
      walk(walked / a_.states);
    }
  }
  WANE_INLINE index first_column() const { return piece * Config::columns; }

  // The place of a chunk among the chunks of all heads, for the head of this block.
  WANE_INLINE index place_of_chunk(index first_token) const {
    return (first_chunk(a_.sequences, sequence) + first_token / form::tokens) * a_.shape.heads +
           head;
  }
  // The memory of a state, for the sequence, head and columns of this block.
  template <class X>
  WANE_INLINE chunk_state_memory<X> state_memory(view<X, 4> const& states) const {
    index const i = products_.column(), j = first_column() + column_of_number(0);
    return {states.data + sequence * states.stride[0] + head * states.stride[1] +
                i * states.stride[2] + j * states.stride[3],
            states.stride[2], states.stride[3], static_cast<int>(a_.shape.rows - i),
            static_cast<int>(a_.shape.columns - j)};
  }
  // The same in an array of states with whole rows and `pieces` pieces of columns.
  template <class X>
  WANE_INLINE chunk_state_memory<X> state_memory(X* states, index place, index pieces) const {
    index const i = products_.column(), all = whole_rows(a_.shape.rows);
    index const columns = pieces * Config::columns;
    return {states + (place * all + i) * columns + first_column() + column_of_number(0), columns, 1,
            static_cast<int>(all - i), Config::columns};
  }
  // The state kept before a chunk.
  WANE_INLINE chunk_state_memory<stored> kept(index place) const {
    return state_memory(a_.kept, place, a_.pieces);
  }
  // The state that segment n of a walk begins with.
  WANE_INLINE chunk_state_memory<float> before(index n) const {
    index const place = (n * a_.states + sequence) * a_.shape.heads + head;
    return state_memory(a_.segments.states, place, a_.pieces + a_.segments.unit_pieces);
  }

  // body(k, its first row) for the factors of a product over all rows.
  template <class Body>
  WANE_INLINE static void for_factors(Body const& body) {
    over_state<fragments / of_factor>([&](auto k)
                                          WANE_INLINE_LAMBDA { body(k, k * of_factor * 8); });
  }
  template <class Body>
  WANE_INLINE static void for_numbers(Body const& body) {
    for (int n = 0; n < 2; ++n)
      for (int e = 0; e < 4; ++e) body(n, e);
  }
  WANE_INLINE int token_of_number(int n, int e) const { return 8 * n + products_.column() + e % 2; }
  WANE_INLINE int column_of_number(int e) const {
    return machine_.thread() / warp_size * 16 + products_.row() + 8 * (e / 2);
  }

  // Reads this warp's columns of an array [token][column]; put_columns writes them.
  WANE_INLINE token_fragments columns_of(std::size_t array) const {
    token_fragments x;
    for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
      x.of[n].of[e] = arrays_.template get<float>(array, place_of_number(n, e));
    });
    return x;
  }
  WANE_INLINE void put_columns(std::size_t array, token_fragments const& x) const {
    for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
      arrays_.template put<float>(array, place_of_number(n, e), x.of[n].of[e]);
    });
  }

  // to += s times the factors `reads`, [token][row], over the rows from `row` on.
  WANE_INLINE void add_reads(token_fragments& to, typename products::left const& s,
                             std::size_t reads, int row) const {
    for (int n = 0; n < 2; ++n)
      products_.add(to.of[n], s,
                    arrays_.template shared<stored const>(reads) + 8 * n * form::stride + row,
                    form::stride);
  }
  // The same with the factors `writes`, [row][token].
  WANE_INLINE void add_writes(token_fragments& to, typename products::left const& s,
                              std::size_t writes, int row) const {
    for (int n = 0; n < 2; ++n)
      products_.add_transposed(
          to.of[n], s, arrays_.template shared<stored const>(writes) + row * chunk_stride + 8 * n,
          chunk_stride);
  }
  // to += x times the products [t][s] of the chunk's tokens, summed over s; with `back`, over t.
  template <bool back = false>
  WANE_INLINE void add(token_fragments& to, token_fragments const& x, std::size_t pairs) const {
    for (int k = 0; k < 2; k += of_factor) {
      auto const a = products_.left_of(x.of + k);
      auto const* const from = arrays_.template shared<float const>(pairs);
      for (int n = 0; n < 2; ++n)
        if constexpr (back)
          products_.add_transposed(to.of[n], a, from + 8 * k * chunk_stride + 8 * n, chunk_stride);
        else
          products_.add(to.of[n], a, from + 8 * n * chunk_stride + 8 * k, chunk_stride);
    }
  }
  template <bool back = false>
  WANE_INLINE token_fragments product(token_fragments const& x, std::size_t pairs) const {
    token_fragments sum;
    add<back>(sum, x, pairs);
    return sum;
  }
  // Adds x of every token times `factors` to the state. `factors` are [row][token], with `back`
  // [token][row]. The matrix unit does not add to the state: it truncates its sums instead of
  // rounding them, and over thousands of chunks these errors would have one sign.
  template <bool back = false>
  WANE_INLINE void write(warp_state& state, token_fragments const& x, std::size_t factors) const {
    write_after<back>(state, x, factors, [](int, int) WANE_INLINE_LAMBDA { return no_decay{}; });
  }
  // The same, and fades the state unless it has `faded` already.
  template <bool back = false>
  WANE_INLINE void write_faded(warp_state& state, token_fragments const& x, std::size_t factors,
                               bool faded) const {
    if constexpr (form::fades) {
      auto const decay = decay_of_fragments();
      write_after<back>(state, x, factors, [&](int r, int e) WANE_INLINE_LAMBDA {
        return faded ? split_decay<float>{1.f, 0.f} : decay(r, e);
      });
    } else {
      write<back>(state, x, factors);
    }
  }
  // On entry `erased` is what the tokens read of the state before the chunk. Finds what they erase
  // in a general memory, and what they write in others.
  WANE_INLINE void erase(token_fragments const& value, token_fragments& erased,
                         token_fragments& written) const {
    if constexpr (form::general) {
      add(erased, value, form::at.read_key);
      erased = product(erased, form::at.inverse);
    } else {
      for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
        written.of[n].of[e] = value.of[n].of[e] - erased.of[n].of[e];
      });
      written = product(written, form::at.inverse);
    }
  }
  // x of every token times its decay in by_token, where a head fades.
  WANE_INLINE token_fragments scaled(token_fragments x, std::size_t by_token) const {
    if constexpr (form::fades && !form::by_row)
      for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
        x.of[n].of[e] *= arrays_.template get<float>(by_token, token_of_number(n, e));
      });
    return x;
  }
  WANE_INLINE void fade(warp_state& state) const {
    if constexpr (form::fades) {
      auto const decay = decay_of_fragments();
      over_state<fragments>([&](auto r) WANE_INLINE_LAMBDA {
        for (int e = 0; e < 4; ++e) state[r].of[e] = carried(decay(r, e), state[r].of[e], 0.f);
      });
    }
  }

  // load reads a state from memory, with zeros in the padding; save writes it.
  template <class X>
  WANE_INLINE static void load(warp_state& state, chunk_state_memory<X> const& from) {
    over_state<fragments>([&](auto r) WANE_INLINE_LAMBDA {
      for (int e = 0; e < 4; ++e) state[r].of[e] = from.read(r, e);
    });
  }
  template <class X>
  WANE_INLINE static void save(warp_state const& state, chunk_state_memory<X> const& to) {
    over_state<fragments>([&](auto r) WANE_INLINE_LAMBDA {
      for (int e = 0; e < 4; ++e)
        if (to.has(r, e)) to.at(r, e) = static_cast<X>(state[r].of[e]);
    });
  }
  template <class X>
  WANE_INLINE void save(warp_state const& state, view<X, 4> const& to) const {
    if (to.data) save(state, state_memory(to));
  }

  // The state that segment n of a walk begins with. In the walk for effects all segments but the
  // first begin with zeros. `initial` is read in that walk only, since the last segment may
  // overwrite its memory in the second.
  template <class X>
  WANE_INLINE void begin(warp_state& state, view<X, 4> const& initial, index n) const {
    using part = chunk_segments::part;
    if (a_.segments.now == part::outputs) return load(state, before(n));
    over_state<fragments>([&](auto r) WANE_INLINE_LAMBDA { state[r] = {}; });
    if (n == 0 && initial.data) load(state, state_memory(initial));
    if (a_.segments.now == part::effects && n == 0) save(state, before(0));
  }

  // What the block works on now.
  index sequence = 0, head = 0, piece = 0;

 private:
  // The decay of row i, or of the head, over a whole chunk.
  WANE_INLINE split_decay<float> decay_of(int i) const {
    return {arrays_.template get<float>(form::at.whole, i),
            arrays_.template get<float>(form::at.rest, i)};
  }
  // The same for number e of fragment r, decay(r, e).
  WANE_INLINE auto decay_of_fragments() const {
    if constexpr (form::by_row)
      return [this](int r, int e)
                 WANE_INLINE_LAMBDA { return decay_of(8 * r + products_.column() + e % 2); };
    else
      return [all = decay_of(0)](int, int) WANE_INLINE_LAMBDA { return all; };
  }
  template <bool back, class Decay>
  WANE_INLINE void write_after(warp_state& state, token_fragments const& x, std::size_t factors,
                               Decay const& decay) const {
    typename products::left a[2 / of_factor];
    for (int k = 0; k < 2 / of_factor; ++k) a[k] = products_.left_of(x.of + k * of_factor);
    auto const* const from = arrays_.template shared<stored const>(factors);
    over_state<fragments>([&](auto r) WANE_INLINE_LAMBDA {
      fragment sum = {};
      for (int k = 0; k < 2 / of_factor; ++k)
        if constexpr (back)
          products_.add_transposed(sum, a[k], from + 8 * of_factor * k * form::stride + 8 * r,
                                   form::stride);
        else
          products_.add(sum, a[k], from + 8 * r * chunk_stride + 8 * of_factor * k, chunk_stride);
      for (int e = 0; e < 4; ++e) state[r].of[e] = carried(decay(r, e), state[r].of[e], sum.of[e]);
    });
  }

  // The next work item. Passes two barriers.
  WANE_INLINE std::uint64_t take() {
    machine_.barrier();
    if (machine_.thread() == 0)
      arrays_.template put<std::uint64_t>(form::at.ticket, 0, machine_.take(a_.tickets));
    machine_.barrier();
    return arrays_.template get<std::uint64_t>(form::at.ticket, 0);
  }

  WANE_INLINE int place_of_number(int n, int e) const {
    return form::value_at(token_of_number(n, e), column_of_number(e));
  }

  M& machine_;
  Arguments const& a_;
  shared_arrays<M> const arrays_{machine_};
  products const products_{machine_};
};

}  // namespace wane::cuda::impl
