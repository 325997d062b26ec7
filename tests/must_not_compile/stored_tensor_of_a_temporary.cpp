// expect: a temporary is gone before it is read; give it a name
// SPDX-License-Identifier: MIT
#include <vector>
#include <wane/files/stored_tensor.hpp>

wane::stored_tensor tensor_of(std::vector<float> const& numbers) {
#ifdef WANE_CONTROL
  return wane::stored_tensor::of("A_log", {8}, numbers);
#else
  return wane::stored_tensor::of("A_log", {8}, std::vector<float>(numbers));
#endif
}
