// Rows of wane-bench: a name and how to prepare its contest.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/contest.hpp"

namespace wane::bench {

enum class pass { forward, step, backward };
inline std::string name_of(pass what) {
  return what == pass::forward ? "/forward" : what == pass::step ? "/step" : "/backward";
}

// `prepare` makes the data when the row begins. The data are freed after the row.
void add_row(std::string const& name, std::function<contest()> prepare);
std::vector<std::string> const& names_of_rows();
// Whether a row was refused its number.
bool any_row_failed();
// Lines `name  counter ratio`, of the rows measured so far in which a loop takes less than `times`
// our time.
std::vector<std::string> rows_slower_than(double times);

void add_linear_recurrence_rows();
void add_exponential_bank_rows();
void add_keyed_rows();
void add_gated_rows();
void add_linear_attention_rows();
void add_longhorn_rows();
void add_erasing_rows();
void add_substep_rows();
void add_level_rows();
void add_led_rows();
void add_rwkv4_rows();
void add_vla_rows();
void add_mamba1_rows();
void add_mamba2_rows();
void add_laplace_rows();
void add_retention_rows();
void add_retention_banks_rows();
void add_attention_rows();

}  // namespace wane::bench
