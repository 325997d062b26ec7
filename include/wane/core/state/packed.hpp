// Sequences of different lengths, packed end to end in one row, or padded in a batch.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <span>
#include <type_traits>

#include "wane/core/error.hpp"
#include "wane/core/numbers/scalar.hpp"

namespace wane::impl {

// Indices in memory of the caller, for options that may outlive the expression that makes them: a
// temporary vector does not compile.
class lasting_indices : public std::span<index const> {
  using span = std::span<index const>;

 public:
  lasting_indices() = default;
  lasting_indices(span indices) : span(indices) {}
  lasting_indices(std::span<index> indices) : span(indices) {}
  // (A template, because {0, 5} would begin with a null pointer.)
  template <class T>
  requires std::same_as<T const, index const> lasting_indices(T* first, std::size_t count)
      : span(first, count) {}
  template <class Range>
  requires(!std::same_as<std::remove_cvref_t<Range>, lasting_indices>)
      lasting_indices(Range&& range) {
    constexpr bool fits = std::convertible_to<Range&, span>;
    static_assert(fits, "wane: starts and lengths are arrays or vectors of wane::index, 64 bits");
    static_assert(!fits || std::is_lvalue_reference_v<Range>,
                  "wane: starts and lengths are views of the caller's memory, and a temporary is "
                  "gone before they are read; give it a name");
    if constexpr (fits) span::operator=(range);
  }
};

}  // namespace wane::impl

namespace wane {

//   index const starts[] = {0, 5, 5, 12};  // three sequences of 5, 0 and 7 tokens
//   run(op, output, run_options<float>{.packed = {starts}});
//
// Sequence n is the tokens starts[n] <= t < starts[n + 1]. starts has one entry more than there are
// sequences, begins with 0, does not decrease, and ends with T. A sequence may be empty. {0} means
// no sequence; empty starts mean that nothing is packed. Every sequence has its own state and its
// own positions.
struct packed_sequences {
  impl::lasting_indices starts;

  index count() const { return static_cast<index>(starts.size()) - 1; }
  bool present() const { return !starts.empty(); }
};

}  // namespace wane

namespace wane::impl {

// Throws wane::error unless `packed` describes B = 1 and T tokens.
inline void check_sequences(packed_sequences const& packed, index batch, index time) {
  if (!packed.present()) return;
  require(batch == 1, "packed sequences lie in one row: batch is ", batch, "; it must be 1");
  require(packed.starts.front() == 0, "packed.starts begins with ", packed.starts.front(),
          "; it must begin with 0");
  for (std::size_t n = 1; n < packed.starts.size(); ++n)
    require(packed.starts[n - 1] <= packed.starts[n], "packed.starts[", n, "] is ",
            packed.starts[n], ", less than ", packed.starts[n - 1],
            " before it; starts must not fall");
  require(packed.starts.back() == time, "packed.starts ends with ", packed.starts.back(),
          "; it must end with the number of tokens, ", time);
}

// The same, and throws wane::error unless lengths is empty, or has one entry in [0, T] for each row
// of the batch. Row b is then lengths[b] tokens and padding. At most one of packed and lengths may
// be given.
inline void check_sequences(packed_sequences const& packed, std::span<index const> lengths,
                            index batch, index time) {
  check_sequences(packed, batch, time);
  if (lengths.empty()) return;
  require(!packed.present(), "packed and lengths are both given; there must be at most one");
  auto const count = static_cast<index>(lengths.size());
  require(count == batch, "lengths has ", count, " entries; it must have one a sequence, ", batch);
  for (std::size_t b = 0; b < lengths.size(); ++b)
    require(0 <= lengths[b] && lengths[b] <= time, "lengths[", b, "] is ", lengths[b],
            "; it must be in [0, ", time, "]");
}

// The tokens begin <= t < end of one row of the batch.
struct token_range {
  index batch, begin, end;
};
// The tokens of sequence n.
inline token_range tokens_of(index n, index time, packed_sequences const& packed,
                             std::span<index const> lengths) {
  auto const i = static_cast<std::size_t>(n);
  if (packed.present()) return {0, packed.starts[i], packed.starts[i + 1]};
  return {n, 0, lengths.empty() ? time : lengths[i]};
}

}  // namespace wane::impl
