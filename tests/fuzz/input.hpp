// What the programs of tests/fuzz share: parts of an input, a failed check, a refusal.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "shared/input.hpp"
#include "wane/core/error.hpp"

namespace fuzz {

// Ends the program, so that libFuzzer keeps the input, where a condition does not hold.
template <class... Parts>
void must(bool condition, char const* what, Parts const&... parts) {
  if (condition) return;
  std::fprintf(stderr, "wrong: %s", what);
  ((std::fprintf(stderr, " %.17g", static_cast<double>(parts))), ...);
  std::fprintf(stderr, "\n");
  std::abort();
}

// The bytes of an input, taken from the front. Behind the end they are zeros.
class input {
 public:
  input(std::uint8_t const* data, std::size_t size)
      : rest_(reinterpret_cast<char const*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    auto const first = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }
  // A number from 0 to n - 1, for n up to 256.
  int below(int n) { return byte() % n; }
  bool flag() { return byte() & 1; }
  template <class T>
  T number() {
    T x{};
    auto const count = std::min(sizeof x, rest_.size());
    std::memcpy(&x, rest_.data(), count);
    rest_.remove_prefix(count);
    return x;
  }
  // The text up to `end`, which is taken too.
  std::string until(char end) {
    auto const text = rest_.substr(0, rest_.find(end));
    rest_.remove_prefix(std::min(text.size() + 1, rest_.size()));
    return std::string(text);
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// Whether read() takes what it reads; false where it refuses it with an error of wane or of the
// programs. Any other exception ends the program.
template <class Read>
bool takes(Read const& read) {
  try {
    read();
    return true;
  } catch (wane::error const& refused) {
    must(std::strlen(refused.what()) > 0, "an error says nothing");
  } catch (wane::bench::input_error const& refused) {
    must(std::strlen(refused.what()) > 0, "an error says nothing");
  }
  return false;
}

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
