// wane-bench-ranks: one sequence over many ranks beside one rank, and beside the cost model.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "ranks/check_model.hpp"
#include "ranks/memories.hpp"
#include "ranks/piece.hpp"
#include "ranks/scale.hpp"
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
    "model: P parts / (parts + P - 1) of a chain whose ranks have as much work, P / (1 + c) of a "
    "tree\n"
    "of effects that cost c runs. state: bytes that each boundary of a chain needs, H rows "
    "columns\n"
    "numbers; sent: bytes that a rank sent, headers included.\n"
    "--model says what the cost model of docs/ranks.md says, for up to 4096 ranks.";

struct settings {
  index tokens = 65536;
  sharding<float> how;
  int rounds = 5, ranks = 2;
  std::vector<std::string> operators;
  std::string model;
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
      many.push_back(seconds([&] { back ? own.adjoint(ranks, s.how) : own.run(ranks, s.how); }));
    }
    double const off = strong && !back ? error(ranks, own, whole ? &*whole : nullptr) : 0;
    std::size_t const sent = std::ranges::max(impl::gathered(ranks, ranks.bytes));
    if (!whole) continue;
    one.erase(one.begin()), many.erase(many.begin());
    double const was = median(one), is = median(many);
    auto const reports = reports_of(shape, P, each, s.how);
    index const parts =
        parts_over_ranks(reports, back ? impl::cuts_of_adjoint<op> : impl::cuts_of_run<op>);
    double const P_ = static_cast<double>(P), n = static_cast<double>(parts);
    bool const tree = hands_on_effects<op>(reports, shape, back);
    double const c = runs_of_effect<op>(shape, back);
    std::printf(
        "%-18s %-7s %-6s %8.1f ms %8.1f ms  %5.2f x  %s %5.2f x  parts %3lld  state %8lld "
        "sent %8lld  error %.0e\n",
        Memory::name, back ? "adjoint" : "run", strong ? "strong" : "weak", 1e3 * was, 1e3 * is,
        (strong ? 1 : P_) * was / is, tree ? "tree" : "chain",
        tree ? P_ / (1 + c) : P_ * n / (n + P_ - 1), static_cast<long long>(parts),
        static_cast<long long>(shape.heads * shape.rows * shape.columns * 4),
        static_cast<long long>(sent), off);
    std::fflush(stdout);
  }
}

void table(group const& ranks, settings const& s) {
  if (s.model == "check") return check_model(ranks, s.tokens, s.rounds);
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
  app.add_option("--parts", s.how.parts, "sharding::parts; 0 lets wane choose")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  std::map<std::string, wane::exchange> const exchanges{{"chosen", wane::exchange::chosen},
                                                        {"states", wane::exchange::states},
                                                        {"effects", wane::exchange::effects}};
  app.add_option("--exchange", s.how.exchange, "sharding::exchange")
      ->transform(CLI::CheckedTransformer(exchanges).description("chosen, states or effects"));
  app.add_option("--operators", s.operators, "those to time; all when left out")->delimiter(',');
  app.add_option("--model", s.model,
                 "what the cost model says: curves (as CSV), crossings, cuts, or check, which fits "
                 "its constants and shows it beside runs")
      ->check(CLI::IsMember({"curves", "crossings", "cuts", "check"}));
  CLI11_PARSE(app, count, words);
  if (!s.model.empty() && s.model != "check") {
    std::string const text = s.model == "curves"      ? wane::bench::curves_csv()
                             : s.model == "crossings" ? wane::bench::crossings_table()
                                                      : wane::bench::cuts_table();
    return std::fputs(text.c_str(), stdout) < 0 ? 1 : 0;
  }
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
