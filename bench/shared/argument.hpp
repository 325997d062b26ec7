// Single arguments of the command line as numbers, lists and names.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "shared/input.hpp"

namespace wane::bench {

// All of `text` as a number, "nan" and "inf" among them; empty if it is not a number that a double
// can take.
inline std::optional<double> number_in(std::string_view text) {
  double value = 0;
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

inline std::vector<std::string> parts_of(std::string const& text, char separator) {
  std::vector<std::string> parts(1);
  for (char const c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// A whole number in [low, high]; 1e5 is one.
inline std::int64_t whole_number(std::string const& option, std::string const& text,
                                 std::int64_t low, std::int64_t high) {
  std::int64_t whole = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), whole);
  bool found = problem == std::errc() && end == text.data() + text.size();
  if (auto const value = number_in(text); !found && value) {
    found = *value == std::floor(*value) && std::abs(*value) < 0x1p53;
    if (found) whole = static_cast<std::int64_t>(*value);
  }
  if (!found || whole < low || whole > high) {
    throw input_error(option + " " + in_quotes(text) + " is not a whole number from " +
                      std::to_string(low) + " to " + std::to_string(high));
  }
  return whole;
}

template <class T>
void require_distinct(std::string const& option, std::vector<T> list, std::string const& text) {
  std::sort(list.begin(), list.end());
  if (std::adjacent_find(list.begin(), list.end()) != list.end()) {
    throw input_error(option + " " + in_quotes(text) + " names something twice; name each once");
  }
}

// Whole numbers parted by commas, each once, in the order given.
inline std::vector<std::int64_t> whole_numbers(std::string const& option, std::string const& text,
                                               std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> numbers;
  for (auto const& part : parts_of(text, ',')) {
    numbers.push_back(whole_number(option, part, low, high));
  }
  require_distinct(option, numbers, text);
  return numbers;
}

// One of the names allowed; `also` ends the sentence that lists them.
inline std::string one_of(std::string const& option, std::string const& text,
                          std::vector<std::string> const& names, char const* also = "") {
  if (std::find(names.begin(), names.end(), text) != names.end()) return text;
  std::string message = option + " " + in_quotes(text) + " is unknown; choose from ";
  for (std::size_t i = 0; i < names.size(); ++i) message += (i ? ", " : "") + names[i];
  throw input_error(message + also);
}

}  // namespace wane::bench
