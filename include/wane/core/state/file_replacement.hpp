// file_replacement: a file is written beside the one that it replaces, so that readers find either.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "wane/core/error.hpp"

namespace wane::impl {

// A path that leads to a regular file or to nothing, with its links followed. <filesystem> would
// find the same, and makes wane.hpp a seventh slower to compile.
struct replaceable_path {
  std::string path;
  bool is_there = false;
  mode_t mode = 0;  // the permissions of a file that is there

  // Throws wane::error where the path leads to anything else.
  explicit replaceable_path(std::string const& given) : path(given) {
    struct stat found;
    if (stat(given.c_str(), &found) != 0) {
      require(lstat(given.c_str(), &found) != 0, given,
              " is a link to nothing; it must lead to a file, or be removed");
      return;
    }
    require(S_ISREG(found.st_mode), given,
            " is no regular file; it must be one, or there must be none");
    is_there = true, mode = found.st_mode & 07777;
    if (char* const real = realpath(given.c_str(), nullptr)) {
      path = real;
      std::free(real);
    }
  }
};

// A file that is removed unless it is kept.
struct passing_file {
  std::string path;  // empty: none

  passing_file() = default;
  passing_file(passing_file const&) = delete;
  ~passing_file() {
    if (!path.empty()) std::remove(path.c_str());
  }
};

//   file_replacement file(path);
//   file.stream() << contents;
//   file.take_place();  // renames PATH.part to PATH
//
// What is at the path stays as it is unless take_place() succeeds. The new file gets the mode of
// the old one. Where the path is a link, the file that it leads to is replaced.
class file_replacement {
 public:
  // Throws wane::error where the path leads to anything but a regular file, or PATH.part is
  // anything else (a link, too) or cannot be opened.
  explicit file_replacement(std::string const& path) : old_(path) {
    std::string const part = old_.path + ".part";
    struct stat other;
    require(lstat(part.c_str(), &other) != 0 || S_ISREG(other.st_mode), part,
            " is no regular file; the new file is written there first");
    part_.path = part;  // beforehand: open may throw std::bad_alloc, and leave an empty file
    stream_.open(part, std::ios::binary | std::ios::trunc);
    if (!stream_.good()) part_.path.clear();
    require(stream_.good(), part, " cannot be opened; its folder must be there, and writable");
    if (old_.is_there) chmod(part.c_str(), old_.mode);
  }

  std::ostream& stream() { return stream_; }
  std::string const& part() const { return part_.path; }

  // Throws wane::error where the rest could not be written, or the old file cannot be replaced.
  void take_place() {
    stream_.close();
    require(stream_.good(), part_.path, " could not be written; the disk may be full");
    bool const replaced = std::rename(part_.path.c_str(), old_.path.c_str()) == 0;
    require(replaced, old_.path, " cannot be replaced: ", std::strerror(errno));
    part_.path.clear();
  }

 private:
  replaceable_path old_;
  passing_file part_;
  std::ofstream stream_;  // closed before part_ is removed
};

}  // namespace wane::impl
