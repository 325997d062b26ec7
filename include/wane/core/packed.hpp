// Packed sequences: sequences of different lengths laid end to end in one tensor.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "wane/core/error.hpp"
#include "wane/core/scalar.hpp"

namespace wane {

// Sequence n holds the tokens starts[n] <= t < starts[n + 1]; starts has one entry more than there
// are sequences, begins with 0, never falls, and ends with T. Empty sequences are legal; no
// sequence at all is {0}, while no starts mean that nothing is packed. State and position begin
// anew in each.
struct packed_sequences {
  std::span<index const> starts;

  index count() const { return static_cast<index>(starts.size()) - 1; }
  bool present() const { return !starts.empty(); }
};

// Throws wane::error unless `packed` describes B = 1 and T tokens.
inline void check(packed_sequences const& packed, index batch, index time) {
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

}  // namespace wane
