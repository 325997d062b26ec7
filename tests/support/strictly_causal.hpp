// Any operator with tokens that read before they write, and before their decay.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/recurrence.hpp"

namespace support {

template <class Op>
struct strictly : Op {
  explicit strictly(Op const& op) : Op(op) {}

  struct token : wane::token_of<Op> {
    static constexpr bool is_strictly_causal = true;
  };
  token at(wane::place<> where) const { return {Op::at(where)}; }
};

template <class Op>
struct reads_old : Op {
  explicit reads_old(Op const& op) : Op(op) {}

  struct token : wane::token_of<Op> {
    static constexpr bool reads_before_decay = true;
  };
  token at(wane::place<> where) const { return {Op::at(where)}; }
};

}  // namespace support
