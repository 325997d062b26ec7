// What a block of the chunk kernel works on, and where it keeps what.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence.hpp"
#include "wane/cuda/run_arguments.hpp"
#include "wane/run/micro_chunk.hpp"

namespace wane::cuda {

// Tokens that a block takes at a time: what the matrix unit sums over, at once or in two.
inline constexpr int chunk_tokens = 16;

// Warps of a block, with 16 columns of the state each, and the most rows that these may have.
template <int Warps, int MostRows>
struct chunk_config {
  static_assert(MostRows % 16 == 0);
  static constexpr int threads = Warps * warp_size;
  static constexpr int columns = Warps * 16;
  static constexpr int most_rows = MostRows;
};

// Arrays [.., rows of the state] and [.., chunk_tokens] have 8 numbers more, so that a warp reads
// pairs of eight of their lines from all banks.
inline constexpr int chunk_padding = 8;
inline constexpr int chunk_stride = chunk_tokens + chunk_padding;

// Where the parts of shared memory lie, in bytes from its start; names as in micro_chunk.hpp.
struct chunk_layout {
  int rows = 0, stride = 0;  // rows in whole factors of a product, and numbers of a line
  std::size_t query, key, read, write, decay;  // [token][row], as tokens bring them
  std::size_t near[2];                         // the same against a token between
  std::size_t reads[2];                        // [token][row]: q P_t, b P_{t-1}
  std::size_t writes[2];                       // [row][token]: k P/P_s, a P/P_s
  std::size_t whole, rest;                     // [row]: P
  std::size_t query_key, read_key, query_write, read_write, inverse;  // [token][token]
  std::size_t value, direct, to_token, before_token, to_end, ticket;  // [token][column], [token]
  std::size_t bytes = 0;

  template <class Config, class Token, class Stored>
  static chunk_layout of(index rows) {
    constexpr bool erases = has_erase<Token>, general = has_erase_write<Token>;
    constexpr bool by_row = fading_of<Token> == fading::row;
    chunk_layout at;
    at.rows = static_cast<int>((rows + 15) / 16 * 16);
    at.stride = at.rows + chunk_padding;
    auto const take = [&](bool present, int numbers, std::size_t size) {
      std::size_t const place = at.bytes;
      if (present) at.bytes += rounded_up(static_cast<std::size_t>(numbers) * size);
      return place;
    };
    int const by_token = chunk_tokens * at.stride, of_row = at.rows * chunk_stride;
    int const of_pairs = chunk_tokens * chunk_stride;
    at.query = take(true, by_token, sizeof(float));
    at.key = take(true, by_token, sizeof(float));
    at.read = take(erases, by_token, sizeof(float));
    at.write = take(general, by_token, sizeof(float));
    at.decay = take(true, by_row ? by_token : chunk_tokens, sizeof(float));
    at.near[0] = take(by_row, by_token, sizeof(Stored));
    at.near[1] = take(by_row && erases, by_token, sizeof(Stored));
    at.reads[0] = take(true, by_token, sizeof(Stored));
    at.reads[1] = take(erases, by_token, sizeof(Stored));
    at.writes[0] = take(true, of_row, sizeof(Stored));
    at.writes[1] = take(general, of_row, sizeof(Stored));
    at.whole = take(true, by_row ? at.rows : 1, sizeof(float));
    at.rest = take(true, by_row ? at.rows : 1, sizeof(float));
    at.query_key = take(true, of_pairs, sizeof(float));
    at.read_key = take(erases, of_pairs, sizeof(float));
    at.query_write = take(general, of_pairs, sizeof(float));
    at.read_write = take(general, of_pairs, sizeof(float));
    at.inverse = take(erases, of_pairs, sizeof(float));
    at.value = take(true, chunk_tokens * (Config::columns + 4), sizeof(float));
    at.direct = take(has_direct<Token>, chunk_tokens, sizeof(float));
    at.to_token = take(true, chunk_tokens, sizeof(float));
    at.before_token = take(true, chunk_tokens, sizeof(float));
    at.to_end = take(true, chunk_tokens, sizeof(float));
    at.ticket = take(true, 2, sizeof(std::uint64_t));
    return at;
  }
};

// What every block knows. A block takes some columns of a head of a sequence at a time.
template <class Op, class Out, class State>
struct chunk_arguments : run_arguments<Op, Out, State> {
  recurrence_shape shape;
  index pieces;  // of the columns of a head
  chunk_layout layout;
  std::uint64_t* counters;  // tickets, and blocks that have ended; zero at first

  WANE_HOST_DEVICE index work_items() const { return this->states * shape.heads * pieces; }
};

}  // namespace wane::cuda
