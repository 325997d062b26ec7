// The work of the chunk kernels, and the layout of their shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/chunk/micro_chunk.hpp"
#include "wane/core/recurrence/recurrence.hpp"
#include "wane/cuda/call/run_arguments.hpp"
#include "wane/cuda/machine/kernel.hpp"
#include "wane/cuda/machine/unit_products.hpp"

namespace wane::cuda::impl {

// Tokens of a chunk: a matrix unit sums over 16 numbers in one step or in two.
inline constexpr int chunk_tokens = 16;

// Warps: warps of a block, each with 16 columns of the state. MostRows: the most rows of the state.
// Where there are fewer than Wanted blocks, sequences are cut into segments of at least LeastChunks
// chunks.
template <int Warps, int MostRows, int Wanted = 512, int LeastChunks = 32>
struct chunk_config {
  static_assert(MostRows % 16 == 0);
  static constexpr int threads = Warps * warp_size;
  static constexpr int columns = Warps * 16;
  static constexpr int most_rows = MostRows;
  static constexpr index wanted = Wanted, least_chunks = LeastChunks;
  // The configuration of kernels that do not depend on the number of rows.
  using any_rows = chunk_config<Warps, 64, Wanted, LeastChunks>;
};
// Blocks of a run for which a multiprocessor has registers.
template <class Config, class Token>
inline constexpr int chunk_blocks = Config::most_rows > 64 || (fading_of<Token> == fading::row &&
                                                               has_erase_write<Token>)
                                        ? 2
                                        : 3;
inline constexpr int device_warps = 4;  // of a block on a GPU
inline constexpr int most_rows_on_device = 256;

// Chunks are numbered sequence by sequence, in the order of the walk. Where sequences are packed,
// some numbers have no chunk.
WANE_HOST_DEVICE inline index chunks_in(index tokens) {
  return (tokens + chunk_tokens - 1) / chunk_tokens;
}
WANE_HOST_DEVICE inline index first_chunk(sequence_list const& all, index n) {
  return all.starts ? all.starts[n] / chunk_tokens + n : n * chunks_in(all.time);
}
WANE_HOST_DEVICE inline index numbers_of_chunks(sequence_list const& all, index sequences) {
  return all.starts ? all.time / chunk_tokens + sequences : sequences * chunks_in(all.time);
}
// The last sequence whose chunks begin at or before this number.
WANE_HOST_DEVICE inline index sequence_of_chunk(sequence_list const& all, index number) {
  if (!all.starts) return number / chunks_in(all.time);
  index low = 0, high = all.count;
  while (high - low > 1) {
    index const middle = low + (high - low) / 2;
    (first_chunk(all, middle) <= number ? low : high) = middle;
  }
  return low;
}

// The number of pieces of columns; a block takes one piece.
template <class Config>
WANE_HOST_DEVICE index pieces_of(index columns) {
  return (columns + Config::columns - 1) / Config::columns;
}
// The rows of the state, rounded up to whole factors of a matrix product.
WANE_HOST_DEVICE inline index whole_rows(index rows) { return (rows + 15) / 16 * 16; }

// Rows of arrays [.., rows of the state] and [.., chunk_tokens] are 8 numbers longer, so that a
// warp reads pairs from eight rows without bank conflicts. Rows of arrays [.., columns] are 4
// longer.
inline constexpr int chunk_padding = 8;
inline constexpr int chunk_stride = chunk_tokens + chunk_padding;
template <class Config>
inline constexpr int row_stride = Config::most_rows + chunk_padding;
template <class Config>
inline constexpr int column_stride = Config::columns + 4;

// Rows of the state that a block of the adjoint has in shared memory at a time.
inline constexpr int rows_at_a_time = 32;

// Offsets of the parts of shared memory in bytes. Names are those of micro_chunk.hpp. There is room
// for the most rows of the kernel, so that all offsets are compile-time constants.
struct chunk_layout : room {
  // q P_t and b P_{t-1}, [token][row]; k P/P_s and a P/P_s, [row][token]. Where a head fades, they
  // are without the decays.
  std::size_t faded_query = 0, faded_read = 0, faded_key = 0, faded_write = 0;
  // Terms of the tokens, [token][row]. Where a head fades, queries and erase_reads are above only.
  std::size_t query = 0, key = 0, read = 0, write = 0, decay = 0;
  // Where rows fade: terms times the decays to a middle token (pairs.hpp). near_query has queries
  // and keys, near_read has erase_reads and erase_writes.
  std::size_t near_query = 0, near_read = 0;
  std::size_t whole = 0, rest = 0;                                           // [row]: P
  std::size_t query_key = 0, read_key = 0, query_write = 0, read_write = 0;  // [token][token]
  std::size_t inverse = 0;
  std::size_t value = 0;  // [token][column]
  std::size_t direct = 0, factor = 0, to_token = 0, before_token = 0, to_end = 0;  // [token]
  std::size_t ticket = 0;
  // For the adjoint: [token][column]; and [row][column], of the state before a chunk and of the
  // cotangent after it.
  std::size_t written = 0, output_gradient = 0, erased_gradient = 0, value_gradient = 0;
  std::size_t state = 0, cotangent = 0;
  // For gradients: [token][row]; and of the four kinds of pairs, [kind][token][token].
  std::size_t decay_gradient = 0, pair_gradients = 0;

