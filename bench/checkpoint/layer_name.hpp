// Names of tensors taken apart at their dots: which layer, and layers in the order of the model.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "shared/argument.hpp"

namespace wane::bench {

inline bool is_number(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether the name has a layer's number, as "backbone.layers.3.mixer" does.
inline bool is_numbered(std::string const& name) {
  auto const parts = parts_of(name, '.');
  return std::any_of(parts.begin(), parts.end(), is_number);
}

// "layers.9" comes before "layers.10".
inline bool comes_before(std::string const& a, std::string const& b) {
  auto const first = parts_of(a, '.'), second = parts_of(b, '.');
  return std::lexicographical_compare(
      first.begin(), first.end(), second.begin(), second.end(),
      [](std::string const& x, std::string const& y) {
        if (is_number(x) != is_number(y)) return is_number(x);
        return is_number(x) && x.size() != y.size() ? x.size() < y.size() : x < y;
      });
}

// "a.b" and "c" make "a.b.c"; nothing and "c" make "c".
inline std::string joined(std::string const& prefix, std::string const& tail) {
  return prefix.empty() ? tail : prefix + "." + tail;
}

// The parts of a name before `tail`, with which it ends.
inline bool ends_in(std::string const& name, std::string const& tail, std::string& prefix) {
  if (name != tail && !name.ends_with("." + tail)) return false;
  prefix = name.size() == tail.size() ? "" : name.substr(0, name.size() - tail.size() - 1);
  return true;
}

}  // namespace wane::bench
