// A POSIX extended regular expression that names of tensors are held against.
// SPDX-License-Identifier: MIT
#pragma once

#include <regex.h>

#include <cstddef>
#include <memory>
#include <string>

#include "shared/input.hpp"

namespace wane::bench {

class name_pattern {
 public:
  explicit name_pattern(std::string const& expression) {
    constexpr std::size_t longest = 1000;
    if (expression.size() > longest) throw input_error("--pattern is longer than 1000 bytes");
    regex_t compiled;
    if (regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
      throw input_error("--pattern: " + in_quotes(expression) + " is no regular expression");
    }
    compiled_ = {new regex_t(compiled), [](regex_t* owned) {
                   regfree(owned);
                   delete owned;
                 }};
  }

  // Whether some part of the name matches.
  bool matches(std::string const& name) const {
    return regexec(compiled_.get(), name.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  std::shared_ptr<regex_t> compiled_;
};

}  // namespace wane::bench
