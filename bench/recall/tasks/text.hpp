// text: the characters of a file, of which the last tenth is kept for tests.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recall/tasks/task.hpp"
#include "shared/corpus.hpp"

namespace wane::recall {

// Symbols are those of a corpus, and the separator.
struct text {
  std::shared_ptr<std::vector<int> const> first = {}, last = {};
  int vocabulary = 0;

  text() = default;
  explicit text(std::string const& bytes) {
    bench::corpus const found = bench::corpus_of({&bytes, 1});
    auto const& all = found.texts[0];
    vocabulary = static_cast<int>(found.symbols) + 1;
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
