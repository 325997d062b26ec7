// stack_use: how many bytes of its stack a call needs, on a thread of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace support {

// Fills a stack of 4 MB with a byte, calls `call` on it, and finds the lowest byte that differs.
// What lies above the first function of the thread, such as thread_local variables, is not counted.
template <class Call>
std::ptrdiff_t stack_use(Call const& call) {
  constexpr std::size_t bytes = std::size_t(1) << 22;
  constexpr unsigned char mark = 0xa5;
  struct job {
    Call const& call;
    unsigned char* top;
    static void* run(void* given) {
      job& own = *static_cast<job*>(given);
      own.top = static_cast<unsigned char*>(__builtin_frame_address(0));
      own.call();
      return nullptr;
    }
  } own{call, nullptr};
  auto* const stack = static_cast<unsigned char*>(std::aligned_alloc(4096, bytes));
  std::memset(stack, mark, bytes);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  EXPECT_EQ(pthread_attr_setstack(&attributes, stack, bytes), 0);
  EXPECT_EQ(pthread_create(&thread, &attributes, &job::run, &own), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  unsigned char const* lowest = stack;
  while (lowest < own.top && *lowest == mark) ++lowest;
  std::ptrdiff_t const used = own.top - lowest;
  std::free(stack);
  return used;
}

}  // namespace support
