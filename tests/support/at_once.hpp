// Calls on several threads that begin at the same moment.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <barrier>
#include <system_error>
#include <thread>
#include <vector>

namespace support {

// call(i) for 0 <= i < count, each on a thread of its own. A call that throws is a failed test.
template <class Call>
void at_once(int count, Call const& call) {
  std::barrier begin(count);
  std::vector<std::thread> threads;
  try {
    while (std::ssize(threads) < count)
      threads.emplace_back([&, i = static_cast<int>(std::ssize(threads))] {
        begin.arrive_and_wait();
        EXPECT_NO_THROW(call(i));
      });
  } catch (std::system_error const& problem) {
    ADD_FAILURE() << "a thread cannot be started: " << problem.what();
    for (std::ptrdiff_t i = std::ssize(threads); i < count; ++i) begin.arrive_and_drop();
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace support
