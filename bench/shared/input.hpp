// Wrong input: one sentence with the fault and the remedy; files and printable names.
// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "wane/files/quoted.hpp"

namespace wane::bench {

// What the user gave cannot be used. The program prints the message on one line and exits with 2.
class input_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using wane::impl::in_quotes, wane::impl::printable;

// "'a.txt'", or "'a.txt' and 3 more".
inline std::string in_quotes(std::vector<std::string> const& names) {
  std::string const more = " and " + std::to_string(names.size() - 1) + " more";
  return in_quotes(names.front()) + (names.size() > 1 ? more : "");
}

// The bytes of a file named by `option`.
inline std::string read_file(std::string const& path, std::string const& option) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) {
    throw input_error(option + " " + in_quotes(path) + " is a directory; give a file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    throw input_error(option + " " + in_quotes(path) + " cannot be read (" +
                      std::strerror(errno ? errno : EIO) + "); give a readable file");
  }
  return content;
}

// Refuses, before any work is done, a file that could not be written at the end.
inline void require_writable(std::string const& path, std::string const& option) {
  if (path.empty()) throw input_error(option + " needs the name of a file, not an empty name");
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) {
    throw input_error(option + " " + in_quotes(path) + " is a directory; give the name of a file");
  }
  bool const existed = std::filesystem::exists(path, none);
  errno = 0;
  bool const opened = std::ofstream(path, std::ios::app).is_open();
  std::string const reason = std::strerror(errno);
  if (opened && !existed) std::filesystem::remove(path, none);
  if (!opened) {
    throw input_error(option + " " + in_quotes(path) + " cannot be written (" + reason +
                      "); give a file in an existing, writable directory");
  }
}

inline void write_file(std::string const& path, std::string const& content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content << std::flush;
  if (!file) throw std::runtime_error("writing " + in_quotes(path) + " failed");
}

}  // namespace wane::bench
