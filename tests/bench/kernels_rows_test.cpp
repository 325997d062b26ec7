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
      "exponential_bank/(forward|step|backward)/S:\\d+/C:\\d+/T:\\d+)"
      "(/[a-z_]+:[a-z_]+)*/threads:\\d+(/over_time:1)?");
  std::set<std::string> names;
  std::istringstream lines(listed.out);
  for (std::string name; std::getline(lines, name);) {
    EXPECT_TRUE(std::regex_match(name, scheme)) << name;
    EXPECT_TRUE(names.insert(name).second) << "twice: " << name;
  }
  for (std::string const row :
       {"linear_recurrence/forward", "linear_recurrence/step", "linear_recurrence/backward",
        "exponential_bank/forward", "exponential_bank/step", "exponential_bank/backward"}) {
    auto const at = names.lower_bound(row);
    EXPECT_TRUE(at != names.end() && at->starts_with(row + "/")) << row << " has no rows";
  }
}

TEST(KernelsRows, WrongOptionsAreRefusedInOneLine) {
  for (std::vector<std::string> const& arguments : {std::vector<std::string>{"--no_such_option"},
                                                    {"--json"},
                                                    {"--jsonx"},
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

TEST(KernelsRows, ARowSaysItsCountersInJson) {
  scratch const place;
  std::string const file = place.file("rows.json");
  auto const result =
      run(WANE_BENCH, {"--benchmark_filter=linear_recurrence/step", "--json", file});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  std::string const json = content_of(file);
  for (std::string const counter :
       {"of_triad", "of_fma", "vs_naive", "vs_sequential", "tokens_per_second", "max_rel_error"})
    EXPECT_NE(json.find('"' + counter + '"'), std::string::npos) << counter << '\n' << json;
}

}  // namespace
}  // namespace wane::bench
#endif
