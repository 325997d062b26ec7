// wane-selftest: holds the kernels on this machine's GPU against the CPU in double precision.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cuda/shared/program.hpp"
#include "selftest/cases.hpp"
#include "shared/exit_status.hpp"

namespace wane::selftest {
namespace {

constexpr char const* purpose =
    "wane-selftest: do the kernels on this machine's GPU agree with the CPU?\n\n"
    "Each case is run twice on the GPU and once on the CPU in double precision. The error is the\n"
    "norm of the difference over the norm of the CPU's result; the two runs must give the same\n"
    "bits. Exit status: 0 where all cases agree, 1 where some do not, 2 for a wrong option or\n"
    "where there is no GPU.";

test_cases all_cases() {
  test_cases all;
  for (auto const& cases :
       {linear_float_cases(), linear_double_and_complex_cases(), linear_sixteen_bit_cases(),
        bank_real_cases(), bank_complex_cases(), memory_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

verdict judged(test_case const& c) {
  try {
    return c.judge();
  } catch (std::exception const& problem) {
    verdict none;
    none.problem = problem.what();
    return none;
  }
}

void print(test_case const& c, verdict const& v) {
  std::string said = v.agrees() ? "agrees" : "DISAGREES";
  if (!v.problem.empty()) said += ": " + v.problem;
  std::printf("%-25s %-14s %-16s %10.2e %10.2e  %-9s  %s\n", c.operation.c_str(), c.type.c_str(),
              c.name.c_str(), v.error, v.bound, v.same_bits ? "same" : "different", said.c_str());
  std::fflush(stdout);
}

nlohmann::json json_of(test_case const& c, verdict const& v) {
  nlohmann::json found{{"operator", c.operation}, {"type", c.type},   {"case", c.name},
                       {"error", nullptr},        {"bound", v.bound}, {"same_bits", v.same_bits},
                       {"agrees", v.agrees()}};
  if (std::isfinite(v.error)) found["error"] = v.error;
  if (!v.problem.empty()) found["problem"] = v.problem;
  return found;
}

int run(std::string const& json) {
  bench::gpu const found = bench::find_gpu();
  nlohmann::json report = bench::head_of_report(found);
  std::printf("%s\n\n%-25s %-14s %-16s %10s %10s  %-9s\n", bench::line_of(found).c_str(),
              "operator", "type", "case", "error", "bound", "two runs");
  auto const cases = all_cases();
  std::size_t agreed = 0;
  for (test_case const& c : cases) {
    verdict const v = judged(c);
    print(c, v);
    report["cases"].push_back(json_of(c, v));
    if (v.agrees()) ++agreed;
  }
  std::printf("\n%zu of %zu cases agree\n", agreed, cases.size());
  report["agreed"] = agreed;
  bench::write_json(json, report);
  return agreed == cases.size() ? 0 : 1;
}

}  // namespace
}  // namespace wane::selftest

int main(int argc, char** argv) {
  return wane::bench::exit_status("wane-selftest", [&] {
    std::string json;
    CLI::App app{wane::selftest::purpose, "wane-selftest"};
    app.add_option("--json", json, "write the results here as well")->type_name("FILE");
    if (!wane::bench::parse(app, argc, argv)) return 0;
    wane::bench::check_writable(json);
    return wane::selftest::run(json);
  });
}
