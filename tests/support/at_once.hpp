// Calls on several threads that begin at the same moment.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

namespace support {

// call(i) for 0 <= i < count, each on a thread of its own. A call that throws is a failed test.
template <class Call>
void at_once(int count, Call const& call) {
  std::barrier begin(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      begin.arrive_and_wait();
      EXPECT_NO_THROW(call(i));
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace support
