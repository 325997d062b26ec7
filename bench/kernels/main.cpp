// wane-bench: speed of the kernels, as ratios to the machine's peaks and to other loops.
// SPDX-License-Identifier: MIT
//
// A row is `operator/pass/named arguments`. Its counters are medians of ratios, taken round by
// round with everything that is compared in each round:
//   of_triad           our bandwidth over the best of reading and writing as much, in memory of the
//                      same size: ordinary or non-temporal stores, with prefetch or without (a
//                      step of a matrix memory: of reading and writing its state)
//   of_fma             our useful flops over what the machine multiplies and adds in registers
//   vs_naive           time over ours of the loop a user would write in Eigen, on one thread
//   vs_sequential      time over ours of the plain loop over tokens and channels, on one thread; of
//                      matrix memories the loop in Eigen; of VORT's banks its equation 12
//   vs_fading          our time on these data over our time on ordinary ones
//   vs_all             our time with half of the nodes left out over our time with them masked by 0
//   vs_separate        time over ours of as many states as there are queries
//   vs_merging         time over ours of the loop that merges levels where they fill
//   vs_conjugate_gradients  time over ours of a loop in Eigen that solves by 30 steps of them
//   vs_shared          our time with VORT's banks over our time with 16 nodes that all orders share
//   vs_exponentials    our time over that of as many exponentials and nothing else
//   tokens_per_second  from the median time
//   max_rel_error      largest difference from a wider type over the largest value, checked first
// --slower-than 1 lists at the end the rows in which a loop is faster than we are; if there are
// any, the program exits with 1. Both loops have the flags of this build; the machine's own figures
// have its widest vectors.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>
#include <vector>

#include "kernels/machine.hpp"
#include "kernels/options.hpp"
#include "kernels/row.hpp"
#include "shared/exit_status.hpp"
#include "shared/input.hpp"

int main(int argc, char** argv) {
  using namespace wane::bench;
  return exit_status("wane-bench", [&] {
    add_linear_recurrence_rows();
    add_exponential_bank_rows();
    add_laplace_rows();
    add_keyed_rows();
    add_erasing_rows();
    add_substep_rows();
    add_level_rows();
    add_led_rows();
    add_rwkv4_rows();
    add_gated_rows();
    add_linear_attention_rows();
    add_vla_rows();
    add_longhorn_rows();
    add_mamba1_rows();
    add_mamba2_rows();
    add_retention_rows();
    add_retention_banks_rows();
    add_attention_rows();
    options asked = parse_options(argc, argv, names_of_rows());
    std::vector<char*> given;
    for (auto& argument : asked.passed_on) given.push_back(argument.data());
    int count = static_cast<int>(given.size());
    benchmark::Initialize(&count, given.data());
    if (count > 1)
      throw input_error("unknown argument " + in_quotes(given[1]) +
                        "; there are --json FILE, --slower-than TIMES and those that --help lists");
    if (!asked.only_lists) describe_machine();
    benchmark::RunSpecifiedBenchmarks();
    if (!asked.slower_than) return any_row_failed() ? 1 : 0;
    auto const slow = rows_slower_than(*asked.slower_than);
    for (auto const& line : slow) std::puts(line.c_str());
    return any_row_failed() || !slow.empty() ? 1 : 0;
  });
}
