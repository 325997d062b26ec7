// Mamba-2.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <type_traits>

#include "recall/memories/spectrum.hpp"

namespace wane::recall {

// Mamba-2 without its gate: B is the key, C the query, x the value, A = -e^A_log; as published or
// with PoST (section 5.2).
template <class T>
class mamba2_memory : public memory<T> {
 public:
  mamba2_memory(parameters<T>& model, std::string const& name, token_shape const& s, bool post)
      : weight_(model.spread(name + ".gate", s.width(), s.heads, 1 / std::sqrt(s.width()))),
        rates_(post ? spectrum<T>(model, name, spectra::mamba2_log_rates(s.heads, s.time), s.time)
                    : spectrum<T>(model, name, s.heads)),
        bias_(post ? model.filled(name + ".dt_bias", 1, s.heads,
                                  spectra::inverse_softplus(spectra::mamba2_dt))
                   : time_step_bias(model, name + ".dt_bias", s.heads)),
        direct_(model.filled(name + ".D", 1, s.heads, 1)) {}

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const dt = linear(on, in.x, weight_), bias = learned(on, bias_),
                 direct = learned(on, direct_);
    auto const rates = rates_(on);
    tensor const rate = each(
        on, rates.log_rate, [](auto const& p) { return -p.exp(); },
        [](auto const&, auto const& y) { return y; });
    tensor const taper = rates.taper.value_or(rate);  // not read without PoST
    auto const head = [s](auto& of) {
      return view<std::remove_pointer_t<decltype(of.data())>, 1>(of.data(), s.heads);
    };
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      mamba2_inputs<T> all{.x = rows(in.value),
                           .dt = by_head(of[dt], s.batch),
                           .A = head(of[rate]),
                           .B = rows(in.key),
                           .C = rows(in.query),
                           .D = head(of[direct]),
                           .dt_bias = head(of[bias])};
      if (rates.taper) all.taper = head(of[taper]);
      return mamba2<T>(all, {.dt_softplus = true});
    };
    return record_memory(
        on, s, std::array{in.query, in.key, in.value, dt, rate, direct, bias, taper}, make,
        [=](auto const&, auto& to) {
          auto const rows = [&](std::size_t i) { return in_heads(to[i], s.batch, s.heads); };
          typename mamba2<T>::gradients all{.x = rows(2),
                                            .dt = by_head(to[3], s.batch),
                                            .A = head(to[4]),
                                            .B = rows(1),
                                            .C = rows(0),
                                            .D = head(to[5]),
                                            .dt_bias = head(to[6])};
          if (rates.taper) all.taper = head(to[7]);
          return all;
        });
  }

 private:
  std::size_t weight_;
  spectrum<T> rates_;
  std::size_t bias_, direct_;
};

}  // namespace wane::recall
