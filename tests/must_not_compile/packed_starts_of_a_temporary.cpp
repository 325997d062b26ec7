// expect: a temporary is gone before they are read; give it a name
// first: a temporary is gone before they are read|lasting_indices
// SPDX-License-Identifier: MIT
#include <vector>
#include <wane/core/call/run_options.hpp>

wane::run_options<float> options_of(std::vector<wane::index> const& starts) {
#ifdef WANE_CONTROL
  return {.packed = {starts}, .lengths = starts};
#else
  return {.packed = {std::vector<wane::index>(starts)}};
#endif
}
