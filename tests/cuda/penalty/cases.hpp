// What penalised memories must do by the kernels of wane::cuda, on a GPU and on an emulated one.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/chunks/cases.hpp"

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
  // Segments whose factors begin with zeros, and find what rounding leaves of a direction.
  void few_directions() const {
    expect_near_changed(
        {.time = 96, .heads = 1, .rows = 2},
        [](auto& x) {
          for (std::size_t t = 0; t < 96; ++t) x.key[2 * t] = 1, x.key[2 * t + 1] = 0;
          x.key[2 * 34 + 1] = 3.1e-23f;
        },
        []<class Io>(chunk_numbers<Io> const& x) {
          return wane::vla<Io>(x.vla_in(false), {.lambda = 0.1, .normalise = false});
        });
  }
  // Also in tokens that a chunk has not.
  void forget_in_penalties() const {
    for (index time : {10, 24})
      expect_near_changed(
          {.time = time, .heads = 1, .rows = 4},
          [](auto& x) {
            for (auto& log : x.by_head) log = -0.01f;
            x.by_head[3] = NAN, x.by_head[8] = -HUGE_VALF;
            if (x.shape.time > 10) x.by_head[10] = -2;
          },
          [](auto const& x) { return x.template fading_vla<wane::write_rule::rls>(false); });
  }
  void keep_from_earlier_tokens() const {
    expect_near_changed(
        {.time = 20, .heads = 1, .rows = 4}, [](auto& x) { x.removal[5 * 4 + 2] = NAN; },
        [](auto const& x) { return x.template vla<wane::write_rule::unit>(true); });
  }

 private:
  // Of inputs that change(numbers) has changed in both types.
  template <class Change, class Make>
  void expect_near_changed(chunk_shape const& shape, Change const& change, Make const& make) const {
    chunk_numbers<float> x{.shape = shape};
    chunk_numbers<double> exact{.shape = shape};
    change(x), change(exact);
    this->template expect_near<float>("vla", make(x), make(exact), direction::forward);
  }
};

}  // namespace support
