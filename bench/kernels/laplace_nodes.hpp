// The settings of a row of laplace, and the parameters of its nodes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "kernels/buffers.hpp"
#include "kernels/caches.hpp"
#include "kernels/row.hpp"
#include "wane/operators/laplace.hpp"

namespace wane::bench {

struct laplace_case {
  static constexpr index channels = 512;
  static constexpr float width = 64;  // tokens, where there is a window

  pass what;
  room where = room::cache;
  index nodes = 32;
  index active = nodes;  // the others have a mask of 0, and are left out
  bool by_column = false;
  spectra::window_shape window = spectra::window_shape::none;
  index length = 0;  // or as `where` says
  int threads = 1;

  index tokens() const {
    if (length) return length;
    return elements(where, what == pass::backward ? 3 : 2, sizeof(float)) / channels;
  }
  std::string name() const {
    std::string text = "laplace" + name_of(what) + "/S:" + std::to_string(nodes);
    if (active < nodes) text += "/active:" + std::to_string(active);
    text += "/C:" + std::to_string(channels) + "/T:" + std::to_string(tokens());
    if (window == spectra::window_shape::hann) text += "/window:hann";
    if (by_column) text += "/read_out:channels";
    return text + "/threads:" + std::to_string(threads);
  }
};

// Time scales from 1.4 tokens to a thousand, frequencies even up to 0.9 pi, as STLT initialises.
struct laplace_nodes {
  index columns;  // of a read-out
  std::vector<float> sigma, omega, mask, widths{laplace_case::width};
  std::vector<std::complex<float>> read_out;

  laplace_nodes(laplace_case const& row, numbers& next)
      : columns(row.by_column ? row.channels : 1) {
    for (index k = 0; k < row.nodes; ++k) {
      double const at = static_cast<double>(k) / static_cast<double>(row.nodes - 1);
      sigma.push_back(static_cast<float>(0.7 * std::pow(0.001 / 0.7, at)));
      omega.push_back(static_cast<float>(0.9 * std::numbers::pi * (1 - at)));
      mask.push_back(k * row.active % row.nodes < row.active ? 1.f : 0.f);
      for (index j = 0; j < columns; ++j)
        read_out.emplace_back(static_cast<float>(next(-1, 1)), static_cast<float>(next(-1, 1)));
    }
  }
  index count() const { return static_cast<index>(sigma.size()); }
  // Without the nodes whose mask is 0.
  laplace_nodes active() const {
    laplace_nodes kept = *this;
    kept.sigma.clear(), kept.omega.clear(), kept.mask.clear(), kept.read_out.clear();
    for (std::size_t k = 0; k < sigma.size(); ++k) {
      if (mask[k] == 0) continue;
      kept.sigma.push_back(sigma[k]), kept.omega.push_back(omega[k]), kept.mask.push_back(1);
      auto const from = read_out.begin() + static_cast<index>(k) * columns;
      kept.read_out.insert(kept.read_out.end(), from, from + columns);
    }
    return kept;
  }
  // P: float, or float const.
  template <class P>
  wane::laplace_parameters<P> nodes(auto& x, bool windowed, bool masked) const {
    wane::laplace_parameters<P> all{.sigma = {x.sigma.data(), 1, count()},
                                    .omega = {x.omega.data(), 1, count()},
                                    .read_out = {x.read_out.data(), 1, count(), columns}};
    if (windowed) all.width = {x.widths.data(), 1};
    if (masked) all.mask = {x.mask.data(), 1, count()};
    return all;
  }
};

}  // namespace wane::bench
