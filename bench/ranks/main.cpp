// wane-bench-ranks: one sequence over many ranks beside one rank, and beside the model of a chain.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>

#include "ranks/memories.hpp"
#include "shared/stopwatch.hpp"
#include "wane/ranks.hpp"
#include "wane/testing/thread_ranks.hpp"
#ifdef WANE_HAS_MPI
#include "wane/mpi.hpp"
#endif

namespace wane::bench {
namespace {

constexpr char const* purpose =
    "wane-bench-ranks: sharded_run and sharded_adjoint over ranks with one thread each, beside "
    "one\n"
    "rank: with as many tokens in all (strong), and as many on each rank (weak). Under mpirun the\n"
    "ranks are MPI's processes, otherwise --ranks threads. Medians of --rounds, which alternate.\n"
    "model: P parts / (parts + P - 1), a chain whose ranks have as much work. state: bytes that "
    "each\n"
    "boundary needs, H rows columns numbers; sent: bytes that a rank sent, headers included.";

struct settings {
  index tokens = 65536, parts = 0;
  int rounds = 5, ranks = 2;
  std::vector<std::string> operators;
};

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

void wait_for_all(group const& ranks) { (void)impl::gathered(ranks, 0); }

// Seconds on the wall.
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
  void adjoint() {
    wane::adjoint(memory.op(), view(dy), memory.gradients(), adjoint_options<float>{.threads = 1});
  }
  void run(group const& ranks, index parts) {
    sharded_run(ranks, memory.op(), view(y), run_options<float>{.final = final, .threads = 1},
                sharding<float>{.start = start, .parts = parts});
  }
  void adjoint(group const& ranks, index parts) {
    sharded_adjoint(ranks, memory.op(), view(dy), memory.gradients(),
                    adjoint_options<float>{.threads = 1},
                    sharding<float>{.start = start, .parts = parts});
  }
};

// How far the final state of the last rank is from that of one rank, relative to its size.
template <class Memory>
double error(group const& ranks, piece<Memory>& own, piece<Memory> const* whole) {
  recurrent_state<float> final = own.final;
  broadcast(ranks, ranks.size() - 1, final);
  double apart = 0, size = 0;
  for (std::size_t i = 0; whole && i < final.values().size(); ++i) {
    double const is = final.values()[i], must_be = whole->final.values()[i];
    apart += (is - must_be) * (is - must_be), size += must_be * must_be;
  }
  return apart == 0 ? 0 : std::sqrt(apart / size);
}

template <class Memory>
void row(group const& ranks, settings const& s, bool strong) {
  index const P = ranks.size(), each = strong ? s.tokens / P : s.tokens;
  piece<Memory> own(each * ranks.rank(), each);
  std::optional<piece<Memory>> whole;
  if (ranks.rank() == 0) whole.emplace(0, strong ? each * P : each);
  recurrence_shape const shape = own.memory.op().shape();
  using op = decltype(own.memory.op());
  for (bool const back : {false, true}) {
    std::vector<double> one, many;
    for (int round = 0; round <= s.rounds; ++round) {  // the first warms up
      wait_for_all(ranks);
      if (whole) one.push_back(seconds([&] { back ? whole->adjoint() : whole->run(); }));
      wait_for_all(ranks);
      ranks.bytes = 0;
      many.push_back(
          seconds([&] { back ? own.adjoint(ranks, s.parts) : own.run(ranks, s.parts); }));
    }
    double const off = strong && !back ? error(ranks, own, whole ? &*whole : nullptr) : 0;
    std::size_t const sent = std::ranges::max(impl::gathered(ranks, ranks.bytes));
    if (!whole) continue;
    one.erase(one.begin()), many.erase(many.begin());
    double const was = median(one), is = median(many);
    index parts = 0;
    impl::shard_report const report{.batch = 1,
                                    .heads = shape.heads,
                                    .rows = shape.rows,
                                    .columns = shape.columns,
                                    .parts = s.parts};
    impl::shard_parts(std::vector(static_cast<std::size_t>(P), report),
                      back ? impl::cuts_of_adjoint<op> : impl::cuts_of_run<op>)
        .for_each({.rank = 0, .sequences = 1}, [&](auto const&) { ++parts; });
    double const P_ = static_cast<double>(P), n = static_cast<double>(parts);
    std::printf(
        "%-18s %-7s %-6s %8.1f ms %8.1f ms  %5.2f x  model %5.2f x  parts %3lld  state %8lld "
        "sent %8lld  error %.0e\n",
        Memory::name, back ? "adjoint" : "run", strong ? "strong" : "weak", 1e3 * was, 1e3 * is,
        (strong ? 1 : P_) * was / is, P_ * n / (n + P_ - 1), static_cast<long long>(parts),
        static_cast<long long>(shape.heads * shape.rows * shape.columns * 4),
        static_cast<long long>(sent), off);
    std::fflush(stdout);
  }
}

void table(group const& ranks, settings const& s) {
  if (ranks.rank() == 0)
    std::printf("T %lld, %d ranks of one thread\n%-18s %-7s %-6s %11s %11s %8s\n",
                static_cast<long long>(s.tokens), ranks.size(), "operator", "pass", "", "one rank",
                "ranks", "faster");
  auto const one = [&]<class Memory>(std::type_identity<Memory>) {
    if (!s.operators.empty() && std::ranges::find(s.operators, Memory::name) == s.operators.end())
      return;
    row<Memory>(ranks, s, true), row<Memory>(ranks, s, false);
  };
  one(std::type_identity<gla_memory>()), one(std::type_identity<mamba2_memory>());
  one(std::type_identity<gated_delta_memory>()), one(std::type_identity<retention_memory>());
  one(std::type_identity<channels_memory>());
}

}  // namespace
}  // namespace wane::bench

int main(int count, char** words) {
  CLI::App app(wane::bench::purpose);
  wane::bench::settings s;
  app.add_option("--tokens", s.tokens, "of the sequence, or of each rank (weak)")
      ->check(CLI::Range(64, 100'000'000))
      ->capture_default_str();
  app.add_option("--ranks", s.ranks, "threads that are ranks, without mpirun")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--rounds", s.rounds, "how often each is timed")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--parts", s.parts, "sharding::parts; 0 lets wane choose")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  app.add_option("--operators", s.operators, "those to time; all when left out")->delimiter(',');
  CLI11_PARSE(app, count, words);
#ifdef WANE_HAS_MPI
  if (std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMI_SIZE")) {
    MPI_Init(nullptr, nullptr);
    {
      wane::mpi_ranks const ranks(MPI_COMM_WORLD);
      wane::bench::table(wane::bench::group(ranks), s);
    }
    return MPI_Finalize();
  }
#endif
  wane::testing::on_ranks(
      s.ranks, [&](auto const& ranks) { wane::bench::table(wane::bench::group(ranks), s); });
}
