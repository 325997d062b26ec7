// save_state to one path by several threads and processes: a reader always finds one state, whole.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/process.hpp"
#include "support/child_process.hpp"
#include "wane/core/state/state_file.hpp"

namespace {

using wane::index;
namespace fs = std::filesystem;

constexpr int writers = 3, saves = 40;

// Large enough for many writes to the file: 64 KB of one number.
wane::recurrent_state<float> state_of(int number) {
  wane::recurrent_state<float> state(1, 4, 64, 64);
  std::ranges::fill(state.values(), static_cast<float>(number));
  state.positions() = {number};
  return state;
}

struct ConcurrentSaves : testing::Test {
  wane::bench::scratch const place;
  std::string const folder = place.file(""), file = place.file("a.state");

  void SetUp() override { wane::save_state(file, "gla", state_of(0)); }

  void save_often(int writer) const {
    for (int i = 0; i < saves; ++i) wane::save_state(file, "gla", state_of(writer));
  }
  // load_state throws where a file is cut short or damaged.
  bool is_whole() const {
    wane::recurrent_state<float> found = state_of(-1);
    wane::load_state(file, "gla", found);
    auto const& values = found.values();
    return std::ranges::all_of(values, [&](float x) { return x == values[0]; }) &&
           found.positions()[0] == static_cast<index>(values[0]);
  }
  index number_found() const {
    wane::recurrent_state<float> found = state_of(-1);
    wane::load_state(file, "gla", found);
    return found.positions()[0];
  }
  std::future<void> save_on_a_thread(int number) const {
    return std::async(std::launch::async,
                      [this, number] { wane::save_state(file, "gla", state_of(number)); });
  }
  void expect_one_file() const {
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "nothing else is left";
  }
};

TEST_F(ConcurrentSaves, ByThreadsLeaveOneStateWhole) {
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int w = 1; w <= writers; ++w)
    threads.emplace_back([&, w] {
      EXPECT_NO_THROW(save_often(w));
      ++done;
    });
  bool whole = true;
  while (done < writers) EXPECT_NO_THROW(whole = whole && is_whole());
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(whole && is_whole());
  expect_one_file();
}

TEST_F(ConcurrentSaves, ByProcessesLeaveOneStateWhole) {
  std::vector<support::child_process> children;
  for (int w = 1; w <= writers; ++w)
    children.emplace_back([&, w] {
      save_often(w);
      return is_whole();
    });
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(is_whole());
  for (support::child_process& child : children) EXPECT_EQ(child.outcome(), "true");
  EXPECT_TRUE(is_whole());
  expect_one_file();
}

TEST_F(ConcurrentSaves, WaitForAWriterAndNotForItsForkedChild) {
  std::optional<wane::impl::file_replacement> first(file);
  support::child_process sleeper([] {
    std::this_thread::sleep_for(std::chrono::minutes(5));
    return true;
  });
  auto const second = save_on_a_thread(2);
  wane::impl::write_state(first->stream(), "gla", wane::state_view(state_of(1)), "the file");
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  EXPECT_NO_THROW(first->take_place());
  first.reset();
  EXPECT_EQ(second.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  sleeper.kill();
  second.wait();
  EXPECT_EQ(number_found(), 2);
  expect_one_file();
}

TEST_F(ConcurrentSaves, AfterAWriterThatFailedSucceed) {
  std::optional<wane::impl::file_replacement> first(file);
  auto second = save_on_a_thread(2);
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  first.reset();  // did not take its place
  EXPECT_NO_THROW(second.get());
  EXPECT_EQ(number_found(), 2);
  expect_one_file();
}

TEST_F(ConcurrentSaves, OfAReadOnlyFileLetTheNextWriterOpenItsPart) {
  fs::permissions(file, fs::perms::owner_read);
  wane::impl::file_replacement begun(file);
  EXPECT_EQ(fs::status(file + ".part").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  begun.take_place();
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read);
}

// What a writer that was killed has left is overwritten.
TEST_F(ConcurrentSaves, AfterAWriterThatWasKilledSucceed) {
  support::child_process killed([&] {
    wane::impl::file_replacement const begun(file);
    std::this_thread::sleep_for(std::chrono::seconds(60));
    return true;
  });
  for (int i = 0; i < 60000 && !fs::exists(file + ".part"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(fs::exists(file + ".part"));
  killed.kill();
  EXPECT_NO_THROW(wane::save_state(file, "gla", state_of(2)));
  EXPECT_TRUE(is_whole());
  expect_one_file();
}

}  // namespace
