// replay: computes the states of a block of tokens again, with the terms that the adjoint needs.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/numbers/aligned.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/run/panels/chunk_in_order.hpp"
#include "wane/run/panels/gather.hpp"
#include "wane/run/panels/panel_adjoint.hpp"
#include "wane/run/shared/lines_ahead.hpp"
#include "wane/run/shared/panel_columns.hpp"

namespace wane::impl {

// Replays a block of tokens. Lanes: whether the operator gives its columns in lanes. in_lanes:
// whether columns are neighbours in the tensors of this call.
template <affine_recurrence Op, bool Lanes>
class replay {
 public:
  using T = accumulate_type<Op>;
  using gatherer = term_gatherer<Op>;
  using form = typename gatherer::form;
  static constexpr int width = form::width, tokens = micro_tokens;
  static constexpr index most_tokens = 64, most_chunks = most_tokens / tokens;
  static constexpr int widest = simd_bytes == 64 ? (form::erasing == erasing::general ? 2 : 4) : 1;

  replay(Op const& op, bool in_lanes)
      : gather_(op),
        in_lanes_(in_lanes),
        rows_(recurrence_shape(op.shape()).rows),
        row_blocks_((rows_ + width - 1) / width),
        panels_{0, recurrence_shape(op.shape()).columns},
        columns_(panels_.padded()),
        row_stride_(row_stride_of<T>(panels_.last)),
        reads_(most_chunks * gather_.numbers_to_read()),
        writes_(most_chunks * gather_.numbers_to_write()),
        terms_(most_chunks * gather_.numbers_of_terms()),
        arrays_(gather_.numbers_in_arrays()),
        values_(most_tokens * columns_),
        erased_(most_tokens * columns_),
        before_(rows_ * row_stride_) {}

  static index chunks_of(walk const& w) { return (w.count + tokens - 1) / tokens; }

  // Computes the states of a block from the state before it. With `all`, it stores the states after
  // each chunk one after the other at `after`, and keeps the terms. Otherwise it stores the last
  // state alone. It prefetches the lines `soon` meanwhile. A chunk with a reset that at
  // once gives numbers that are not finite is computed again, token by token.
  void operator()(walk const& w, T const* before, T* after, bool all, lines_ahead& soon) {
    index const chunks = chunks_of(w);
    for (index c = 0; c < chunks; ++c) gather(w, c, all);
    index const step = all ? rows_ * row_stride_ : 0;
    index const passes = (form::erasing == erasing::none ? 1 : 2) * row_blocks_;
    int const each = soon.spread(passes * panels_.panels() * chunks);
    void const* const* lines = soon.begin();
    panels_.for_panels([&](index first, auto vectors) {
      T const* from = before;
      for (index c = 0; c < chunks; ++c, lines += each * passes) {
        T* const to = after + c * step;
        index const last = first + vectors * width;
        bool const resets = chunks_[c].resets;
        if (resets) keep(from, first, last);
        take_panel<vectors>({chunks_[c], rows_, row_stride_, lines, each}, from + first, to + first,
                            c * tokens * columns_ + first);
        if (resets && !finite(to, first, last)) advance_in_order(w, c, first, last, to);
        from = to;
      }
    });
  }

  // Whether chunk c was computed token by token.
  bool in_order(index c) const { return in_order_[c]; }
  // Chunk c for its adjoint token by token. It loads the values again, which the panels replaced by
  // what the keys write.
  chunk_in_order<form> again_in_order(walk const& w, index c) {
    load_values(gather_.tokens_at(w, c * tokens), c);
    return by_token(w, c);
  }

  panel_columns<T, widest> const& panels() const { return panels_; }

  // Chunk c of the block; what its keys write and what it erases, [tokens][columns]; its terms.
  micro_chunk<T> const& chunk(index c) const { return chunks_[c]; }
  T const* written(index c) const { return values_.data() + c * tokens * columns_; }
  T const* erased(index c) const { return erased_.data() + c * tokens * columns_; }
  T const* terms(index c) const { return terms_.data() + c * gather_.numbers_of_terms(); }

 private:
  void gather(walk const& w, index c, bool with_terms) {
    index const k = c * tokens, count = std::min<index>(tokens, w.count - k);
    auto const x = gather_.tokens_at(w, k);
    chunks_[c] = gather_(x, static_cast<int>(count), reads_.data() + c * gather_.numbers_to_read(),
                         writes_.data() + c * gather_.numbers_to_write(), arrays_.data(),
                         with_terms ? terms_.data() + c * gather_.numbers_of_terms() : nullptr);
    load_values(x, c);
    in_order_[c] = false;
  }
  void load_values(std::array<typename gatherer::Token, tokens> const& x, index c) {
    for (index t = 0; t < tokens; ++t)
      panels_.template load<Lanes>(
          in_lanes_, values_.data() + (c * tokens + t) * columns_, t < chunks_[c].count,
          [&](auto j) { return convert<T>(x[static_cast<std::size_t>(t)].value(j)); });
  }
  chunk_in_order<form> by_token(walk const& w, index c) const {
    auto const terms =
        gather_.read(gather_.tokens_at(w, c * tokens), chunks_[c].count, arrays_.data());
    return {chunks_[c], terms, rows_, reading_of<typename gatherer::Token>, written(c), columns_};
  }
  // Columns [first, last) of a state.
  [[gnu::noinline]] void keep(T const* state, index first, index last) {
    for (index i = 0; i < rows_; ++i)
      std::copy_n(state + i * row_stride_ + first, last - first,
                  before_.data() + i * row_stride_ + first);
  }
  [[gnu::noinline]] bool finite(T const* state, index first, index last) const {
    bool good = true;
    for (index i = 0; i < rows_; ++i)
      good = good && all_finite(state + i * row_stride_ + first, last - first);
    return good;
  }
  // From the state that was kept. Columns behind the last, which pad the rows, become zero.
  [[gnu::noinline]] void advance_in_order(walk const& w, index c, index first, index last,
                                          T* after) {
    index const end = std::min(last, panels_.last);
    in_order_[c] = true;
    again_in_order(w, c).advance(first, end, before_.data(), after, row_stride_, nullptr);
    for (index i = 0; i < rows_; ++i)
      std::fill(after + i * row_stride_ + end, after + i * row_stride_ + last, T(0));
  }
  template <int R>
  [[gnu::noinline]] void take_panel(panel_rows<form, R> const& rows, T const* before, T* after,
                                    index at) {
    panel_replay<form, R>{rows, before, after, values_.data() + at, erased_.data() + at, columns_}
        .take();
  }

  gatherer gather_;
  bool in_lanes_;
  index rows_, row_blocks_;
  panel_columns<T, widest> panels_;
  index columns_, row_stride_;
  aligned_numbers<T> reads_, writes_, terms_, arrays_, values_, erased_, before_;
  micro_chunk<T> chunks_[most_chunks];
  bool in_order_[most_chunks] = {};
};

}  // namespace wane::impl
