// A file in memory that readers find by a name: a disk would take most of the time of a program.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "bench/process.hpp"
#include "fuzz/input.hpp"

namespace fuzz {

class memory_file {
 public:
  explicit memory_file(std::string const& name)
      : path_(place_.file(name)), opened_(memfd_create("wane", 0)) {
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(opened_), path_);
  }
  ~memory_file() { close(opened_); }
  memory_file(memory_file const&) = delete;
  memory_file& operator=(memory_file const&) = delete;

  // The path of the file, which now holds this. What was read of it before must be gone.
  std::string const& with(std::string_view content) const {
    auto const size = static_cast<ssize_t>(content.size());
    must(ftruncate(opened_, 0) == 0 && pwrite(opened_, content.data(), content.size(), 0) == size,
         "a file cannot be written");
    return path_;
  }

 private:
  wane::bench::scratch place_;
  std::string path_;
  int opened_;
};

}  // namespace fuzz