  template <class Config, class Token, class Stored>
  static constexpr chunk_layout of() {
    constexpr bool erases = has_erase<Token>, general = has_erase_write<Token>;
    constexpr bool by_row = fading_of<Token> == fading::row;
    constexpr int rows = Config::most_rows, by_token = chunk_tokens * row_stride<Config>;
    constexpr int of_row = rows * chunk_stride, of_pairs = chunk_tokens * chunk_stride;
    constexpr std::size_t size = sizeof(Stored), brought = by_row ? sizeof(float) : size;
    chunk_layout at;
    at.faded_query = at.take(by_token, size);
    at.faded_read = at.take(erases ? by_token : 0, size);
    at.faded_key = at.take(of_row, size);
    at.faded_write = at.take(general ? of_row : 0, size);
    at.query = at.take(by_row ? by_token : 0);
    at.read = at.take(by_row && erases ? by_token : 0);
    at.key = at.take(by_token, brought);
    at.write = at.take(general ? by_token : 0, brought);
    at.decay = at.take(by_row ? by_token : chunk_tokens);
    at.near_query = at.take(by_row ? by_token : 0, size);
    at.near_read = at.take(by_row && erases ? by_token : 0, size);
    at.whole = at.take(by_row ? rows : 1);
    at.rest = at.take(by_row ? rows : 1);
    at.query_key = at.take(of_pairs);
    at.read_key = at.take(erases ? of_pairs : 0);
    at.query_write = at.take(general ? of_pairs : 0);
    at.read_write = at.take(general ? of_pairs : 0);
    at.inverse = at.take(erases ? of_pairs : 0);
    at.value = at.take(chunk_tokens * column_stride<Config>);
    for (std::size_t* of_tokens :
         {&at.direct, &at.factor, &at.to_token, &at.before_token, &at.to_end})
      *of_tokens = at.take(chunk_tokens);
    at.ticket = at.take(2, sizeof(std::uint64_t));
    return at;
  }
  template <class Config, class Token, class Stored>
  static constexpr chunk_layout of_adjoint() {
    chunk_layout at = of<Config, Token, Stored>();
    constexpr int of_columns = chunk_tokens * column_stride<Config>;
    constexpr int of_state = rows_at_a_time * column_stride<Config>;
    at.written = at.take(has_erase<Token> ? of_columns : 0);
    at.output_gradient = at.take(of_columns);
    at.erased_gradient = at.take(has_erase<Token> ? of_columns : 0);
    at.value_gradient = at.take(of_columns);
    at.state = at.take(of_state);
    at.cotangent = at.take(of_state);
    return at;
  }
  template <class Config, class Token>
  static constexpr chunk_layout of_gradients() {
    constexpr bool by_row = fading_of<Token> == fading::row;
    chunk_layout at;
    for (std::size_t* terms : {&at.query, &at.key, &at.read, &at.write, &at.decay_gradient})
      *terms = at.take(chunk_tokens * row_stride<Config>);
    at.decay = by_row ? at.decay_gradient : at.take(chunk_tokens);
    at.factor = at.take(chunk_tokens);
    at.pair_gradients = at.take(4 * chunk_tokens * chunk_tokens);
    return at;
  }
};

// Sequences are cut into segments that are walked in parallel, twice. The first walk finds the
// effect of each segment, S -> E + T S. E is the state after the segment when it begins with zeros.
// A column of T is the state after the segment when it begins with a unit vector and all values are
// zero. Then the states before the segments are found one after the other, and the second walk
// finds the outputs.
struct chunk_segments {
  static constexpr index most = 32;  // the states before segments are found one after the other
  enum class part { whole, effects, outputs };
  index count = 1, tokens = 0;  // tokens of each segment but the last
  index unit_pieces = 0;        // of the columns of T
  float* states = nullptr;      // before each, [segment][sequence][head][row][column]: whole rows,
                                // then pieces of E and of T
  part now = part::whole;

