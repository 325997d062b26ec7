// What wane-spectra teaches on --help, before and after its options.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "checkpoint/decay_layers.hpp"
#include "spectra/spectrum_list.hpp"

namespace wane::bench {

inline constexpr char const* purpose =
    "wane-spectra: how well do the decay rates of a linear recurrence remember?\n\n"
    "A recurrence with N channels of decay e^{-r_k} per step answers an impulse with\n"
    "sum_k c_k e^{-r_k lag}. This program takes a target kernel, finds the weights c_k that come\n"
    "closest to it for each choice of the rates (each spectrum), and prints how close that is.\n"
    "Or it reads the decays of a trained model, or Laplace nodes, and says what they can remember.";

inline std::string lesson() {
  std::string text =
      "What to fit, or to read (give exactly one of --kernel, --text, --series, --checkpoint,\n"
      "--laplace):\n"
      "  wane-spectra --kernel power:0.5                 lag^-0.5 on lags 1 to 100000\n"
      "  wane-spectra --kernel gl:0.3 --horizon 1e6      the kernel of a fractional sum\n"
      "  wane-spectra --text book.txt --plot book.svg    mutual information between bytes\n"
      "  wane-spectra --text src/*.cpp --horizon 4096    several texts, never joined\n"
      "  wane-spectra --text book.txt --octaves          what each doubling of the window tells\n"
      "  wane-spectra --series load.csv --column cpu     autocorrelation of a column\n"
      "  wane-spectra --checkpoint model.safetensors     the decays of a trained model\n"
      "  wane-spectra --laplace nodes.json               half-lives and periods of Laplace "
      "nodes\n\n"
      "With data, a power law through the lags that rise above the noise is printed with its 95 %\n"
      "confidence interval, and spectra are fitted to those lags, 1 at the first of them\n"
      "(--fit-to measured), or to the law on every lag up to the horizon (--fit-to law).\n"
      "With --octaves nothing is fitted: windows of 1, 2, 4, ... symbols, up to the horizon, "
      "predict\n"
      "the text, and the bits that each saves test PoST's conditions.\n\n"
      "In a checkpoint decays are found by the ends of names of public models:\n";
  auto const add = [&](std::string const& word, std::string const& meaning) {
    text += "  " + word +
            std::string(std::max<std::size_t>(word.size() + 2, 27) - word.size(), ' ') + meaning +
            "\n";
  };
  for (auto const& known : decay_names()) add(known.tail, known.models);
  text +=
      "For others --pattern REGEX=READING tells how numbers x make rates r; READING is one of\n";
  for (auto const& reading : decay_readings()) {
    std::string formula = reading.formula;
    add(reading.name, formula.replace(formula.find("{}"), 2, "x"));
  }
  text += "\nSpectra (T: the horizon, N: the channels):\n";
  for (auto const& s : spectrum_list()) add(s.name, s.meaning);
  return text +
         "\nColumns: the largest absolute and relative error of the fit; the coherence of the two\n"
         "most alike channels (1: one of them is wasted); the channels whose timescale 1/r lies\n"
         "within the lags; the longest half-life in steps. Exit status: 0, or 2 for wrong input, "
         "or 1 when\n"
         "something else failed. docs/wane-spectra.md says what is computed and how.";
}

}  // namespace wane::bench
