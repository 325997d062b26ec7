// The report on octaves as JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "spectra/json.hpp"
#include "spectra/octaves/report.hpp"

namespace wane::bench {

inline ordered_json number_or_null(double x) {
  return std::isfinite(x) ? ordered_json(x) : ordered_json(nullptr);
}

inline ordered_json json_of(measured_octave const& octave) {
  return {{"sigma", octave.sigma},
          {"window", octave.window},
          {"places", octave.all().places},
          {"code_length", octave.code_length()},
          {"information", octave.information()},
          {"standard_error", octave.standard_error()},
          {"lag", octave.lag}};
}

inline ordered_json json_of(equipartition const& equal) {
  return {{"J0", equal.usual},
          {"slack", number_or_null(equal.slack)},
          {"least_slack", number_or_null(equal.least_slack)},
          {"taper_bound", number_or_null(equal.taper_bound())},
          {"holds", equal.holds()},
          {"says_something", equal.says_something()}};
}

inline ordered_json json_of(self_similarity const& similar) {
  return {{"holds", similar.holds()},
          {"known", similar.known()},
          {"positive", similar.positive},
          {"low", number_or_null(similar.low)},
          {"high", number_or_null(similar.high)},
          {"mean", number_or_null(similar.mean)},
          {"farthest", similar.farthest}};
}

inline ordered_json conditions_json(octave_report const& of) {
  auto const decay = of.decay();
  ordered_json covariances = ordered_json::array();
  for (auto const& c : of.coarse) {
    covariances.push_back({{"block", c.block},
                           {"covariance", c.covariance},
                           {"standard_error", c.standard_error()},
                           {"exponent", number_or_null(c.exponent)},
                           {"exponent_error", number_or_null(c.exponent_error)}});
  }
  ordered_json result;
  std::span<coarse_grained const> const coarse(of.coarse);
  result["hierarchical_stationarity"] = json_of(of.similar());
  if (auto const from = similar_from(coarse); from > 0 && from < coarse.size()) {
    result["hierarchical_stationarity"]["from"] = json_of(self_similarity_of(coarse.subspan(from)));
    result["hierarchical_stationarity"]["from"]["block"] = coarse[from].block;
  }
  result["hierarchical_stationarity"]["blocks"] = covariances;
  result["equipartition"] = json_of(of.equal());
  std::span<measured_octave const> const octaves(of.found.octaves);
  if (auto const from = equal_from(octaves); from > 0 && from < octaves.size()) {
    result["equipartition"]["from"] = json_of(equipartition_of(octaves.subspan(from)));
    result["equipartition"]["from"]["sigma"] = octaves[from].sigma;
  }
  result["log_growth"] = {{"holds", decay.logarithmic()},
                          {"gamma", number_or_null(decay.gamma)},
                          {"reach", number_or_null(decay.reach)},
                          {"half_within", number_or_null(half_of_the_information(octaves))}};
  return result;
}

inline std::string json_text(octave_report const& of) {
  ordered_json document = program_json();
  ordered_json measured{{"files", of.files},
                        {"size", of.size},
                        {"symbols", of.symbols},
                        {"unit", "bits"},
                        {"plain", of.found.plain},
                        {"scored", of.found.scored},
                        {"last_symbol", json_of(of.found.last_symbol)}};
  measured["octaves"] = ordered_json::array();
  for (auto const& octave : of.found.octaves) measured["octaves"].push_back(json_of(octave));
  measured["conditions"] = conditions_json(of);
  document["predictive_information"] = measured;
  return text_of(document);
}

}  // namespace wane::bench