  // The number of segments in this walk. The effect of the last segment is not needed.
  WANE_HOST_DEVICE index walks() const { return now == part::effects ? count - 1 : count; }

  // `blocks`: the number of blocks where sequences are not cut.
  template <class Config>
  static chunk_segments of(index blocks, sequence_list const& all) {
    index const chunks = chunks_in(all.time);
    index const count = at_most(at_most(most, Config::wanted / at_least(index{1}, blocks)),
                                chunks / Config::least_chunks);
    if (all.starts || count < 3) return {1, all.time};
    index const each = (chunks + count - 1) / count;
    return {(chunks + each - 1) / each, each * chunk_tokens};
  }
  template <class Config>
  static chunk_segments of(recurrence_shape const& shape, sequence_list const& all,
                           index sequences) {
    auto cut = of<Config>(sequences * shape.heads * pieces_of<Config>(shape.columns), all);
    if (cut.count > 1) cut.unit_pieces = pieces_of<Config>(shape.rows);
    return cut;
  }
};

// The number of floats for states and effects between segments.
template <class Config>
index numbers_of_segments(chunk_segments const& cut, recurrence_shape const& shape,
                          index sequences) {
  if (cut.count == 1) return 0;
  return cut.count * sequences * shape.heads * whole_rows(shape.rows) *
         (pieces_of<Config>(shape.columns) + cut.unit_pieces) * Config::columns;
}

// Common arguments of the kernels of a walk. One block takes some columns of a head of a sequence.
template <class Stored>
struct chunk_walks {
  recurrence_shape shape;
  index pieces;            // of the columns of a head
  std::uint64_t* tickets;  // then the number of blocks that have ended; zeros at first
  Stored* kept;            // states before chunks, [number][head][row][column], whole rows and
                           // pieces; null in a run

  kernel_counters counters() const { return {tickets, 2 * sizeof(std::uint64_t)}; }
};
template <class Op, class Out, class State>
struct chunk_arguments : run_arguments<Op, Out, State>, chunk_walks<stored_for<Out>> {
  static constexpr bool goes_back = false;
  template <class Config>
  static constexpr chunk_layout layout = chunk_layout::of<Config, token_of<Op>, stored_for<Out>>();
  chunk_segments segments;

  // Pieces of a head in this walk.
  WANE_HOST_DEVICE index pieces_now() const {
    return this->pieces +
           (segments.now == chunk_segments::part::effects ? segments.unit_pieces : 0);
  }
  WANE_HOST_DEVICE index work_items() const {
    return this->states * this->shape.heads * pieces_now() * segments.walks();
  }
};

}  // namespace wane::cuda::impl
