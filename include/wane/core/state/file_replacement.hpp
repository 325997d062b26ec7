// file_replacement: a file is written beside the one that it replaces, so that readers find either.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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
  std::string const& path;
  bool kept = false;

  explicit passing_file(std::string const& name) : path(name) {}
  passing_file(passing_file const&) = delete;
  ~passing_file() {
    if (!kept) std::remove(path.c_str());
  }
};

// The sole right to write a file, which another writer, of this process or another, waits for.
class write_lock {
 public:
  // Makes the file where there is none. Throws wane::error where `path` is anything but a regular
  // file (a link, too) or cannot be opened. A file system without locks gives none.
  explicit write_lock(std::string const& path) {
    for (int tries = 0; !held(path); ++tries)
      require(tries < 1000, path, " is renamed again and again; it must stay while it is written");
  }
  write_lock(write_lock const&) = delete;
  ~write_lock() { give_back(); }

 private:
  // False where the writer before has renamed or removed the file meanwhile.
  bool held(std::string const& path) {
    struct stat found, mine;
    require(lstat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode), path,
            " is no regular file; the new file is written there first");
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    require(file_ >= 0, path, " cannot be opened; its folder must be there, and writable");
    while (flock(file_, LOCK_EX) != 0 && errno == EINTR) continue;
    if (fstat(file_, &mine) == 0 && lstat(path.c_str(), &found) == 0 &&
        mine.st_dev == found.st_dev && mine.st_ino == found.st_ino)
      return true;
    give_back();
    return false;
  }
  // Unlocked by name, because a process that was forked meanwhile has the file open too.
  void give_back() const {
    flock(file_, LOCK_UN);
    close(file_);
  }

  int file_ = -1;
};

//   file_replacement file(path);
//   file.stream() << contents;
//   file.take_place();  // renames PATH.part to PATH
//
// What is at the path stays as it is unless take_place() succeeds. The new file gets the mode of
// the old one. Where the path is a link, the file that it leads to is replaced. A second writer to
// the path waits for the first.
class file_replacement {
 public:
  // Throws wane::error where the path leads to anything but a regular file, or PATH.part is
  // anything else (a link, too) or cannot be opened.
  explicit file_replacement(std::string const& path)
      : old_(path), part_(old_.path + ".part"), lock_(part_), passing_(part_) {
    stream_.open(part_, std::ios::binary | std::ios::trunc);
    require(stream_.good(), part_, " cannot be opened; its folder must be there, and writable");
    // Writers that come meanwhile open the file to wait, so its owner may write until it is done.
    if (old_.is_there) chmod(part_.c_str(), old_.mode | S_IWUSR);
  }

  std::ostream& stream() { return stream_; }
  std::string const& part() const { return part_; }

  // Throws wane::error where the rest could not be written, or the old file cannot be replaced.
  void take_place() {
    stream_.close();
    require(stream_.good(), part_, " could not be written; the disk may be full");
    if (old_.is_there) chmod(part_.c_str(), old_.mode);
    bool const replaced = std::rename(part_.c_str(), old_.path.c_str()) == 0;
    require(replaced, old_.path, " cannot be replaced: ", std::strerror(errno));
    passing_.kept = true;
  }

 private:
  replaceable_path old_;
  std::string part_;
  write_lock lock_;  // given back after the file is removed
  passing_file passing_;
  std::ofstream stream_;  // closed before the file is removed
};

}  // namespace wane::impl
