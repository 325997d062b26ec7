// What penalised memories must do by the kernels of wane::cuda, on a GPU and on an emulated one.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/chunk_cases.hpp"

namespace support {

template <class Runner>
struct penalty_cases : chunk_cases<Runner> {
  // Directions are the keys, or are given.
  template <class Io, wane::write_rule Rule>
  void vla(chunk_shape const& shape, bool given = false) const {
    this->template both_ways<Io>("vla", shape, false,
                                 [=](auto const& x) { return x.template vla<Rule>(given); });
  }
  // `strong` decays are of any size.
  template <class Io, wane::write_rule Rule>
  void fading_vla(chunk_shape const& shape, bool strong = false, bool given = false) const {
    this->template both_ways<Io>("vla with a gate", shape, strong,
                                 [=](auto const& x) { return x.template fading_vla<Rule>(given); });
  }
  // Sequences of 0, 1, 16 and other numbers of tokens, in one row.
  template <class Io>
  void pack_penalised() const {
    std::vector<index> const starts = {0, 0, 1, 17, 17, 36, 37};
    chunk_numbers<Io> const x{.shape = {}};
    chunk_numbers<double> const exact{.shape = {}};
    using enum wane::write_rule;
    this->template expect_near<Io>("vla", x.template vla<rls>(false),
                                   exact.template vla<rls>(false), direction::forward, starts);
    this->template expect_near<Io>("vla with a gate", x.template fading_vla<unit>(true),
                                   exact.template fading_vla<unit>(true), direction::reverse,
                                   starts);
  }
};

}  // namespace support
