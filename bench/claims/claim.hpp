// A statement of a paper that can be checked by number.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace wane::bench {

// corrected: it fails as printed, and wane has the form that holds, measured beside it.
enum class verdict { holds, fails, corrected };

struct finding {
  double ours;         // the number that the paper gives, or bounds, as measured now
  bool holds;          // as printed
  bool corrected;      // was what wane has instead measured, and does it hold?
  std::string remark;  // what was measured

  verdict judged() const {
    return holds ? verdict::holds : corrected ? verdict::corrected : verdict::fails;
  }
};

struct claim {
  std::string id;
  std::string place;      // in the paper
  std::string statement;  // what `paper` is the value of
  double paper;
  std::function<finding()> measure;
};

std::vector<claim> vort_claims();
std::vector<claim> post_claims();

}  // namespace wane::bench
