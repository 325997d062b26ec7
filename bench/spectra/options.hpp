// The command line of wane-spectra, checked: each value is in its range or input_error says so.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/decay_layers.hpp"
#include "wane/spectra/fit/fit.hpp"

namespace wane::bench {

enum class kernel_kind { power, gruenwald_letnikov };

struct kernel_choice {
  kernel_kind kind;
  double parameter;  // beta > 0, or alpha in (0, 1]
};

inline constexpr std::int64_t usual_horizon = 100'000;

struct options {
  // Exactly one of these five is given: three are targets of a fit, two are files to analyse.
  std::optional<kernel_choice> kernel;
  std::vector<std::string> text;
  std::string series;
  std::vector<std::string> checkpoint;
  std::optional<std::string> laplace;

  bool octaves = false;  // of the text: its octaves are measured and nothing is fitted

  layer_options layers;     // how the decays of a checkpoint are found
  std::string layer;        // the layer that the picture shows; empty: that in the middle
  double coherence = 0.99;  // above it two of its channels are alike

  std::string column;                   // of the series; empty: it has one only
  std::optional<std::int64_t> horizon;  // steps; absent: 100000, with data a tenth of them if less
  std::int64_t fit_from = 1;            // first lag of the power law
  bool fit_law = false;                 // spectra are fitted to the law, not to the measured lags
  std::vector<std::int64_t> channels{8, 16, 32};
  std::vector<std::int64_t> at;  // positions of PoST; empty: the square root of the horizon
  std::vector<std::string> spectra;
  spectra::metric metric = spectra::metric::absolute;
  bool rates = false;              // prints the rates of every row
  std::optional<double> accuracy;  // of the sums of exponentials
  std::uint64_t seed = 0;
  unsigned threads = 1;
  std::string json, csv, plot;  // empty: not written

  bool has_data() const { return !kernel; }
};

// The options; empty if help was requested and printed. Throws input_error.
std::optional<options> parse_options(int argc, char const* const* argv);

}  // namespace wane::bench
