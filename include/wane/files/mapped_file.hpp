// mapped_file: a file in memory, read as it is needed, for files larger than the machine's memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "wane/core/error.hpp"
#include "wane/files/quoted.hpp"
#if __has_include(<sys/mman.h>)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#else
#include <filesystem>
#include <fstream>
#include <system_error>
#endif

namespace wane::impl {

#if __has_include(<sys/mman.h>)
struct unmap {
  std::size_t size = 0;
  void operator()(std::byte* start) const { munmap(start, size); }
};
using file_memory = std::unique_ptr<std::byte[], unmap>;

// The bytes of a file, of which there are `size`. Throws wane::error.
inline file_memory bytes_of_file(std::string const& path, std::size_t& size) {
  struct stat about {};
  file_memory memory;
  int const opened = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  int problem = opened < 0 ? errno : 0;
  if (opened >= 0) {
    if (fstat(opened, &about) != 0) problem = errno;
    if (S_ISREG(about.st_mode) && about.st_size > 0) {
      size = static_cast<std::size_t>(about.st_size);
      void* const start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened, 0);
      if (start == MAP_FAILED) problem = errno;
      if (problem == 0) memory = {static_cast<std::byte*>(start), unmap{size}};
    }
    close(opened);
  }
  require(problem == 0, in_quotes(path), " cannot be read (", std::strerror(problem),
          "); give a readable file");
  require(S_ISREG(about.st_mode), in_quotes(path), " is no regular file; give one");
  return memory;
}
#else
using file_memory = std::unique_ptr<std::byte[]>;

// Where files cannot be mapped they are read whole.
inline file_memory bytes_of_file(std::string const& path, std::size_t& size) {
  std::error_code problem;
  bool const is_there = std::filesystem::exists(path, problem);
  require(!is_there || std::filesystem::is_regular_file(path, problem), in_quotes(path),
          " is no regular file; give one");
  std::ifstream file(path, std::ios::binary);
  if (is_there) size = static_cast<std::size_t>(std::filesystem::file_size(path, problem));
  auto memory = std::make_unique<std::byte[]>(problem ? 0 : size);
  file.read(reinterpret_cast<char*>(memory.get()), static_cast<std::streamsize>(size));
  require(!problem && file.good(), in_quotes(path), " cannot be read; give a readable file");
  return memory;
}
#endif

}  // namespace wane::impl

namespace wane {

//   mapped_file const file("model.safetensors");
//   std::span<std::byte const> all = file.bytes();
//
// The bytes of a regular file that is not empty, as long as this object lives. They are mapped, so
// only those that are looked at are read, and the file must not become shorter meanwhile: the
// system ends a process that reads beyond the new end (SIGBUS). A file that is renamed to the path,
// as write_safetensors does it, changes nothing here. Throws wane::error where the file cannot be
// read.
class mapped_file {
 public:
  explicit mapped_file(std::string const& path)
      : path_(path), memory_(impl::bytes_of_file(path, size_)) {
    require(size_ > 0, impl::in_quotes(path), " is empty; give a file with tensors");
  }

  std::string const& path() const { return path_; }
  std::span<std::byte const> bytes() const { return {memory_.get(), size_}; }
  std::string_view text() const { return {reinterpret_cast<char const*>(memory_.get()), size_}; }

 private:
  std::string path_;
  std::size_t size_ = 0;
  impl::file_memory memory_;
};

}  // namespace wane
