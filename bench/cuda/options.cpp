// The command line of wane-bench-cuda.
// SPDX-License-Identifier: MIT
#include "cuda/options.hpp"

#include "cuda/shared/program.hpp"
#include "shared/exit_status.hpp"

namespace wane::bench {
namespace {

constexpr char const* purpose =
    "wane-bench-cuda: speed of the kernels on this machine's GPU, as ratios.\n\n"
    "of_copy: the time of a copy that moves as many bytes as the kernel must, over the kernel's.\n"
    "of_gemm: useful operations a second over those of cuBLAS's product of matrices, in bfloat16.\n"
    "vs_cub, vs_walk: the time of cub::DeviceScan, and of one thread a channel that walks along\n"
    "time (of a kernel that takes vla's tokens one by one), over the kernel's. vs_softmax: that\n"
    "of causal softmax attention by tiles; the length where it passes 1 is told at the end. Each\n"
    "is the median over rounds in which all are timed. A kernel that disagrees with the\n"
    "double-precision walk gets no number, and the exit status is 1.";

}  // namespace

std::optional<options> parse_options(int argc, char const* const* argv) {
  options asked;
  CLI::App app{purpose, "wane-bench-cuda"};
  app.add_option("--json", asked.json, "write the results here as well")->type_name("FILE");
  app.add_option("--filter", asked.filter, "only rows whose name holds this")
      ->type_name("SUBSTRING");
  app.add_option("--rounds", asked.rounds, "rounds of each row, 1 to 1001 [11]")
      ->type_name("N")
      ->check(CLI::Range(1, 1001));
  if (!parse(app, argc, argv)) return {};
  check_writable(asked.json);
  return asked;
}

}  // namespace wane::bench
