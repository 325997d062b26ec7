// A statement of a paper that can be checked by number.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/decay_rates.hpp"

namespace wane::bench {

// corrected: it fails as printed, and wane has the form that holds, measured beside it.
enum class verdict { holds, fails, corrected };

struct finding {
  double ours;         // the number that the paper gives, or bounds, as measured now
  bool holds;          // as printed
  bool corrected;      // whether wane's own form was measured and holds
  std::string remark;  // the measured quantities

  verdict judged() const {
    return holds ? verdict::holds : corrected ? verdict::corrected : verdict::fails;
  }
};

struct claim {
  std::string id;
  std::string place;      // in the paper
  std::string statement;  // the statement that has the value `paper`
  double paper;
  std::function<finding()> measure;
};

// VORT (arXiv 2605.08966).
std::vector<claim> vort_kernel_claims();
std::vector<claim> vort_quadrature_claims();
std::vector<claim> vort_mixture_claims();
std::vector<claim> vort_bank_claims();
std::vector<claim> vort_output_claims();
std::vector<claim> vort_retrieval_claims();
// Claims whose checks take most of a minute.
std::vector<claim> vort_long_claims();
std::vector<claim> vort_cost_claims();
std::vector<claim> vort_table_claims();
// STLT (arXiv 2506.15714).
std::vector<claim> stlt_absolute_claims();
std::vector<claim> stlt_bound_claims();
std::vector<claim> stlt_gate_claims();
std::vector<claim> stlt_relevance_claims();
// Claims about time, and about time for a million tokens.
std::vector<claim> stlt_cost_claims();
std::vector<claim> stlt_long_claims();
// VLA (arXiv 2605.11196), about time.
std::vector<claim> vla_cost_claims();
// PoST (arXiv 2604.07658).
std::vector<claim> post_rate_claims();
std::vector<claim> post_position_claims();
std::vector<claim> post_initial_claims();
std::vector<claim> post_invariance_claims();
std::vector<claim> post_condition_claims();
// Claims about time. They take long, and noise can leave them undecided.
std::vector<claim> post_overhead_claims();
// VLA (arXiv 2605.11196).
std::vector<claim> vla_norm_claims();
std::vector<claim> vla_jacobian_claims();
std::vector<claim> vla_recall_claims();
std::vector<claim> vla_capacity_claims();
// Claims about a trained model. It was trained on sequences of `trained_on` tokens.
std::vector<claim> post_trained_claims(std::vector<decay_layer> const& layers,
                                       std::int64_t trained_on);
// Claims about models that wane-recall trained, from its JSON document: those whose experiments are
// in it. Throws input_error for another document.
std::vector<claim> recall_claims(std::string const& document);

}  // namespace wane::bench
