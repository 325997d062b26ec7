// What the lags look like, and which rates to take: the words of the summary.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "spectra/report.hpp"
#include "spectra/table.hpp"
#include "wane/core/error.hpp"

namespace wane::bench {

inline std::string listed(std::vector<std::string> const& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

// Numbers in lines of at most 96 characters.
inline std::string in_lines(std::span<double const> numbers, std::string const& indent) {
  std::string text, line = indent;
  for (double const x : numbers) {
    std::string const word = formatted("%.4g", x);
    if (line.size() + word.size() > 96) text += line + "\n", line = indent;
    line += (line == indent ? "" : " ") + word;
  }
  return text + line + "\n";
}

inline std::string forms_table(std::vector<decay_form> const& forms) {
  table_cells lines{{"form", "misfit", ""}};
  for (auto const& form : forms) {
    std::string of;
    for (double const r : form.rates)
      of += (of.empty() ? "timescale " : ", ") + formatted("%.4g", 1 / r);
    lines.push_back({form.name, formatted("%.3g", form.misfit),
                     std::string(form.describes() ? "describes them" : "does not describe them") +
                         (of.empty() ? "" : "; " + of)});
  }
  return aligned(lines);
}

// One or two sentences.
inline std::string form_sentence(std::vector<decay_form> const& forms) {
  auto const with_article = [](std::string const& name) {
    bool const counted = name.starts_with("one") || name.starts_with("two");
    return counted ? name : "a " + name;
  };
  decay_form const* const best = simplest(forms);
  std::vector<std::string> others;
  for (auto const& form : forms)
    if (!form.describes()) others.push_back(with_article(form.name));
  std::string text;
  if (best) {
    text = with_article(best->name) +
           (best->name == "two exponentials" ? " describe" : " describes") + " these lags";
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    if (!others.empty())
      text += "; " + listed(others) +
              (others.size() > 1 || others.front() == "two exponentials" ? " do not" : " does not");
    return text + ".";
  }
  auto const nearest = std::min_element(
      forms.begin(), forms.end(), [](auto const& a, auto const& b) { return a.misfit < b.misfit; });
  return "None of these forms describes the lags to within the noise or 5 %; " +
         with_article(nearest->name) + " comes nearest.";
}

inline double error_of(comparison_row const& row, report const& found) {
  return found.asked.metric == spectra::metric::absolute ? row.max_absolute_error
                                                         : row.max_relative_error;
}

// What is noise in the errors of the fits: the largest noise of a lag, in the units of the metric.
// 0 where the target is known in closed form.
inline double noise_of_errors(report const& found) {
  if (!found.input || found.asked.fit_law) return 0;
  auto const used = lags_seen(found.input->data.lags);
  bool const absolute = found.asked.metric == spectra::metric::absolute;
  double noise = 0;
  for (auto const& m : used)
    noise = std::max(noise, m.noise() / (absolute ? used.front().excess() : m.excess()));
  return noise;
}

// The rows that may be advised: on the whole horizon, with errors that say something and weights
// that do not cancel.
inline std::vector<comparison_row const*> rows_to_advise(report const& found) {
  std::vector<comparison_row const*> rows;
  for (auto const& row : found.rows)
    if (row.last_lag == found.goal.horizon && !row.error_says_nothing() && !row.weights_cancel())
      rows.push_back(&row);
  return rows;
}

// The fewest channels that come within the noise, or within 1 % where that is more; of these with
// noise the smallest weights, without it the least error. Where no row comes so close, the row of
// the least error. nullptr where there is no row.
inline comparison_row const* advised(report const& found) {
  double const noise = noise_of_errors(found), wanted = std::max(noise, 0.01);
  auto const rank = [&](comparison_row const& row) {
    double const error = error_of(row, found);
    bool const enough = error <= wanted;
    return std::tuple(!enough, enough ? row.channels : 0,
                      enough && noise > 0 ? row.sum_of_weights() : error);
  };
  auto const rows = rows_to_advise(found);
  auto const best = std::min_element(rows.begin(), rows.end(),
                                     [&](auto* a, auto* b) { return rank(*a) < rank(*b); });
  return best == rows.end() ? nullptr : *best;
}

// Where data were measured: the fewest exponentials, with positive weights, that come as close.
inline std::optional<spectra::exponential_sum> fewest_exponentials(report const& found) {
  if (!found.input || found.asked.fit_law) return {};
  try {
    return found.goal.constructions.front().sum_to(std::clamp(noise_of_errors(found), 0.01, 0.9),
                                                   found.asked.metric);
  } catch (wane::error const&) {
    return {};  // no sum of positive weights comes so close
  }
}

inline std::string advice(report const& found) {
  double const noise = noise_of_errors(found);
  bool const absolute = found.asked.metric == spectra::metric::absolute;
  std::string const lags = "lags 1 to " + std::to_string(found.goal.horizon);
  std::string text;
  if (auto const& sum = found.fewest)
    text = "For " + lags + " the fewest rates are " +
           (sum->terms() == 1 ? "this one" : "these " + std::to_string(sum->terms())) +
           ", with positive weights: largest " + (absolute ? "absolute" : "relative") + " error " +
           formatted("%.2e",
                     absolute ? sum->error.max_absolute_error : sum->error.max_relative_error) +
           " at the lags measured, whose noise is " + formatted("%.1e", noise) + ".\n" +
           in_lines(sum->rates, "  ");
  comparison_row const* const best = advised(found);
  if (!best)
    return text +
           "Of the spectra above none can be advised: the weights of every fit cancel "
           "(sum |c| above 100), or it\npasses through all lags. Give fewer --channels.\n";
  double const error = error_of(*best, found);
  text += (text.empty() ? "For " + lags + " take" : "Of the spectra above take") + (" these ") +
          std::to_string(best->channels) + " rates, of " + best->spectrum + ": largest " +
          (absolute ? "absolute" : "relative") + " error " + formatted("%.2e", error) +
          (noise > 0 && error <= noise ? ", within the noise.\n" : ".\n");
  std::vector<std::string> alike;
  for (comparison_row const* row : rows_to_advise(found))
    if (row != best && row->channels == best->channels && error_of(*row, found) <= noise)
      alike.push_back(row->spectrum);
  if (!alike.empty() && error <= noise)
    text += "With as many channels " + listed(alike) + (alike.size() > 1 ? " are" : " is") +
            " within the noise too: the data do not tell them apart.\n";
  return text + in_lines(best->rates, "  ");
}

// --rates: those of every row.
inline std::string rates_list(std::span<comparison_row const> rows) {
  std::string text = "\nrates per step\n";
  for (auto const& row : rows)
    text += row.spectrum + ", " + std::to_string(row.channels) + " channels, lags to " +
            std::to_string(row.last_lag) + "\n" + in_lines(row.rates, "  ");
  return text;
}

}  // namespace wane::bench
