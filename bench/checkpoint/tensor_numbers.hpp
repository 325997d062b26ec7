// The numbers of a tensor of a checkpoint, of which decays are made.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "shared/input.hpp"
#include "wane/files/stored_tensor.hpp"

namespace wane::bench {

using wane::impl::bytes_of_type, wane::impl::numbers_in, wane::impl::shape_text;

inline std::vector<double> numbers_of(stored_tensor const& t) {
  if (!t.has_reals()) {
    throw input_error("tensor " + in_quotes(t.name) + " is of type " +
                      in_quotes(t.type.substr(0, 40)) +
                      "; decays are read from F64, F32, F16 and BF16");
  }
  return t.values<double>();
}

}  // namespace wane::bench
