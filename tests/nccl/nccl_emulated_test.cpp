// nccl_ranks over an emulated NCCL whose ranks, and whose streams, are threads of this process.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/halo_case.hpp"
#include "support/memory_problems.hpp"
#include "support/retention_problem.hpp"
#include "support/sharded_case.hpp"
#include "wane/nccl.cuh"
#include "wane/testing/thread_ranks.hpp"

namespace wane::testing {
namespace {

// Calls body(ranks) on `size` threads with a device each, and returns what each threw.
template <class Body>
std::vector<std::exception_ptr> outcomes(int size, Body const& body) {
  std::vector<ncclComm_t> all(static_cast<std::size_t>(size));
  ncclCommInitAll(all.data(), size, nullptr);
  std::vector<std::exception_ptr> thrown(all.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < all.size(); ++r)
    threads.emplace_back([&, r] {
      int const current = 100 + static_cast<int>(r);  // a device of the caller's, which stays
      cudaSetDevice(current);
      try {
        nccl_ranks const ranks(all[r]);
        body(ranks);
      } catch (...) {
        thrown[r] = std::current_exception();
      }
      int now = -1;
      cudaGetDevice(&now);
      EXPECT_EQ(now, current);
    });
  for (std::thread& t : threads) t.join();
  for (ncclComm_t c : all) ncclCommDestroy(c);
  EXPECT_TRUE(emulated::the_machine().memory.empty());
  EXPECT_TRUE(emulated::the_machine().streams.empty());
  return thrown;
}
auto const on_nccl = [](int size, auto const& body) {
  for (std::exception_ptr const& e : outcomes(size, body))
    if (e) std::rethrow_exception(e);
};
template <class Body>
std::vector<std::string> texts(int size, Body const& body) {
  std::vector<std::string> all;
  for (auto const& e : outcomes(size, body)) try {
      all.emplace_back();
      if (e) std::rethrow_exception(e);
    } catch (std::exception const& x) {
      all.back() = x.what();
    }
  return all;
}

// Lets calls of CUDA and NCCL wait until the device has nothing to do, for the life of this.
struct calls_that_wait {
  explicit calls_that_wait(bool all) {
    emulated::the_machine().allocations_wait = true, emulated::the_machine().all_calls_wait = all;
  }
  ~calls_that_wait() {
    emulated::the_machine().allocations_wait = emulated::the_machine().all_calls_wait = false;
  }
};

std::vector<std::byte> bytes_of(std::size_t count, int seed) {
  std::vector<std::byte> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = static_cast<std::byte>(i * 7 + i / 251 + static_cast<std::size_t>(seed) * 31);
  return all;
}
void expect_message(nccl_ranks const& ranks, int from, std::size_t count, int seed) {
  std::vector<std::byte> got(count, std::byte{0xee});
  ranks.receive(from, got);
  EXPECT_EQ(got, bytes_of(count, seed)) << from << " to " << ranks.rank() << ", " << count;
}

TEST(OverNccl, IsARankGroup) {
  static_assert(rank_group<nccl_ranks>);
  on_nccl(3, [](nccl_ranks const& ranks) {
    EXPECT_EQ(ranks.size(), 3);
    EXPECT_TRUE(ranks.rank() >= 0 && ranks.rank() < 3);
  });
}

TEST(OverNccl, MessagesComeInOrder) {
  std::vector<std::size_t> const sizes{100, 0, 1, 5'000'000, 17, 0, 300'000};
  for (bool upwards : {true, false})
    on_nccl(2, [&](nccl_ranks const& ranks) {
      for (int i = 0; i < 7; ++i)
        if ((ranks.rank() == 0) == upwards)
          ranks.send(1 - ranks.rank(), bytes_of(sizes[static_cast<std::size_t>(i)], i));
        else
          expect_message(ranks, 1 - ranks.rank(), sizes[static_cast<std::size_t>(i)], i);
    });
}

TEST(OverNccl, SendDoesNotWaitForItsReceiver) {
  for (int size : {2, 3}) {
    std::atomic<int> sent = 0;
    on_nccl(size, [&](nccl_ranks const& ranks) {
      int const next = (ranks.rank() + 1) % size, before = (ranks.rank() + size - 1) % size;
      for (int i = 0; i < 5; ++i) ranks.send(next, bytes_of(1000, i));
      ++sent;
      while (sent < size) std::this_thread::yield();
      for (int i = 0; i < 5; ++i) expect_message(ranks, before, 1000, i);
    });
  }
}

// In both directions, with messages that grow.
TEST(OverNccl, RingsDoNotDeadlock) {
  for (bool allocations_wait : {false, true})
    for (int size : {2, 3, 4}) {
      std::unique_ptr<calls_that_wait> const wait(allocations_wait ? new calls_that_wait(false)
                                                                   : nullptr);
      on_nccl(size, [&](nccl_ranks const& ranks) {
        int const next = (ranks.rank() + 1) % size, before = (ranks.rank() + size - 1) % size;
        for (std::size_t count : {std::size_t{8}, std::size_t{100'000}, std::size_t{0}}) {
          ranks.send(next, bytes_of(count, ranks.rank()));
          expect_message(ranks, before, count, before);
          ranks.send(before, bytes_of(count, ranks.rank()));
          expect_message(ranks, next, count, next);
        }
      });
    }
}

TEST(OverNccl, NeighboursMaySendBeforeBothReceive) {
  for (int size : {2, 3, 4})
    on_nccl(size, [&](nccl_ranks const& ranks) {
      bool const first = ranks.rank() == 0, last = ranks.rank() + 1 == size;
      for (int i = 0; i < 3; ++i) {
        if (!first) ranks.send(ranks.rank() - 1, bytes_of(5000, i));
        if (!last) ranks.send(ranks.rank() + 1, bytes_of(6000, i));
      }
      for (int i = 0; i < 3; ++i) {
        if (!first) expect_message(ranks, ranks.rank() - 1, 6000, i);
        if (!last) expect_message(ranks, ranks.rank() + 1, 5000, i);
      }
    });
}

TEST(OverNccl, AllGather) {
  for (int size : {1, 2, 3, 4})
    on_nccl(size, [&](nccl_ranks const& ranks) {
      for (std::size_t count : {std::size_t{5}, std::size_t{0}, std::size_t{70'000}}) {
        std::vector<std::byte> all(count * static_cast<std::size_t>(size)), expected;
        ranks.all_gather(bytes_of(count, ranks.rank()), all);
        for (int r = 0; r < size; ++r)
          for (std::byte b : bytes_of(count, r)) expected.push_back(b);
        EXPECT_EQ(all, expected);
      }
      std::vector<std::byte> all(7);
      support::expect_error({"all has 7 bytes; it must have "},
                            [&] { ranks.all_gather(bytes_of(8, 0), all); });
    });
}

TEST(OverNccl, RefusesRanksThatAreNoOthers) {
  on_nccl(2, [](nccl_ranks const& ranks) {
    for (int other : {-1, 2, ranks.rank()}) {
      std::string const sentence = "rank " + std::to_string(ranks.rank()) +
                                   " of 2 exchanges a message with rank " + std::to_string(other) +
                                   "; it must be another rank of the group";
      support::expect_error({sentence.c_str()}, [&] { ranks.send(other, {}); });
      support::expect_error({sentence.c_str()}, [&] { ranks.receive(other, {}); });
    }
  });
}

TEST(OverNccl, Halo) {
  halo_case::expect_tokens_before(on_nccl, {1, 2, 3, 4, 7});
  halo_case::expect_adjoint(on_nccl, {1, 2, 3, 4});
}

void expect_broadcast(std::vector<int> const& sizes) {
  for (int size : sizes)
    on_nccl(size, [&](nccl_ranks const& ranks) {
      recurrent_state<float> state(2, 1, 2, 3);
      state.values()[4] = static_cast<float>(ranks.rank());
      broadcast(ranks, size / 2, state);
      EXPECT_EQ(state.values()[4], static_cast<float>(size / 2));
    });
}

TEST(OverNccl, Broadcast) { expect_broadcast({1, 2, 3, 5}); }

memory_size const size_of_all{1, 97, 5, 8, 9};

// What a rank has after sharded_run and sharded_adjoint.
template <class T>
struct shard_outcome {
  std::vector<T> output, state;
  std::vector<std::vector<T>> gradients;
  bool operator==(shard_outcome const&) const = default;
};
template <class T, class Ranks, class P>
shard_outcome<T> outcome_of_shard(Ranks const& ranks, P problem) {
  auto const at = cuts(ranks, problem.time());
  auto const rank = static_cast<std::size_t>(ranks.rank());
  auto const op = problem.make(at[rank], at[rank + 1]);
  recurrence_shape const shape = output_shape_of(op);
  index const count = shape.batch * shape.time * shape.heads * shape.columns;
  shard_outcome<T> to{std::vector<T>(static_cast<std::size_t>(count)), {}, {}};
  std::vector<T> const dy(to.output.size(), T(0.5));
  auto const rows = [&](auto* x) {
    return view<std::remove_pointer_t<decltype(x)>, 4>(x, shape.batch, shape.time, shape.heads,
                                                       shape.columns);
  };
  recurrent_state<T> final(op), start(op);
  sharding<T> const shard{.start = start};
  sharded_run(ranks, op, rows(to.output.data()), {.final = final, .threads = 1}, shard);
  for (auto gradient : problem.input_gradients()) std::fill(gradient.begin(), gradient.end(), T(0));
  sharded_adjoint(ranks, op, rows(dy.data()), problem.gradients(at[rank], at[rank + 1]),
                  {.threads = 1}, shard);
  to.state.assign(final.values().begin(), final.values().end());
  for (auto gradient : problem.input_gradients())
    to.gradients.emplace_back(gradient.begin(), gradient.end());
  return to;
}
template <class T, class P>
void expect_bits_of_threads(P const& problem) {
  for (int size : {1, 2, 3, 4}) {
    std::vector<shard_outcome<T>> threads(static_cast<std::size_t>(size)), nccl = threads;
    auto const into = [&](auto& to) {
      return [&](auto const& ranks) {
        to[static_cast<std::size_t>(ranks.rank())] = outcome_of_shard<T>(ranks, problem);
      };
    };
    on_ranks(size, into(threads));
    on_nccl(size, into(nccl));
    EXPECT_TRUE(threads == nccl) << size << " ranks";
  }
}

TEST(OverNccl, ShardedCallsHaveTheBitsOfThreads) {
  expect_bits_of_threads<float>(gla_problem<float>(size_of_all));
  expect_bits_of_threads<double>(gated_delta_net_problem<double>(size_of_all));
  // States that fade are found early, and sent before any is received.
  expect_bits_of_threads<float>(gla_problem<float>({1, 6000, 3, 4, 5}));
}

TEST(OverNccl, ShardedCallsAreThoseOfTheWhole) {
  for (int size : {1, 2, 3, 4})
    on_nccl(size, [](nccl_ranks const& ranks) {
      expect_same(ranks, gla_problem<float>(size_of_all), 1e-6);
      expect_same(ranks, gated_delta_net_problem<double>(size_of_all), 1e-12);
      expect_same(ranks, support::retention_problem<double>{.columns = 130}, 1e-12);
    });
}

// What runs before each rank, of effects that do not commute.
void expect_scan(std::initializer_list<int> sizes) {
  for (int size : sizes)
    on_nccl(size, [](nccl_ranks const& ranks) {
      auto const of = [](int rank) { return effect<double>{.5, static_cast<double>(rank)}; };
      auto const before = exclusive_scan(ranks, std::vector{of(ranks.rank())});
      effect<double> in_turn;
      for (int r = 0; r < ranks.rank(); ++r) in_turn = then(in_turn, of(r));
      EXPECT_EQ(before.empty() ? 7. : apply(before[0], 7.), apply(in_turn, 7.));
    });
}
TEST(OverNccl, ExclusiveScan) { expect_scan({1, 2, 3, 5, 8}); }

// Wane's own calls end even if each operation waits for its counterpart before the next begins.
TEST(OverNccl, CallsOfWaneNeedNoOperationsAtTheSameTime) {
  calls_that_wait const wait(true);
  halo_case::expect_tokens_before(on_nccl, {2, 3, 4});
  halo_case::expect_adjoint(on_nccl, {2, 3, 4});
  expect_broadcast({2, 3, 4, 5});
  expect_scan({2, 3, 5, 8});
  expect_bits_of_threads<float>(gla_problem<float>({1, 4000, 3, 4, 5}));
  expect_bits_of_threads<double>(gated_delta_net_problem<double>(size_of_all));
}

TEST(OverNccl, ARankThatThrowsEndsTheCallForAll) {
  for (int size : {2, 3, 4})
    on_nccl(size, [](nccl_ranks const& ranks) { expect_failure_for_all(ranks, size_of_all); });
}

void run_gla(nccl_ranks const& ranks) {
  gla_problem<float> const problem(size_of_all);
  auto const op = problem.make(0, 20);
  std::vector<float> y(20 * 5 * 9);
  sharded_run(ranks, op, {y.data(), 1, 20, 5, 9}, run_options<float>{.threads = 1});
}

// The engine fails on rank 1: it throws what failed, all others throw too, and none is left
// waiting.
TEST(AFaultOfNccl, EndsTheCallForAll) {
  for (char const* function :
       {"ncclSend", "ncclRecv", "ncclAllGather", "cudaMalloc", "cudaHostAlloc", "cudaMemcpyAsync"})
    for (int after : {0, 2, 4}) {
      bool const of_cuda = function[0] == 'c';
      emulated::the_machine().faults.clear();
      auto const found = texts(3, [&](nccl_ranks const& ranks) {
        if (ranks.rank() == 1) {
          std::lock_guard const lock(emulated::the_machine().mutex);
          emulated::the_machine().faults[{function, 1}] = {
              after, of_cuda ? int{cudaErrorMemoryAllocation} : int{ncclSystemError}};
        }
        try {
          for (int i = 0; i < 20; ++i) run_gla(ranks);
        } catch (...) {
          if (ranks.rank() == 1) {  // the group stays as it is
            std::vector<std::byte> all(3);
            EXPECT_THROW(ranks.all_gather(bytes_of(1, 0), all), std::runtime_error);
          }
          throw;
        }
      });
      bool const failed = emulated::the_machine().faults.empty();
      for (std::string const& text : found)
        EXPECT_EQ(text.empty(), !failed) << function << ' ' << after;
      if (!failed) continue;
      EXPECT_NE(found[1].find(of_cuda ? "cudaErrorMemoryAllocation"
                                      : std::string("NCCL: ") + function +
                                            ": unhandled system error; emulated"),
                std::string::npos)
          << found[1];
    }
  emulated::the_machine().faults.clear();
}

TEST(AFaultOfNccl, IsFoundWhileARankWaits) {
  auto const found = texts(2, [](nccl_ranks const& ranks) {
    std::vector<std::byte> bytes(8);
    if (ranks.rank() == 0) ranks.receive(1, bytes);  // which sends nothing
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    emulated::report_error(0, ncclSystemError);
    ranks.receive(0, bytes);
  });
  EXPECT_EQ(found[0], "NCCL: while its operations ran: unhandled system error; emulated");
  EXPECT_EQ(found[1],
            "NCCL: while its operations ran: remote process exited or there was a network error; "
            "emulated");
}

TEST(AFaultOfNccl, InItsConstructorIsThrown) {
  emulated::the_machine().faults[{"ncclCommSplit", 0}] = {1, ncclSystemError};
  auto const found = texts(1, [](nccl_ranks const&) {});
  EXPECT_EQ(found[0], "NCCL: ncclCommSplit: unhandled system error; emulated");
}

// Rank 0 throws after it has sent a message that rank 1 does not receive.
TEST(ARankThatEnds, EndsThoseThatWaitForIt) {
  auto const found = texts(3, [](nccl_ranks const& ranks) {
    if (ranks.rank() == 0) {
      ranks.send(1, bytes_of(100, 0));
      throw std::runtime_error("gone");
    }
    run_gla(ranks);
  });
  EXPECT_EQ(found[0], "gone");
  for (std::size_t r : {1u, 2u})
    EXPECT_NE(found[r].find("remote process exited"), std::string::npos) << found[r];
}

}  // namespace
}  // namespace wane::testing
