// Arguments of the adjoint in chunks, and the sums over columns that its kernels exchange.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/chunk/state_products.hpp"
#include "wane/cuda/chunks/plan.hpp"
#include "wane/cuda/scan/adjoint_sums.hpp"

namespace wane::cuda::impl {

// The form of a chunk of 16 tokens, for core/chunk/term_gradients.hpp.
template <class Token>
struct gradient_form {
  using scalar = float;
  using vector = float;
  static constexpr int tokens = chunk_tokens;
  static constexpr auto fading = fading_of<Token>;
  static constexpr auto erasing = erasing_of<Token>;
};

// The layout of sums over the columns of a piece, for one chunk of a head: for each row the
// product_numbers, for each pair of tokens their products, and for each token direct. The gradients
// of the chunk follow from them.
template <class Token>
struct chunk_sums {
  using numbers = product_numbers<gradient_form<Token>>;
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
  chunk_segments segments;  // their T comes from the run
  index blocks = 0;

  static constexpr bool goes_back = true;
  template <class Config>
  static constexpr chunk_layout layout =
      chunk_layout::of_adjoint<Config, token_of<Op>, stored_for<Out>>();
  WANE_HOST_DEVICE index work_items() const {
    return states * this->shape.heads * this->pieces * segments.walks();
  }
};

}  // namespace wane::cuda::impl
