// has_substeps: operators that take a token in several substeps of an affine recurrence.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "wane/core/recurrence/recurrence.hpp"

namespace wane {

// The n substeps of a token follow each other, each with terms of its own, so a token can write
// several products of key and value (delta_product), or be asked several queries (grouped_queries).
// Outputs, positions, lengths and packed sequences count tokens. The operator has
//   substeps()                      n
//   in_substeps(backward)           the recurrence over n T substeps; `backward`: of a run in
//                                   reverse, which takes those of a token in their order, too
//   in_substeps(gradients, backward)  gradients of that recurrence, for adjoint
//   reading_substeps()              r: the last r substeps give the outputs of heads h r ...
//                                   h r + r - 1, in their order
template <class Op>
concept has_substeps = has_shape<Op> && requires(Op const& op) {
  { op.substeps() } -> std::convertible_to<index>;
  { op.in_substeps(false) } -> affine_recurrence;
  { op.reading_substeps() } -> std::convertible_to<index>;
};

}  // namespace wane

namespace wane::impl {

// Which substep of which token a place of the recurrence over substeps is.
class substep_order {
 public:
  substep_order() = default;
  // n substeps a token, 1 or more.
  substep_order(index n, bool reversed)
      : backward(reversed), count_(n), over_(~std::uint64_t{0} / static_cast<std::uint64_t>(n)) {
    over_ += n > 1;
  }

  bool backward = false;

  WANE_INLINE index count() const { return count_; }
  WANE_INLINE index number(place<> at) const {
    index const n = at.time - token_of(at.time) * count_;
    return backward ? count_ - 1 - n : n;
  }
  WANE_INLINE place<> token(place<> at) const {
    return {at.batch, token_of(at.time), at.head, token_of(at.position - 1) + 1, at.sequence};
  }
  // Where tensors of substeps, [B, n T, ...], are read.
  WANE_INLINE place<> tensor(place<> at) const {
    at.time = token_of(at.time) * count_ + number(at);
    return at;
  }

 private:
  __extension__ typedef unsigned __int128 wide;
  // substep / n, by a product: the high half of substep (2^64 / n, rounded up), which is exact for
  // substep < 2^64 / n. A division takes ten times as long, and outputs need one for each vector.
  WANE_INLINE index token_of(index substep) const {
    if (count_ == 1) return substep;
    return static_cast<index>((static_cast<wide>(substep) * over_) >> 64);
  }

  index count_ = 1;
  std::uint64_t over_ = 0;
};

// The type of outputs that substeps write, or of their gradients.
template <class T>
struct of_substeps {};

// Outputs of tokens, [B, T, H r, V] for r reading substeps, in the places of substeps.
template <class T>
struct substep_view {
  using value_type = std::remove_const_t<T>;
  using wide = typename sequence_view<T>::wide;

  T* data = nullptr;
  index extent[4] = {};
  index stride[4] = {};  // of channels alone: substeps are not a stride apart
  sequence_view<T> outputs = {};
  substep_order order = {};
  index reading = 1;

  substep_view() noexcept = default;
  substep_view(sequence_view<T> const& tokens, substep_order in_order, index reading_substeps)
      : data(tokens.data), outputs(tokens), order(in_order), reading(reading_substeps) {
    for (int i = 0; i < 4; ++i) extent[i] = tokens.extent[i];
    extent[1] *= order.count(), extent[2] /= reading;
    stride[3] = tokens.stride[3];
  }

  WANE_INLINE bool reads(place<> at) const { return output_of(at) >= 0; }
  WANE_INLINE place<> token(place<> at) const {
    return order.token(at).with_head(at.head * reading + at_least(output_of(at), index{0}));
  }
  WANE_INLINE auto read(place<> at, auto j) const {
    using Read = decltype(outputs.read(at, j));
    return reads(at) ? outputs.read(token(at), j)
                     : Read(static_cast<typename scalar_of_value<Read>::type>(0));
  }
  WANE_INLINE void write(place<> at, auto j, auto const& y) const {
    if (reads(at)) outputs.write(token(at), j, y);
  }
  WANE_INLINE T* element(place<> at, index j) const { return outputs.element(token(at), j); }

 private:
  // Which of its token's outputs a substep gives; negative: none.
  WANE_INLINE index output_of(place<> at) const {
    return order.number(at) - (order.count() - reading);
  }
};

}  // namespace wane::impl

namespace wane {

template <class T>
struct view<impl::of_substeps<T>, 4> : impl::substep_view<T> {
  using impl::substep_view<T>::substep_view;
};
template <class T>
struct view<impl::of_substeps<T> const, 4> : impl::substep_view<T const> {
  using impl::substep_view<T const>::substep_view;
};

}  // namespace wane
