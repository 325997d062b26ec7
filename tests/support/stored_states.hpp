// States to be stored, their bytes, and the words with which a file is refused.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/random_values.hpp"
#include "wane/core/state/state_file.hpp"

namespace support {

// 2 sequences, 3 heads, 2 rows, 5 columns.
template <class T>
wane::recurrent_state<T> state_of(std::uint64_t seed) {
  random_values random(seed);
  wane::recurrent_state<T> state(2, 3, 2, 5);
  for (T& x : state.values()) x = T(static_cast<float>(random.uniform(-1, 1)));
  state.positions() = {wane::index{1} << 41, static_cast<wane::index>(seed)};
  return state;
}

template <class T>
std::string bytes_of(wane::recurrent_state<T> const& state, std::string_view name = "gla") {
  std::ostringstream to;
  wane::save_state(to, name, state);
  return to.str();
}

// Loads into a state of its own, which must stay as it was; the words of the error.
inline void expect_refused(std::string const& bytes, std::vector<std::string> const& words,
                           std::string_view name = "gla") {
  wane::recurrent_state<float> state = state_of<float>(9);
  std::istringstream from(bytes);
  try {
    wane::load_state(from, name, state);
    ADD_FAILURE() << "loaded";
  } catch (wane::error const& error) {
    std::string const message = error.what();
    for (auto const& word : words) EXPECT_NE(message.find(word), message.npos) << message;
  }
  EXPECT_EQ(state.values(), state_of<float>(9).values());
  EXPECT_EQ(state.positions(), state_of<float>(9).positions());
}

}  // namespace support
