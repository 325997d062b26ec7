// The progress of a long measurement: one line, printed on a terminal only.
// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

namespace wane::bench {

// Silent for the first two seconds of the program and when stderr is not a terminal; at most ten
// lines a second; the line is wiped when the work is done. Any thread may advance it.
class progress {
 public:
  explicit progress(bool shown = isatty(STDERR_FILENO) == 1) : shown_(shown) {}
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() { wipe(); }

  void begin(std::string what, std::size_t steps) {
    std::lock_guard const lock(mutex_);
    what_ = std::move(what);
    steps_ = steps;
    done_ = 0;
  }

  void advance() {
    std::lock_guard const lock(mutex_);
    ++done_;
    auto const now = clock::now();
    if (!shown_ || now - start_ < std::chrono::seconds(2)) return;
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    std::fprintf(stderr, "\r\033[K%s: %zu of %zu", what_.c_str(), done_, steps_);
    std::fflush(stderr);
    dirty_ = true;
  }

  void wipe() {
    std::lock_guard const lock(mutex_);
    if (dirty_) std::fputs("\r\033[K", stderr);
    dirty_ = false;
  }

 private:
  using clock = std::chrono::steady_clock;
  bool const shown_;
  clock::time_point const start_ = clock::now();
  clock::time_point last_{};
  std::mutex mutex_;
  std::string what_;
  std::size_t steps_ = 0, done_ = 0;
  bool dirty_ = false;
};

}  // namespace wane::bench
