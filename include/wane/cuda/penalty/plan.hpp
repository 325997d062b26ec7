// Arguments of the penalty kernels, and the layout of their shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/fading_penalty.hpp"
#include "wane/cuda/chunks/plan.hpp"
#include "wane/cuda/penalty/triangle.hpp"

namespace wane::cuda::impl {

// Threads: threads of a block, one for each row of the state. Where there are fewer than Wanted
// blocks, sequences are cut into segments of at least LeastChunks chunks.
template <int Threads, int Wanted = 512, int LeastChunks = 32>
struct penalty_config {
  static constexpr int threads = Threads, most_rows = Threads;
  static constexpr int blocks = Threads > 128  ? 1
                                : Threads > 64 ? 2
                                               : 4;  // that fit on a multiprocessor
  static constexpr index wanted = Wanted, least_chunks = LeastChunks;
};

// One number for each token of a chunk. Rows of arrays [row][token] are 4 numbers longer.
struct alignas(16) token_numbers {
  float of[chunk_tokens];
};
inline constexpr int token_stride = chunk_tokens + 4;

// Offsets of the parts of shared memory in bytes. Names are those of penalty/chunk.hpp.
struct penalty_layout : room {
  std::size_t factor;             // R, a triangle
  std::size_t first, second;      // [row][token]: keys, F, reflectors; directions, H
  std::size_t reflectors;         // [row]: tau and square
  std::size_t triangle, weights;  // [token][token]: C, and F^T H
  std::size_t over, sums;         // [token], [part][token]

  template <class Config>
  static penalty_layout of(index rows, bool directions_are_given) {
    penalty_layout at;
    at.factor = at.take(numbers_of_triangle(rows));
    at.first = at.take(rows * token_stride);
    at.second = at.take(directions_are_given ? rows * token_stride : 0);
    at.reflectors = at.take(2 * rows);
    at.triangle = at.take(chunk_tokens * chunk_tokens);
    at.weights = at.take(directions_are_given ? chunk_tokens * chunk_tokens : 0);
    at.over = at.take(chunk_tokens), at.sums = at.take(Config::threads);
    return at;
  }
};

// One number for each token, [B, T, H], which the direction kernel stores for the adjoint.
struct penalty_marks {
  token_view<float> factors;  // by_t of a_t = by_t M_t^-1 k_t
  // Where M fades. lefts: log l_t before a renewal sets it to 0. log_decays: the log decay of N
  // from token t + 1 to token t, which is log l where M is renewed between them, else 0.
  token_view<float> lefts, log_decays;
  token_view<float> decays;  // gradients by log decays from the adjoint of S; zeros before it runs

  template <class Op>
  WANE_HOST_DEVICE bool renewed_before(Op const& op, place<> at) const {
    return lefts.read(at) < static_cast<float>(op.log_renewal());
  }
  // l when the token's direction enters M.
  template <class Op>
  WANE_HOST_DEVICE penalty_left<float> left_at(Op const& op, place<> at) const {
    return {renewed_before(op, at) ? 0.f : lefts.read(at)};
  }
};

// `output` holds the write directions, [B, T, H, K]. `segments.states` holds the factor of M before
// each segment, [segment][sequence][head][triangle].
template <class Op, class State>
struct penalty_arguments : run_arguments<Op, float, State> {
  recurrence_shape shape;
  index values;  // columns of a state before those of R
  penalty_layout layout;
  chunk_segments segments;
  penalty_marks marks = {};

  // The number of heads of all sequences.
  WANE_HOST_DEVICE index sequence_heads() const { return this->states * shape.heads; }
  WANE_HOST_DEVICE index work_items() const {
    bool const effects = segments.now == chunk_segments::part::effects;
    return sequence_heads() * (segments.count - (effects ? 1 : 0));
  }
  // The factor before a segment.
  WANE_HOST_DEVICE float* factor_before(index segment, index sequence_head) const {
    return segments.states +
           (segment * sequence_heads() + sequence_head) * numbers_of_triangle(shape.rows);
  }
};

}  // namespace wane::cuda::impl
