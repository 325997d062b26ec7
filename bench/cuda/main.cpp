// wane-bench-cuda: speed of the kernels on a GPU, as ratios to a copy, to CUB and to a plain walk.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cuda/crossing.hpp"
#include "cuda/options.hpp"
#include "cuda/report.hpp"
#include "cuda/row.hpp"
#include "cuda/shared/program.hpp"
#include "shared/exit_status.hpp"

namespace wane::bench {
namespace {

std::vector<row> rows_of(std::string const& filter) {
  std::vector<row> chosen;
  for (auto const& rows :
       {linear_log_rows(), linear_factor_rows(), linear_bfloat16_rows(), linear_adjoint_rows(),
        exponential_bank_rows(), bank_adjoint_rows(), laplace_rows(), retention_rows(),
        retrieval_rows(), memory_rows(), vla_rows(), vla_backward_rows(), vla_softmax_rows()})
    for (row const& r : rows)
      if (r.name.find(filter) != std::string::npos) chosen.push_back(r);
  if (chosen.empty()) throw input_error("no row has " + in_quotes(filter) + " in its name");
  return chosen;
}

// Measures a row and prints its result at once. False: the kernel disagrees with the oracle.
bool take(row const& r, int rounds, std::size_t width, nlohmann::json& results,
          crossing& with_softmax) {
  std::string line = r.name + ": ";
  nlohmann::json result{{"name", r.name}};
  bool agrees = true;
  try {
    measurement const found = r.measure(rounds);
    line = table_line(r.name, found, width);
    result = json_of(r.name, found);
    if (found.softmax) with_softmax.add(r.time, *found.softmax);
  } catch (out_of_memory const& problem) {
    line += problem.what() + std::string("\n");
    result["skipped"] = problem.what();
  } catch (disagreement const& problem) {
    line += problem.what() + std::string("\n");
    result["disagrees"] = problem.what();
    agrees = false;
  }
  std::printf("%s", line.c_str());
  std::fflush(stdout);
  results.push_back(result);
  return agrees;
}

// Prints and reports the number of tokens from which vla is faster than softmax attention.
void tell(std::optional<double> length, nlohmann::json& report) {
  if (length) {
    std::printf("\nvla is faster than softmax attention from %.0f tokens on\n", *length);
    report["crosses_softmax_at"] = *length;
  } else {
    std::printf("\nvla is slower than softmax attention at the longest sequence\n");
  }
}

int run(options const& asked) {
  auto const rows = rows_of(asked.filter);
  gpu const found = find_gpu();
  nlohmann::json report = head_of_report(found);
  report["rounds"] = asked.rounds;
  std::size_t width = 0;
  for (row const& r : rows) width = std::max(width, r.name.size());
  std::printf("%s\n\n%s", line_of(found).c_str(), table_head(width).c_str());
  bool all_agree = true;
  crossing with_softmax;
  for (row const& r : rows)
    if (!take(r, asked.rounds, width, report["rows"], with_softmax)) all_agree = false;
  if (!with_softmax.empty()) tell(with_softmax.length(), report);
  write_json(asked.json, report);
  return all_agree ? 0 : 1;
}

}  // namespace
}  // namespace wane::bench

int main(int argc, char** argv) {
  return wane::bench::exit_status("wane-bench-cuda", [&] {
    auto const asked = wane::bench::parse_options(argc, argv);
    return asked ? wane::bench::run(*asked) : 0;
  });
}
