// text: the characters of a file, of which the last tenth is kept for tests.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "recall/tasks/task.hpp"

namespace wane::recall {

// Symbols are the bytes that occur, numbered in their order, and the separator.
struct text {
  std::shared_ptr<std::vector<int> const> first = {}, last = {};
  int vocabulary = 0;

  text() = default;
  explicit text(std::string const& bytes) {
    std::array<int, 256> number{};
    auto const place = [](char c) { return static_cast<unsigned char>(c); };
    for (char const c : bytes) number[place(c)] = 1;
    for (int& n : number) n = n ? vocabulary++ : -1;
    ++vocabulary;
    std::vector<int> all;
    for (char const c : bytes) all.push_back(number[place(c)]);
    auto const end = all.begin() + std::ssize(all) * 9 / 10;
    first = std::make_shared<std::vector<int> const>(all.begin(), end);
    last = std::make_shared<std::vector<int> const>(end, all.end());
  }

  task trained_on(index time) const { return of(first, time); }
  task tested_on(index time) const { return of(last, time); }

 private:
  task of(std::shared_ptr<std::vector<int> const> const& symbols, index time) const {
    task all;
    all.name = "text", all.vocabulary = vocabulary, all.time = time, all.prose = symbols;
    return all;
  }
};

}  // namespace wane::recall
