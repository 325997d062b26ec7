// All results of the program, for the table, the JSON and the picture.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spectra/comparison.hpp"
#include "spectra/decay_forms.hpp"
#include "spectra/measurement.hpp"
#include "spectra/options.hpp"
#include "spectra/power_law_fit.hpp"
#include "spectra/sums.hpp"
#include "spectra/target.hpp"

namespace wane::bench {

// What was read and what was measured on it.
struct measured_input {
  std::string kind;  // "text" or "series"
  std::vector<std::string> files;
  std::string column = {};   // of a series; empty where its file has one without a name
  std::int64_t size = 0;     // tokens, or numbers
  std::int64_t symbols = 0;  // of a text; 0 for a series
  measurement data;
  power_law_fit law;
  std::vector<decay_form> forms = {};
};

struct report {
  options asked;
  target goal;
  std::optional<measured_input> input;
  std::vector<comparison_row> rows;
  std::vector<sum_row> sums;
  std::optional<spectra::exponential_sum> fewest = {};  // of measured data
};

}  // namespace wane::bench
