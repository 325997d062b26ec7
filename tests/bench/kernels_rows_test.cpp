// wane-bench: its rows are named operator/pass/named arguments; wrong options are refused.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "bench/process.hpp"

#ifdef WANE_BENCH
namespace wane::bench {
namespace {

TEST(KernelsRows, AreNamedOperatorPassAndNamedArguments) {
  auto const listed = run(WANE_BENCH, {"--benchmark_list_tests"});
  ASSERT_EQ(listed.status, 0) << listed.err;
  std::regex const scheme(
      "(linear_recurrence/(forward|step|backward)/C:\\d+/T:\\d+/decay:(factor|log)|"
      "exponential_bank/(forward|step|backward)/S:\\d+/C:\\d+/T:\\d+|"
      "(gla|retnet|rwkv4|rwkv6|comba|gated_delta_net2|delta_net|gated_delta_net|kimi_delta_"
      "attention|"
      "rwkv7|linear_attention|"
      "vla|vla_delta_net|hgrn2|lightning_attention)"
      "/(forward|step|backward)/H:\\d+/D:\\d+/T:\\d+|"
      "(delta_product|grouped_queries|mamba3|mamba3_mimo|mesa_net|mlstm|preconditioned_delta_net|"
      "log_linear)/forward/"
      "H:\\d+(/"
      "n:\\d+)?/D:\\d+(/n:\\d+)?/"
      "T:\\d+|"
      "log_linear_of/(forward|backward)/H:\\d+/D:\\d+/n:\\d+/T:\\d+|"
      "mamba1/(forward|step|backward)/C:\\d+/N:\\d+/T:\\d+|"
      "(mamba2|longhorn)/(forward|step|backward)/H:\\d+/P:\\d+/N:\\d+/T:\\d+|"
      "laplace/(forward|step|backward)/S:\\d+(/active:\\d+)?/C:\\d+/T:\\d+|"
      "retention/(forward|step|backward)(/K:\\d+)?/S:\\d+/V:\\d+/T:\\d+|"
      "retrieval/(forward|step|backward)/S:\\d+/F:\\d+/V:\\d+/T:\\d+|"
      "softmax_attention/(forward|backward)/H:\\d+/D:\\d+/T:\\d+)"
      "(/[a-z_]+:[a-z_]+)*/threads:\\d+(/over_time:1)?");
  std::set<std::string> names;
  std::istringstream lines(listed.out);
  for (std::string name; std::getline(lines, name);) {
    EXPECT_TRUE(std::regex_match(name, scheme)) << name;
    EXPECT_TRUE(names.insert(name).second) << "twice: " << name;
  }
  auto const expect_rows = [&](std::string const& op, std::string const& pass) {
    auto const at = names.lower_bound(op + pass);
    EXPECT_TRUE(at != names.end() && at->starts_with(op + pass)) << op << pass << " has no rows";
  };
  std::vector<std::string> those{"linear_recurrence",
                                 "exponential_bank",
                                 "gla",
                                 "hgrn2",
                                 "lightning_attention",
                                 "longhorn",
                                 "retnet",
                                 "delta_net",
                                 "gated_delta_net",
                                 "rwkv4",
                                 "rwkv6",
                                 "rwkv7",
                                 "comba",
                                 "gated_delta_net2",
                                 "mamba1",
                                 "mamba2",
                                 "laplace",
                                 "retention",
                                 "retrieval",
                                 "kimi_delta_attention"};
  for (auto const& op : those) expect_rows(op, "/step/");
  those.insert(those.end(), {"linear_attention", "softmax_attention"});
  for (auto const& op : those) expect_rows(op, "/backward/");
  those.push_back("vla_delta_net");
  for (auto const& op : those) expect_rows(op, "/forward/");
}

TEST(KernelsRows, WrongOptionsAreRefusedInOneLine) {
  for (std::vector<std::string> const& arguments : {std::vector<std::string>{"--no_such_option"},
                                                    {"--json"},
                                                    {"--jsonx"},
                                                    {"--slower-than"},
                                                    {"--slower-than", "one"},
                                                    {"--slower-than", "0"},
                                                    {"row"},
                                                    {"--json", "/no/such/folder/file.json"},
                                                    {"--benchmark_filter=no_such_row"},
                                                    {"--benchmark_filter=("},
                                                    {"--benchmark_min_time=soon"},
                                                    {"--benchmark_format=xml"}}) {
    auto const result = run(WANE_BENCH, arguments);
    EXPECT_EQ(result.status, 2) << arguments[0];
    EXPECT_EQ(result.error_lines(), 1) << arguments[0] << '\n' << result.err;
    EXPECT_EQ(result.out, "") << arguments[0];
    EXPECT_TRUE(result.err.starts_with("wane-bench: ")) << result.err;
  }
}

// The first row of a JSON report whose name begins with `start`; empty without one.
std::string row_of(std::string const& json, std::string const& start) {
  auto const name = json.find("\"name\": \"" + start);
  return name == std::string::npos ? "" : json.substr(name, json.find('}', name) - name);
}

// One call, because each measures the machine first.
TEST(KernelsRows, SayTheirCountersInJson) {
  std::string const speed = "tokens_per_second", error = "max_rel_error";
  struct expected {
    std::string row;
    std::vector<std::string> counters;
  };
  std::vector<expected> const rows{
      {"linear_recurrence/step/", {"of_triad", "of_fma", "vs_naive", "vs_sequential", speed}},
      {"gated_delta_net/step/H:16/D:64/", {"of_triad", "of_fma", "vs_sequential", speed}},
      {"rwkv7/backward/H:16/D:64/T:512/", {"of_fma", "vs_sequential", speed}},
      {"mamba2/step/H:16/P:64/", {"of_triad", "of_fma", "vs_sequential", speed}},
      {"mamba2/backward/H:16/P:64/", {"of_fma", "vs_sequential", speed}},
      {"linear_attention/forward/H:16/D:64/T:512/", {"of_fma", "vs_sequential", speed}},
      {"linear_attention/backward/H:16/D:64/T:512/", {"of_fma", "vs_sequential", speed}},
      {"vla_delta_net/forward/H:16/D:64/T:512/", {"of_fma", "vs_sequential", speed}},
      {"mamba1/forward/C:1024/N:16/T:512/", {"of_fma", "vs_sequential", "vs_exponentials", speed}},
      {"mamba1/step/", {"of_triad", "of_fma", "vs_sequential", speed}},
      {"retention/step/", {"of_triad", "of_fma", "vs_naive", speed}},
      {"retrieval/step/", {"of_triad", "of_fma", "vs_naive", speed}},
      {"laplace/step/S:32/", {"of_triad", "of_fma", "vs_naive", "vs_sequential"}},
      {"laplace/forward/S:16/active:8/C:512/T:1000/", {"vs_all"}},
      {"retention/forward/K:10/", {"of_fma", "vs_sequential", "vs_shared", speed}},
      {"softmax_attention/backward/H:16/D:64/T:512/", {"of_fma", "vs_sequential", speed}}};
  std::string filter = "^(";
  for (auto const& [row, counters] : rows) filter += row + '|';
  filter.back() = ')';
  scratch const place;
  std::string const file = place.file("rows.json");
  auto const result = run(
      WANE_BENCH, {"--benchmark_filter=" + filter, "--benchmark_min_time=0.01", "--json", file});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  std::string const json = content_of(file);
  for (auto const& [row, counters] : rows) {
    std::string const found = row_of(json, row);
    EXPECT_NE(found.find('"' + error + '"'), std::string::npos) << row << '\n' << found;
    for (std::string const& counter : counters)
      EXPECT_NE(found.find('"' + counter + '"'), std::string::npos) << row << counter << found;
  }
}

TEST(KernelsRows, SlowerThanListsRowsAndFails) {
  std::vector<std::string> arguments{"--benchmark_filter=^gated_delta_net/step/H:16/D:64/",
                                     "--benchmark_min_time=0.01", "--slower-than", "1e-9"};
  auto const none = run(WANE_BENCH, arguments);
  EXPECT_EQ(none.status, 0) << none.out << none.err;
  arguments.back() = "1e9";
  auto const all = run(WANE_BENCH, arguments);
  EXPECT_EQ(all.status, 1) << all.err;
  EXPECT_FALSE(std::regex_search(none.out, std::regex("vs_sequential [0-9.]+\n$"))) << none.out;
  EXPECT_TRUE(std::regex_search(all.out, std::regex("/threads:1  vs_sequential [0-9.]+\n$")))
      << all.out;
}

}  // namespace
}  // namespace wane::bench
#endif
