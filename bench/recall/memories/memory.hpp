// memory: the part of a layer that differs between models, and how an operator becomes one.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <utility>

#include "recall/layers.hpp"
#include "wane/eigen.hpp"
#include "wane/wane.hpp"

namespace wane::recall {

struct token_shape {
  index batch, time, heads, size;  // channels of a head

  index width() const { return heads * size; }
};

// What a memory reads: queries, keys and values, [B T, H K], and x, [B T, width], from which it
// makes what else it needs.
struct memory_inputs {
  tensor query, key, value, x;
};

// Adds its parameters when it is made, and its outputs, [B T, H K], to a tape.
template <class T>
class memory {
 public:
  virtual ~memory() = default;
  virtual tensor operator()(tape<T>& on, memory_inputs const& in,
                            token_shape const& shape) const = 0;
};

// Bytes of the state of an operator, for all sequences; of attention, the keys and values of all
// tokens.
template <class T, class Op>
index state_bytes(Op const& op) {
  recurrence_shape const s = op.shape();
  index const states = s.batch * s.heads;
  if constexpr (attention<Op>)
    return states * op.keys() * (s.rows + s.columns) * index(sizeof(T));
  else
    return states * s.rows * s.columns * index(sizeof(accumulate_type<Op>));
}

struct nothing_else {
  void operator()(auto&, auto&) const {}
};

// Records the outputs of an operator of wane. make(on) is the operator of values on a tape;
// gradients(op, to) are its gradients, into the matrices `to`, one for each tensor of `read`.
// finish(back, to) comes before they are given to these tensors.
template <class T, std::size_t N, class Make, class Gradients, class Finish = nothing_else>
tensor record_memory(tape<T>& on, token_shape const& s, std::array<tensor, N> const& read,
                     Make const& make, Gradients const& gradients, Finish const& finish = {}) {
  matrix<T> y(s.batch * s.time, s.width());
  auto const outputs = in_heads(y, s.batch, s.heads);
  auto const here = make(on);
  on.note_state(state_bytes<T>(here));
  if constexpr (attention<decltype(make(on))>)
    attend(here, outputs, {.threads = 1});
  else
    run(here, outputs, {.threads = 1});
  return on.record(std::move(y), [=](tape<T>& back, tensor result) {
    std::array<matrix<T>, N> to;
    for (std::size_t i = 0; i < N; ++i) to[i].setZero(back[read[i]].rows(), back[read[i]].cols());
    auto const op = make(back);
    auto const dy = in_heads(back.gradient(result), s.batch, s.heads);
    if constexpr (attention<decltype(make(back))>)
      attend_adjoint(op, dy, gradients(op, to), {.threads = 1});
    else
      adjoint(op, dy, gradients(op, to), {.threads = 1});
    finish(back, to);
    for (std::size_t i = 0; i < N; ++i) back.give(read[i], std::move(to[i]));
  });
}
// The gradients of an operator by its queries, keys and values, into the first three matrices.
template <class Op, class To>
typename Op::gradients keyed_part(Op const&, To& to, token_shape const& s) {
  typename Op::gradients all;
  all.query = in_heads(to[0], s.batch, s.heads), all.key = in_heads(to[1], s.batch, s.heads);
  all.value = in_heads(to[2], s.batch, s.heads);
  return all;
}

}  // namespace wane::recall
