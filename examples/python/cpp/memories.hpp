// The table of the memories that Python can call.
// SPDX-License-Identifier: MIT
#pragma once

#include "call.hpp"

namespace wane_python {

std::vector<memory> gated_memories(), delta_memories(), rwkv7_memories(), mamba_memories(),
    vort_memories(), laplace_memories(), vla_memories();

inline std::vector<memory> const& memories() {
  static std::vector<memory> const all = [] {
    std::vector<memory> found;
    for (auto const& family :
         {gated_memories(), delta_memories(), rwkv7_memories(), mamba_memories(), vort_memories(),
          laplace_memories(), vla_memories()})
      found.insert(found.end(), family.begin(), family.end());
    return found;
  }();
  return all;
}

}  // namespace wane_python
