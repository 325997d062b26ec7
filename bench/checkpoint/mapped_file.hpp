// A file in memory, read as it is needed: a checkpoint may be larger than the machine's memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "shared/input.hpp"

namespace wane::bench {

class mapped_file {
 public:
  // `option` is what named the file.
  mapped_file(std::string const& path, std::string const& option) : path_(path) {
    std::string const file = option + " " + in_quotes(path);
    int const opened = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int problem = opened < 0 ? errno : 0;
    struct stat about {};
    if (opened >= 0) {
      if (fstat(opened, &about) != 0) problem = errno;
      if (S_ISREG(about.st_mode) && about.st_size > 0) {
        size_ = static_cast<std::size_t>(about.st_size);
        start_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, opened, 0);
        if (start_ == MAP_FAILED) problem = errno;
      }
      close(opened);
    }
    if (problem != 0) {
      throw input_error(file + " cannot be read (" + std::strerror(problem) +
                        "); give a readable file");
    }
    if (!S_ISREG(about.st_mode)) throw input_error(file + " is no regular file; give one");
    if (size_ == 0) throw input_error(file + " is empty; give a file with tensors");
  }
  mapped_file(mapped_file const&) = delete;
  mapped_file& operator=(mapped_file const&) = delete;
  ~mapped_file() { munmap(start_, size_); }

  std::string const& path() const { return path_; }
  std::string_view text() const { return {static_cast<char const*>(start_), size_}; }
  std::span<std::byte const> bytes() const {
    return {static_cast<std::byte const*>(start_), size_};
  }

 private:
  std::string path_;
  void* start_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace wane::bench
