// Files that are sound but for some bytes: each is read or refused with wane::error.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "bench/process.hpp"
#include "support/safetensors_bytes.hpp"
#include "wane/files/safetensors.hpp"

namespace {

class changes {
 public:
  // Changes bytes, takes pieces out or doubles them, and puts in words that mean something to a
  // reader. In half of the files the stored length of the header grows with it.
  std::string to(std::string file) {
    std::size_t const before = file.size();
    for (std::size_t n = 1 + below(3); n > 0; --n) change(file);
    if (below(2) == 0)
      file[0] = static_cast<char>(file[0] + static_cast<int>(file.size() - before));
    return file;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : bits_() % n; }
  void change(std::string& file) {
    static std::string const words[]{"[",
                                     "]",
                                     "{",
                                     "}",
                                     "\"",
                                     ",",
                                     ":",
                                     "-1",
                                     "1e9",
                                     "\\u",
                                     "\\ud800",
                                     "\"F64\"",
                                     "\xff",
                                     "\xe2\x82",
                                     "18446744073709551615",
                                     "9223372036854775807"};
    std::size_t const at = below(file.size() + 1);
    switch (below(5)) {
      case 0:
        if (at < file.size()) file[at] = static_cast<char>(bits_());
        break;
      case 1:
        file.erase(at, below(20));
        break;
      case 2:
        file.insert(at, file.substr(below(file.size()), below(40)));
        break;
      case 3:
        file[below(8) % file.size()] = static_cast<char>(bits_());
        break;
      default:
        file.insert(at, words[below(std::size(words))]);
    }
    if (file.empty()) file = " ";
  }

  std::mt19937_64 bits_{1};
};

TEST(SafetensorsFuzz, ReadsOrRefusesWhateverAFileHolds) {
  std::string const sound = support::safetensors_of(
      {{"layers.0.A_log", {2, 1}, {0.5f, 0.25f}}, {"\u00e9\"\n", {}, {1}}, {"none", {0, 3}, {}}});
  wane::bench::scratch const place;
  changes changed;
  int taken = 0, refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string const file = changed.to(sound);
    std::string const path = place.write("m.safetensors", file);
    try {
      wane::safetensors const all(path);
      for (auto const& one : all.tensors()) {
        if (one.has_reals()) {
          EXPECT_EQ(std::ssize(one.values<double>()), wane::impl::numbers_in(one.shape));
        }
        EXPECT_EQ(all.find(one.name), &one);
      }
      ++taken;
    } catch (wane::error const&) {
      ++refused;
    } catch (std::exception const& other) {
      FAIL() << other.what() << " from " << testing::PrintToString(file);
    }
    std::filesystem::remove(path);  // some systems write a file to disk that is written over
  }
  EXPECT_GT(taken, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
