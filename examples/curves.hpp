// Curves of a signal and its noise over the lag: a table, CSV, a picture.
// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>
#include <wane/core/error.hpp>

namespace reading {

using wane::index;

struct curve {
  std::string name;
  std::vector<double> signal = {}, noise = {};  // at each lag
};

// The signal, and below it the signal over the noise, at every third lag.
inline void print(std::vector<index> const& lags, std::vector<curve> const& curves) {
  auto const line = [&](char const* name, char const* what, auto const& format,
                        auto const& number) {
    std::printf("%-27s %6s", name, what);
    for (std::size_t n = 0; n < lags.size(); n += 3) std::printf(format, number(n));
    std::printf("\n");
  };
  line("lag", "", " %8td", [&](std::size_t n) { return lags[n]; });
  for (curve const& c : curves) {
    line(c.name.c_str(), "signal", " %8.2g", [&](std::size_t n) { return c.signal[n]; });
    line("", "/noise", " %8.2g", [&](std::size_t n) { return c.signal[n] / c.noise[n]; });
  }
}

// Columns: lag, then signal and noise of each curve. Throws wane::error when it cannot be written.
inline void write_csv(std::string const& file, std::vector<index> const& lags,
                      std::vector<curve> const& curves) {
  std::ofstream to(file);
  wane::require(to.good(), file, " cannot be opened");
  to << "lag";
  for (curve const& c : curves) to << ',' << c.name << ',' << c.name << " noise";
  for (std::size_t n = 0; n < lags.size(); ++n) {
    to << '\n' << lags[n];
    for (curve const& c : curves) to << ',' << c.signal[n] << ',' << c.noise[n];
  }
  wane::require((to << std::endl).good(), file, " cannot be written");
}

// An SVG from the first 2 n + 1 columns of a CSV as above; the last `dashed` of the n curves are
// drawn in the colours of the first. False where gnuplot is missing, or fails.
inline bool draw(std::string const& svg, std::string const& csv, std::size_t n,
                 std::size_t dashed) {
  auto const quoted = [](std::string const& name) {
    std::string q = "'";
    for (char c : name) q += c == '\'' ? "''" : std::string(1, c);
    return q + "'";
  };
  std::ostringstream script;
  auto const panel = [&](char const* title, char const* range, char const* y, char const* key) {
    script << "set title '" << title << "'\nset yrange " << range
           << "\nplot for [n=1:" << n - dashed << "] " << quoted(csv) << " using 1:(" << y
           << ") with lines lw 2 lc n " << key << ", for [n=" << n - dashed + 1 << ":" << n
           << "] '' using 1:(" << y << ") with lines lw 2 dt 2 lc n-" << n - dashed << ' ' << key
           << '\n';
  };
  script << "set terminal svg size 1300,500 background rgb 'white'\nset output " << quoted(svg)
         << "\nset datafile separator ','\nset multiplot layout 1,2\nset logscale xy\n"
            "set format '10^{%T}'\nset xlabel 'lag'\nset key outside right samplen 2\n";
  panel("signal", "[1e-5:1]", "column(2*n)", "notitle");
  panel("signal / noise", "[1e-4:10]", "column(2*n) / column(2*n+1)", "title columnhead(2*n)");
  std::signal(SIGPIPE, SIG_IGN);  // raised where gnuplot is missing
  std::FILE* const gnuplot = popen("gnuplot 2>/dev/null", "w");
  if (!gnuplot) return false;
  std::fputs(script.str().c_str(), gnuplot);
  return pclose(gnuplot) == 0;
}

}  // namespace reading
