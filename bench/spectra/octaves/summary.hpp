// The octaves as a table with the verdicts, and as CSV with every digit.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "shared/input.hpp"
#include "shared/number_text.hpp"
#include "spectra/octaves/report.hpp"
#include "spectra/table.hpp"

namespace wane::bench {

// Four decimals, without a minus before zeros.
inline std::string bits_text(double bits) {
  std::string const text = formatted("%.4f", bits);
  return text == "-0.0000" ? "0.0000" : text;
}

inline std::string octave_table(octave_report const& of) {
  table_cells lines{{"octave", "code length", "J (bits)", "95 % +-", "share", "so far", ""}};
  auto const& last = of.found.last_symbol;
  lines.push_back({"last symbol", bits_text(last.code_length()), bits_text(last.information()),
                   bits_text(last.reach()), "", bits_text(last.information()), "in no octave"});
  double so_far = last.information();
  double const total = of.total();
  for (auto const& octave : of.found.octaves) {
    double const j = octave.information();
    so_far += j;
    lines.push_back({std::to_string(octave.sigma) + "-" + std::to_string(octave.window),
                     bits_text(octave.code_length()), bits_text(j), bits_text(octave.reach()),
                     octave.above_noise() ? formatted("%.1f %%", 100 * j / total) : "",
                     bits_text(so_far), octave.above_noise() ? "" : "within its noise"});
  }
  return aligned(lines);
}

inline std::string coarse_table(octave_report const& of) {
  table_cells lines{{"block", "R_b(1)", "standard error", "exponent", "standard error"}};
  for (auto const& c : of.coarse) {
    bool const none = !std::isfinite(c.exponent) || !std::isfinite(c.exponent_error);
    lines.push_back({std::to_string(c.block), formatted("%.3e", c.covariance),
                     formatted("%.1e", c.standard_error()),
                     none ? "" : formatted("%.3f", c.exponent),
                     none ? "" : formatted("%.3f", c.exponent_error)});
  }
  return aligned(lines);
}

inline std::string words_on_similarity(octave_report const& of) {
  auto const whole = of.similar();
  std::string const name = "3.2, hierarchical stationarity: ";
  if (!whole.known()) return name + "not told; too few block lengths rise above the noise.\n";
  auto const range = [](self_similarity const& s) {
    return "exponents from " + formatted("%.2f", s.low) + " to " + formatted("%.2f", s.high) +
           ", mean " + formatted("%.2f", s.mean);
  };
  if (whole.holds()) {
    return name + "not refuted; " + range(whole) + ", equal within the noise.\n";
  }
  std::string text = name + "fails";
  if (!whole.positive) {
    text += "; the covariance of some blocks is negative, which b^-beta R is not";
  } else {
    text += "; " + range(whole) +
            (whole.constant() ? ", not within (0, 1)"
                              : ", up to " + formatted("%.0f", whole.farthest) +
                                    " standard errors from their mean");
  }
  std::span<coarse_grained const> const coarse(of.coarse);
  std::size_t const from = similar_from(coarse);
  if (from == coarse.size()) return text + ".\n";
  return text + ".\nFor blocks of " + std::to_string(coarse[from].block) +
         " and more it is not refuted; " + range(self_similarity_of(coarse.subspan(from))) + ".\n";
}

inline std::string words_on_equipartition(octave_report const& of) {
  auto const equal = of.equal();
  std::string text = "3.5, equipartition: ";
  if (!equal.all_seen) {
    text += "not seen; of some octaves J is not told from 0.\n";
  } else {
    text += "J0 = " + formatted("%.4f", equal.usual) + " bits, slack " +
            formatted("%.3f", equal.slack) + " (at least " + formatted("%.3f", equal.least_slack) +
            " with the noise). ";
    if (equal.says_something()) return text + "It holds.\n";
    text +=
        "Any positive J have a\nslack below 1. With this one Corollary 4.15 moves the exponents "
        "of the taper, which lie in [0, 1],\nby up to " +
        formatted("%.1f", equal.taper_bound()) + ", so it says nothing.\n";
  }
  std::span<measured_octave const> const octaves(of.found.octaves);
  std::size_t const from = equal_from(octaves);
  if (from == octaves.size()) return text;
  auto const tail = equipartition_of(octaves.subspan(from));
  return text + "From " + std::to_string(octaves[from].sigma) +
         " symbols on it holds: J0 = " + formatted("%.4f", tail.usual) + " bits, slack " +
         formatted("%.3f", tail.slack) + ".\n";
}

inline std::string words_on_growth(octave_report const& of) {
  auto const decay = of.decay();
  if (!decay.known()) return "";
  std::span<measured_octave const> const octaves(of.found.octaves);
  double const half = half_of_the_information(octaves),
               square_root = std::sqrt(static_cast<double>(octaves.back().window));
  return std::string("3.8, log growth: ") + (decay.logarithmic() ? "not refuted" : "fails") +
         "; J goes as sigma^" + formatted("%.2f", -decay.gamma) + " +- " +
         formatted("%.2f", decay.reach) + ". Half of what the octaves hold lies within " +
         formatted("%.3g", half) + " symbols;\nwith log growth it would lie within " +
         formatted("%.3g", square_root) + ".\n";
}

inline std::string summary(octave_report const& of) {
  std::string const places = std::to_string(of.found.scored);
  return "text " + in_quotes(of.files) + ": " + std::to_string(of.size) + " tokens (bytes), " +
         std::to_string(of.symbols) + " symbols\n" +
         "J(s) = I(x_t ; x_{t-2s:t-s} | x_{t-s:t}): the bits that the farther half of the window "
         "2s saves in coding a\nsymbol, on " +
         places + " of them; " + formatted("%.4f", of.found.plain) +
         " bits with no window. The sums so far are lower bounds of what the window tells.\n\n" +
         octave_table(of) +
         "\nautocovariance R_b(1) of the means of neighbouring blocks of b symbols; R_2b = "
         "2^-exponent R_b\n\n" +
         coarse_table(of) + "\nPoST's conditions\n" + words_on_similarity(of) +
         "3.3, resolution: holds by the choice of tokens; nothing is finer than a byte here.\n" +
         words_on_equipartition(of) + words_on_growth(of);
}

inline std::string octave_csv(octave_report const& of) {
  std::string text = "sigma,window,places,code_length,information,standard_error,share,lag\n";
  double const total = of.total();
  auto const add = [&](measured_octave const& octave, std::string const& share) {
    text += std::to_string(octave.sigma) + ',' + std::to_string(octave.window) + ',' +
            std::to_string(octave.all().places) + ',' + exact(octave.code_length()) + ',' +
            exact(octave.information()) + ',' + exact(octave.standard_error()) + ',' + share + ',' +
            std::to_string(octave.lag) + '\n';
  };
  add(of.found.last_symbol, "");
  for (auto const& octave : of.found.octaves)
    add(octave, total > 0 ? exact(octave.information() / total) : "");
  return text;
}

}  // namespace wane::bench
