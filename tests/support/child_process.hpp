// child_process: a copy of the test program, by fork, that evaluates one condition.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace support {

//   child_process child([&] { return sums_are_right(); });
//   EXPECT_EQ(child.outcome(), "true");
//
// The child runs none of the exit handlers of the program. One that is still there when the object
// ends is killed.
class child_process {
 public:
  template <class Condition>
  explicit child_process(Condition const& condition) : id_(fork()) {
    if (id_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (id_ != 0) return;
    int status = 2;
    try {
      status = condition() ? 0 : 1;
    } catch (...) {
    }
    _exit(status);
  }
  child_process(child_process&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  ~child_process() { kill(); }

  void kill() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    waitpid(std::exchange(id_, -1), nullptr, 0);
  }

  // "true", "false", "threw", "killed", or "hangs" after so many seconds, by default more than any
  // condition takes on a busy machine under a sanitizer.
  std::string outcome(int seconds = 100) {
    using namespace std::chrono;
    for (auto const end = steady_clock::now() + std::chrono::seconds(seconds);
         steady_clock::now() < end; std::this_thread::sleep_for(milliseconds(1))) {
      int status = 0;
      if (waitpid(id_, &status, WNOHANG) != id_) continue;
      id_ = -1;
      if (!WIFEXITED(status)) return "killed";
      char const* const names[] = {"true", "false", "threw"};
      return WEXITSTATUS(status) < 3 ? names[WEXITSTATUS(status)] : "ended otherwise";
    }
    return "hangs";
  }

 private:
  pid_t id_;
};

}  // namespace support
