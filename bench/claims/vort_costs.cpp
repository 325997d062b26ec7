// What VORT (arXiv 2605.08966) says its layer costs: sections 3 and 6.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>
#include <vector>

#include "claims/claim.hpp"

namespace wane::bench {
namespace {

// A layer of the size that the paper gives in both sections; keys and values of attention have d.
struct layer {
  double banks = 10, terms = 15, features = 64, values = 512, d = 512;

  double state_entries() const { return banks * terms * features * values; }
};

// One bank of 16 rates that all orders share, in place of all banks.
constexpr layer shared{.banks = 1, .terms = 16};

struct operations {
  double products = 0, sums = 0;
  double flops() const { return products + sums; }
};

// One token by equations (14)-(16). Every bank decays. The bank of the token adds phi(k) v^T times
// each c_s. The states are added up before phi(q) reads the sum, which is cheaper than to read
// each.
operations of_a_token(layer const& x) {
  double const entries = x.features * (x.values + 1);  // of one term: G and b
  double const states = x.banks * x.terms;
  operations count;
  count.products += states * entries;  // decay
  count.products += x.features * x.values + x.terms * entries;
  count.sums += x.terms * entries;
  count.sums += (states - 1) * entries;
  count.products += entries + x.values;
  count.sums += entries;
  return count;
}

finding operations_per_token() {
  layer const x;
  double const found = of_a_token(x).flops();
  char remark[300];
  std::snprintf(
      remark, sizeof remark,
      "K 10, S 15, d_phi 64, d_v 512, products and sums of (14)-(16): each of %.2e entries "
      "is decayed and read; as multiply-adds, half of it; 16 rates that all orders share, "
      "S d_phi d_v in place of K S d_phi d_v, are %.2e entries and take %.2e",
      x.state_entries(), shared.state_entries(), of_a_token(shared).flops());
  return {found, std::abs(found / 5e6 - 1) < 0.1, false, remark};
}

finding constant_of_a_token() {
  layer const x;
  double const found = x.state_entries();
  char remark[160];
  std::snprintf(remark, sizeof remark,
                "10 x 15 x 64 x 512, the entries of the state; half of all products and sums of "
                "(14)-(16) is %.2e",
                of_a_token(x).flops() / 2);
  return {found, std::abs(found / 4.9e6 - 1) < 0.01, false, remark};
}

// The length where both costs of section 6 are equal: n^2 d and K S d_phi d_v n.
finding break_even() {
  layer const x;
  auto const quotient = [&](double n) { return x.state_entries() * n / (n * n * x.d); };
  double const printed = x.banks * x.terms * x.features / x.d;
  double const right = x.banks * x.terms * x.features * x.values / x.d;
  double low = 1, high = 1e9;
  while (high / low > 1 + 1e-12) {
    double const middle = std::sqrt(low * high);
    (quotient(middle) > 1 ? low : high) = middle;
  }
  // Causal: n d products and sums each for scores and for values, over half of the pairs.
  auto const counted = [](layer const& y) { return of_a_token(y).flops() / (2 * y.d); };
  char remark[360];
  std::snprintf(remark, sizeof remark,
                "it is K S d_phi d_v / d; where the printed one is, VORT costs %.0f times as much; "
                "with every product and sum counted, and causal attention 2 n^2 d of them, %.0f; "
                "16 rates that all orders share: S d_phi d_v / d = %.0f, and counted %.0f",
                quotient(printed), counted(x), shared.state_entries() / shared.d, counted(shared));
  return {low, std::abs(low / printed - 1) < 0.1, std::abs(low / right - 1) < 1e-9, remark};
}

}  // namespace

std::vector<claim> vort_cost_claims() {
  layer const x;
  return {
      {"vort-3-cost", "VORT, section 3", "floating-point operations per token and layer", 5e6,
       operations_per_token},
      {"vort-6-constant", "VORT, section 6", "multiply-adds per token and layer", 4.9e6,
       constant_of_a_token},
      {"vort-6-break-even", "VORT, section 6", "length of break-even with attention, K S d_phi / d",
       x.banks * x.terms * x.features / x.d, break_even}};
}

}  // namespace wane::bench
