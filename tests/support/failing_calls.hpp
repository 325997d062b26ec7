// expect_all_or_nothing: a call of which each request for memory fails in turn.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "support/memory_asked.hpp"
#include "wane/core/error.hpp"
#include "wane/core/numbers/aligned.hpp"

namespace support {

// A call, and the memory around it as bytes.
struct fallible_call {
  std::function<void()> reset;             // makes the memory what it is before the call
  std::function<void()> call;              // throws std::bad_alloc where memory runs out
  std::function<std::string()> results;    // what a call that succeeds writes
  std::function<std::string()> kept = {};  // what a call that fails leaves as it was
  bool may_throw_error = false;            // wane::error, as streams, which swallow std::bad_alloc
};

template <class Values>
std::string bytes_of(Values const& values) {
  return {reinterpret_cast<char const*>(std::data(values)),
          std::size(values) * sizeof(*std::data(values))};
}

// The scratch memory that threads keep for their next call.
inline void release_scratch() {
#pragma omp parallel num_threads(3)
  wane::impl::memory_of_thread.clear();
}
// Whether so many blocks are on the heap. Threads that were told to end need a moment for it.
inline bool returns_to(std::ptrdiff_t blocks) {
  for (int wait = 0; wait < 1000; ++wait) {
    release_scratch();
    if (blocks_held() == blocks) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// What was found: requests for memory of one call, and failures after which some results had been
// written.
struct failures {
  std::ptrdiff_t requests = 0, partly_written = 0;
};

// One request for memory fails, alone or with all later ones. Returns false where the call makes
// fewer requests.
inline bool survives_failure(fallible_call const& f, std::ptrdiff_t n, failing how,
                             std::string const& right, failures& found) {
  enum { succeeded, no_memory, error } outcome = succeeded;
  f.reset(), release_scratch();
  std::string const before = f.results(), kept = f.kept ? f.kept() : "";
  std::ptrdiff_t const blocks = blocks_held();
  bool struck;
  {
    allocation_fault const fault(n, how);
    try {
      f.call();
    } catch (std::bad_alloc const&) {
      outcome = no_memory;
    } catch (wane::error const&) {
      outcome = error;
    }
    struck = fault.has_struck();
  }
  if (outcome == succeeded) {
    EXPECT_EQ(f.results() == right, true) << "the call succeeds with other results";
    return struck;
  }
  EXPECT_TRUE(struck && (outcome == no_memory || f.may_throw_error));
  EXPECT_TRUE(returns_to(blocks)) << blocks_held() - blocks << " blocks are lost";
  found.partly_written += f.results() != before;
  EXPECT_TRUE(!f.kept || f.kept() == kept) << "what was to be kept has changed";
  f.reset(), f.call();
  EXPECT_TRUE(f.results() == right) << "the next call gives other results";
  return true;
}

// Lets each request for memory of a call fail in turn, or some 300 of them. The call must throw
// std::bad_alloc, leave `kept` as it was and lose no memory, or give the right results; and it must
// give these when it is called again.
inline failures expect_to_survive_failures(fallible_call const& f) {
  failures found;
  // Twice, because the C library and OpenMP ask for memory at their first calls.
  for (int i = 0; i < 2; ++i) f.reset(), f.call();
  std::string const right = f.results();
  constexpr std::ptrdiff_t never = 1 << 30, most = 300;
  f.reset(), release_scratch();
  std::ptrdiff_t every = 1;
  {
    allocation_fault const none(never, failing::once);
    f.call();
    every += none.requests() / most;
  }
  for (failing const how : {failing::once, failing::from_then_on}) {
    std::ptrdiff_t n = 1;
    for (; !testing::Test::HasFailure(); n += every) {
      SCOPED_TRACE("request " + std::to_string(n) +
                   (how == failing::once ? " fails" : " and all later ones fail"));
      if (!survives_failure(f, n, how, right, found)) break;
    }
    found.requests = std::max(found.requests, n - 1);
  }
  return found;
}

// The same, and a call that fails writes nothing. It makes requests, for otherwise nothing fails.
inline void expect_all_or_nothing(fallible_call const& f) {
  failures const found = expect_to_survive_failures(f);
  EXPECT_GT(found.requests, 0);
  EXPECT_EQ(found.partly_written, 0);
}

}  // namespace support
