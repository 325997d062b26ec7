// Files on a disk that fails: full, forbidden, cut short, and a writer that is killed or
// interrupted.
// SPDX-License-Identifier: MIT
#include "wane/files.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <sstream>
#include <system_error>

#include "bench/process.hpp"
#include "support/child_process.hpp"
#include "support/expect_error.hpp"
#include "wane/core/state/state_file.hpp"

namespace {

using state = wane::recurrent_state<float>;

// A state of so many numbers, all of them `number`.
state state_of(float number, wane::index numbers = 60) {
  state made(1, 1, 1, numbers);
  for (float& x : made.values()) x = number;
  made.positions()[0] = static_cast<wane::index>(number);
  return made;
}
std::vector<wane::stored_tensor> tensors_of(std::vector<float> const& numbers) {
  return {wane::stored_tensor::of("weight", {std::ssize(numbers)}, numbers)};
}
std::ptrdiff_t files_in(wane::bench::scratch const& place) {
  return std::distance(std::filesystem::directory_iterator(place.file("")), {});
}

// How a child process that calls body() ends: its exit status, or 128 and the signal.
int status_of_child(std::function<int()> const& body) {
  pid_t const child = fork();
  if (child == 0) _exit(body());
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// While it lives, no file grows beyond so many bytes, as on a disk that is full.
class full_disk {
 public:
  explicit full_disk(rlim_t bytes) {
    before_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_);
    rlimit const less{bytes, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  ~full_disk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    signal(SIGXFSZ, before_);
  }

 private:
  rlimit limit_;
  void (*before_)(int);
};

TEST(FullDisk, KeepsTheOldFile) {
  wane::bench::scratch const place;
  std::string const of_state = place.file("a.state"), of_tensors = place.file("a.safetensors");
  wane::save_state(of_state, "gla", state_of(1));
  wane::write_safetensors(of_tensors, tensors_of({1, 2, 3}));
  std::string const state_before = wane::bench::content_of(of_state),
                    tensors_before = wane::bench::content_of(of_tensors);
  state const large = state_of(2, 5000);
  std::vector<float> const numbers(5000, 1);
  // Nothing, a part of the header, a part of the numbers, all but the last bytes.
  for (rlim_t const bytes : {0u, 100u, 9000u, 20000u}) {
    support::expect_error({"a.state.part", "disk may be full"}, [&] {
      full_disk const full(bytes);
      wane::save_state(of_state, "gla", large);
    });
    support::expect_error({"a.safetensors.part", "disk may be full"}, [&] {
      full_disk const full(bytes);
      wane::write_safetensors(of_tensors, tensors_of(numbers));
    });
    EXPECT_EQ(wane::bench::content_of(of_state), state_before);
    EXPECT_EQ(wane::bench::content_of(of_tensors), tensors_before);
    EXPECT_EQ(files_in(place), 2);
  }
}

TEST(FullDisk, IsAnErrorOfAStream) {
  std::ofstream full("/dev/full", std::ios::binary);
  if (!full) GTEST_SKIP() << "there is no /dev/full";
  support::expect_error({"the stream", "disk may be full"},
                        [&] { wane::save_state(full, "gla", state_of(1)); });
  std::ofstream again("/dev/full", std::ios::binary);
  support::expect_error({"the stream", "disk may be full"}, [&] {
    wane::write_safetensors(again, tensors_of({1, 2, 3}));
  });
}

TEST(LostFolder, IsAnErrorThatNamesTheFile) {
  wane::bench::scratch const place;
  std::string const file = place.write("file", "content");
  state to = state_of(7);
  for (std::string const& path : {file + "/a.state", place.file("gone/a.state"),
                                  place.file(std::string(300, 'x')), std::string()}) {
    support::expect_error({path}, [&] { wane::save_state(path, "gla", state_of(1)); });
    support::expect_error({path}, [&] { wane::load_state(path, "gla", to); });
    support::expect_error({path}, [&] { wane::write_safetensors(path, tensors_of({1})); });
    support::expect_error({path}, [&] { wane::safetensors const tensors(path); });
  }
  EXPECT_EQ(to.values(), state_of(7).values());
  EXPECT_EQ(files_in(place), 1);
}

// Root may do everything, so a child becomes the user nobody.
TEST(LostPermission, KeepsTheOldFile) {
  wane::bench::scratch const place;
  std::string const path = place.file("a.state");
  wane::save_state(path, "gla", state_of(1));
  auto const errors = [](auto const& call) {
    try {
      call();
    } catch (wane::error const&) {
      return 1;
    }
    return 0;
  };
  auto const in_child = [&](mode_t of_folder, mode_t of_file, auto const& call) {
    EXPECT_EQ(chmod(path.c_str(), of_file), 0);
    EXPECT_EQ(chmod(place.file("").c_str(), of_folder), 0);
    int const status = status_of_child([&] {
      if (getuid() == 0 && setuid(65534) != 0) return 9;
      return errors(call);
    });
    EXPECT_EQ(chmod(place.file("").c_str(), 0700), 0);
    return status;
  };
  state to = state_of(7);
  auto const save = [&] { wane::save_state(path, "gla", state_of(2)); };
  auto const load = [&] { wane::load_state(path, "gla", to); };
  if (in_child(0755, 0644, load) != 0) GTEST_SKIP() << "another user cannot reach the file";
  EXPECT_EQ(in_child(0555, 0644, save), 1);
  EXPECT_EQ(in_child(0000, 0644, save), 1);
  EXPECT_EQ(in_child(0755, 0000, load), 1);
  EXPECT_EQ(files_in(place), 1);
  chmod(path.c_str(), 0600);
  wane::load_state(path, "gla", to);
  EXPECT_EQ(to.values(), state_of(1).values());
}

// Gives a few bytes at a time, and throws or ends after `most`.
class slow_source : public std::streambuf {
 public:
  slow_source(std::string const& bytes, std::size_t most, bool throws)
      : bytes_(bytes), most_(most), throws_(throws) {}

 private:
  int_type underflow() override {
    if (next_ >= most_ && throws_) throw std::runtime_error("the line is dead");
    if (next_ >= std::min(most_, bytes_.size())) return traits_type::eof();
    std::size_t const count = std::min({next_ % 7 + 1, most_ - next_, bytes_.size() - next_});
    setg(&bytes_[next_], &bytes_[next_], &bytes_[next_] + count);
    next_ += count;
    return traits_type::to_int_type(*gptr());
  }

  std::string bytes_;
  std::size_t most_, next_ = 0;
  bool throws_;
};

TEST(ShortReads, GiveTheWholeStateOrNothing) {
  std::ostringstream file;
  wane::save_state(file, "gla", state_of(1));
  for (bool const throws : {false, true}) {
    slow_source whole(file.str(), file.str().size(), throws);
    std::istream from(&whole);
    state to = state_of(7);
    wane::load_state(from, "gla", to);
    EXPECT_EQ(to.values(), state_of(1).values());
    for (std::size_t most = 0; most < file.str().size(); most += 5) {
      slow_source part(file.str(), most, throws);
      std::istream cut(&part);
      to = state_of(7);
      support::expect_error({"cut short"}, [&] { wane::load_state(cut, "gla", to); });
      EXPECT_EQ(to.values(), state_of(7).values());
      EXPECT_EQ(to.positions(), state_of(7).positions());
    }
  }
}

TEST(MappedFile, KeepsItsBytesWhileAnotherTakesItsPlace) {
  wane::bench::scratch const place;
  std::string const path = place.file("a.safetensors");
  wane::write_safetensors(path, tensors_of(std::vector<float>(5000, 1)));
  wane::safetensors const old(path);
  wane::write_safetensors(path, tensors_of({2}));
  EXPECT_EQ(old.values<float>("weight", {5000}), std::vector<float>(5000, 1));
  EXPECT_EQ(wane::safetensors(path).values<float>("weight", {1}), std::vector<float>{2});
}

// A file that becomes shorter under its map ends the process, as the document says.
TEST(MappedFile, ThatBecomesShorterEndsTheProcessWhereItIsRead) {
  wane::bench::scratch const place;
  std::string const path = place.file("a.safetensors");
  wane::write_safetensors(path, tensors_of(std::vector<float>(5000, 1)));
  int const status = status_of_child([&] {
    signal(SIGBUS, SIG_DFL);  // sanitizers have a handler of their own
    wane::safetensors const file(path);
    if (truncate(path.c_str(), 100) != 0) return 9;
    return file.values<float>("weight", {5000})[4999] == 1 ? 0 : 1;
  });
  EXPECT_EQ(status, 128 + SIGBUS);
}

// The child saves two states in turn, until it is killed.
TEST(KilledWriter, LeavesTheOldFileOrTheNewOne) {
  wane::bench::scratch const place;
  std::string const path = place.file("a.state");
  wane::index const numbers = 100000;
  state const states[] = {state_of(1, numbers), state_of(2, numbers)};
  wane::save_state(path, "gla", states[0]);
  int parts = 0;  // of files that a writer had begun
  for (int round = 0; round < 25 || (parts == 0 && round < 500); ++round) {
    support::child_process writer([&] {
      for (int i = 0;; ++i) wane::save_state(path, "gla", states[i % 2]);
      return true;
    });
    // Longer where none was caught while it wrote: a busy machine starts the child late.
    usleep(static_cast<useconds_t>(2000 + 937 * (round < 25 ? round : round % 100)));
    writer.kill();
    state found(1, 1, 1, numbers);
    wane::load_state(path, "gla", found);  // its checksum is right
    EXPECT_TRUE(found.values() == states[0].values() || found.values() == states[1].values());
    parts += files_in(place) > 1;
  }
  EXPECT_GT(parts, 0) << "no writer was killed while it wrote";
  // What is left of the dead writers is in nobody's way.
  wane::save_state(path, "gla", states[0]);
  EXPECT_EQ(files_in(place), 1);
}

// While it lives, a signal interrupts the process every 100 microseconds, and calls are not
// restarted.
class interruptions {
 public:
  static inline volatile sig_atomic_t count = 0;

  interruptions() {
    struct sigaction handled {};
    handled.sa_handler = [](int) { count = count + 1; };
    sigaction(SIGALRM, &handled, &before_);
    itimerval const often{{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~interruptions() {
    itimerval const never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_;
};

TEST(Interruptions, ChangeNothing) {
  wane::bench::scratch const place;
  std::string const path = place.file("a.state"), tensors = place.file("a.safetensors");
  state const from = state_of(1, 200000);
  std::vector<float> const numbers(200000, 3);
  state to = state_of(7, 200000);
  bool right = true;
  interruptions::count = 0;
  {
    interruptions const often;
    for (int i = 0; i < 1000 && (i < 5 || interruptions::count < 50); ++i) {
      wane::save_state(path, "gla", from);
      wane::load_state(path, "gla", to);
      right = right && to.values() == from.values();
      wane::write_safetensors(tensors, tensors_of(numbers));
      right = right && wane::safetensors(tensors).values<float>("weight", {200000}) == numbers;
    }
  }
  EXPECT_TRUE(right);
  EXPECT_GE(interruptions::count, 50);
  EXPECT_EQ(files_in(place), 2);
}

}  // namespace
