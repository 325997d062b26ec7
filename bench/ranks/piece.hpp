// piece: a memory over the tokens of a rank, and ranks of any engine as one type.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "shared/stopwatch.hpp"
#include "wane/ranks.hpp"

namespace wane::bench {

// Ranks of any engine, as one type, so that the operators are compiled once. Counts what is sent.
class group {
 public:
  template <rank_group Ranks>
  explicit group(Ranks const& ranks)
      : rank_(ranks.rank()),
        size_(ranks.size()),
        send_([&](int to, std::vector<std::byte> message) { ranks.send(to, std::move(message)); }),
        receive_([&](int from, std::span<std::byte> to) { ranks.receive(from, to); }),
        all_gather_([&](std::span<std::byte const> mine, std::span<std::byte> all) {
          ranks.all_gather(mine, all);
        }) {}

  int rank() const { return rank_; }
  int size() const { return size_; }
  void send(int to, std::vector<std::byte> message) const {
    bytes += message.size();
    send_(to, std::move(message));
  }
  void receive(int from, std::span<std::byte> to) const { receive_(from, to); }
  void all_gather(std::span<std::byte const> mine, std::span<std::byte> all) const {
    all_gather_(mine, all);
  }

  mutable std::size_t bytes = 0;

 private:
  int rank_, size_;
  std::function<void(int, std::vector<std::byte>)> send_;
  std::function<void(int, std::span<std::byte>)> receive_;
  std::function<void(std::span<std::byte const>, std::span<std::byte>)> all_gather_;
};

inline void wait_for_all(group const& ranks) { (void)impl::gathered(ranks, 0); }

// What P ranks of one thread say of one sequence, each with so many tokens of it.
inline std::vector<impl::shard_report> reports_of(recurrence_shape const& shape, index P,
                                                  index tokens, sharding<float> const& how) {
  impl::shard_report const report{.batch = 1,
                                  .heads = shape.heads,
                                  .rows = shape.rows,
                                  .columns = shape.columns,
                                  .parts = how.parts,
                                  .exchange = how.exchange,
                                  .tokens = tokens};
  return std::vector(static_cast<std::size_t>(P), report);
}

// The parts that they cut a state into.
inline index parts_over_ranks(std::vector<impl::shard_report> const& reports,
                              impl::box_cuts const& cuts) {
  index parts = 0;
  impl::shard_parts(reports, cuts).for_each({}, [&](auto const&) { ++parts; });
  return parts;
}

// Runs, or adjoints, that an effect costs, and whether ranks hand on effects; states that fade are
// handed on all the same.
template <class Op>
double runs_of_effect(recurrence_shape const& shape, bool back) {
  auto const form = impl::transition_form_of<Op>(shape);
  return back ? 1 + impl::runs_for_transition(form) / 4
              : impl::runs_for_drive(impl::has_lags<Op>) + impl::runs_for_transition(form);
}
template <class Op>
bool hands_on_effects(std::vector<impl::shard_report> const& reports, recurrence_shape const& shape,
                      bool back) {
  return back ? impl::hands_on_effects<Op, float>(reports, shape, impl::cuts_of_adjoint<Op>, 4)
              : impl::hands_on_effects<Op, float>(reports, shape, impl::cuts_of_run<Op>, 1);
}

// Seconds of a call on the wall.
template <class Work>
double seconds(Work const& work) {
  return seconds_of(work, 1, 2);
}

// A memory over some tokens, with all that its passes read and write.
template <class Memory>
struct piece {
  Memory memory;
  std::vector<float> y, dy;
  recurrent_state<float> final, start;

  piece(index first, index tokens)
      : memory{{first, tokens, Memory::heads}},
        y(static_cast<std::size_t>(tokens * Memory::heads * Memory::columns)),
        dy(memory.at.of(9, Memory::columns, -1, 1)),
        final(memory.op()),
        start(memory.op()) {}

  auto view(std::vector<float>& of) { return memory.at.rows(of, Memory::columns); }
  void run() { wane::run(memory.op(), view(y), run_options<float>{.final = final, .threads = 1}); }
  // The heads in so many parts, one after the other.
  void run_in_parts(index parts) {
    index const heads = (Memory::heads + parts - 1) / parts;
    for (index h = 0; h < Memory::heads; h += heads)
      wane::run(memory.op(), view(y),
                run_options<float>{
                    .final = final,
                    .threads = 1,
                    .box = {.first_head = h, .heads = std::min(heads, Memory::heads - h)}});
  }
  void adjoint() {
    wane::adjoint(memory.op(), view(dy), memory.gradients(), adjoint_options<float>{.threads = 1});
  }
  void run(group const& ranks, sharding<float> how) {
    how.start = start;
    sharded_run(ranks, memory.op(), view(y), run_options<float>{.final = final, .threads = 1}, how);
  }
  void adjoint(group const& ranks, sharding<float> how) {
    how.start = start;
    sharded_adjoint(ranks, memory.op(), view(dy), memory.gradients(),
                    adjoint_options<float>{.threads = 1}, how);
  }
};

}  // namespace wane::bench
