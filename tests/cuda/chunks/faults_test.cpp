// Faults planted in the chunk kernel are each seen by the emulated GPU or in the result.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/cases.hpp"
#include "support/faulty_barrier.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using support::index;
using wane::testing::emulated_gpu;
using config = wane::cuda::impl::chunk_config<2, 16>;
using sound_machine = wane::testing::impl::emulated_thread<config::threads>;

// What goes wrong: a barrier, counted from the start of each thread, is missing; threads do not
// hear of each other's votes; a thread's part of every product is lost.
struct fault {
  int barrier = -1;
  bool vote = false;
  int lost_by = -1;
};

class faulty_machine : public support::faulty_barrier<config::threads> {
  using base = support::faulty_barrier<config::threads>;

 public:
  faulty_machine(sound_machine const& sound, fault const& what)
      : base(sound, what.barrier), what_(what) {}

  bool any(bool x) {
    bool const all = base::any(x);
    return what_.vote ? x : all;
  }
  template <class T, class Unit = wane::cuda::impl::matrix_unit<T>>
  void multiply_add(typename Unit::sum& sum, typename Unit::left const& left,
                    typename Unit::right const& right) {
    bool const lost = thread() == what_.lost_by;
    base::multiply_add<T>(sum, lost ? typename Unit::left{} : left, right);
  }

 private:
  fault const& what_;
};

struct faulty_threads {
  fault const& what;
  template <class Kernel, class Body>
  void run(sound_machine& sound, Body const& body) const {
    faulty_machine machine(sound, what);
    body(machine);
  }
};

enum class outcome { refused, wrong, right };

template <class Op, class Exact>
outcome with_fault(Op const& op, Exact const& exact, fault const& what, unsigned seed) {
  wane::recurrence_shape const shape = op.shape();
  auto const outputs = [&](auto const& of, auto const& run) {
    using T = wane::accumulate_type<std::decay_t<decltype(of)>>;
    std::vector<T> y(static_cast<std::size_t>(shape.time * shape.columns));
    run(of, wane::sequence_view<T>(y.data(), 1, shape.time, 1, shape.columns),
        wane::run_options<T>{});
    return support::widened(y);
  };
  auto const emulated = [&](auto const& of, auto const& y, auto const& options) {
    wane::testing::impl::run_named<config>(
        wane::testing::impl::emulated_queue<faulty_threads>({1, seed}, {what}), of, y, options);
  };
  try {
    auto const is = outputs(op, emulated), should_be = outputs(exact, support::in_order{});
    return support::apart(is, should_be) < 1e-6 ? outcome::right : outcome::wrong;
  } catch (wane::testing::machine_fault const&) {
    return outcome::refused;
  }
}

class FaultsOfChunks : public testing::Test {
 protected:
  static constexpr support::chunk_shape shape{.time = 33, .heads = 1, .columns = 40};
  support::chunk_numbers<float> numbers{.shape = shape};
  support::chunk_numbers<double> exact{.shape = shape};

  outcome of_rows(fault const& what, unsigned seed = 1) const {
    return with_fault(numbers.kimi(), exact.kimi(), what, seed);
  }
  outcome of_heads(fault const& what, unsigned seed = 1) const {
    return with_fault(numbers.gated_delta_net(), exact.gated_delta_net(), what, seed);
  }
};

TEST_F(FaultsOfChunks, NoneIsSeenWhereThereIsNone) {
  EXPECT_EQ(of_rows({}), outcome::right);
  EXPECT_EQ(of_heads({}), outcome::right);
}

TEST_F(FaultsOfChunks, AVoteThatIsNotHeardIsSeen) {
  numbers.by_head[20] = -std::numeric_limits<float>::infinity();
  exact.by_head[20] = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(of_heads({}), outcome::right);
  EXPECT_NE(of_heads({.vote = true}), outcome::right);
}

TEST_F(FaultsOfChunks, WhatAThreadLosesOfProductsIsWrong) {
  for (int thread : {0, 13, 31, 32, 63})
    EXPECT_EQ(of_rows({.lost_by = thread}), outcome::wrong) << thread;
}

// Each barrier in turn, from the second on (nothing comes before the first), of two chunks.
TEST_F(FaultsOfChunks, AMissingBarrierIsSeenWhicheverItIs) {
  for (int barrier = 1; barrier < 2 + 2 * 12; ++barrier)
    EXPECT_NE(of_rows({.barrier = barrier}), outcome::right) << barrier;
  for (int barrier = 1; barrier < 2 + 2 * 4; ++barrier)
    EXPECT_NE(of_heads({.barrier = barrier}), outcome::right) << barrier;
}

}  // namespace
