// The forms of vla.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <type_traits>

#include "recall/memories/memory.hpp"

namespace wane::recall {

// vla with the options of recall() (lambda 1e-3): rls, whose directions are the keys; unit, with
// learned directions f(k); and unit under the paper's features and division (eq. 11), lambda .1 and
// refresh.
enum class vla_form { rls, unit, quotient };

template <class T, vla_form Form>
class vla_memory : public memory<T> {
  static constexpr bool learns_directions = Form != vla_form::rls;
  static constexpr write_rule rule = learns_directions ? write_rule::unit : write_rule::rls;

 public:
  vla_memory(parameters<T>& model, std::string const& name, token_shape const& s) {
    if (learns_directions)
      direction_ = model.spread(name + ".direction", s.size, s.size, 1 / std::sqrt(s.size));
  }

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const u = learns_directions ? linear_of_heads(on, in.key, direction_) : in.key;
    if constexpr (Form == vla_form::quotient) return quotient(on, in, u, s);
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      vla_inputs<T> all{.query = rows(in.query), .key = rows(in.key), .value = rows(in.value)};
      if (learns_directions) all.direction = rows(u);
      return vla<T, rule>(all, vla_options::recall());
    };
    return record_memory(on, s, std::array{in.query, in.key, in.value, u}, make,
                         [s](auto const& op, auto& to) {
                           auto all = keyed_part(op, to, s);
                           if (learns_directions) all.direction = in_heads(to[3], s.batch, s.heads);
                           return all;
                         });
  }

 private:
  tensor quotient(tape<T>& on, memory_inputs const& in, tensor u, token_shape const& s) const {
    static T const one = 1;
    tensor const q = elu_plus_one(on, in.query), k = elu_plus_one(on, in.key);
    tensor const unit = normed_heads(on, in.key, s.size, T(1));
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      vla_options options = vla_options::paper();
      options.normalise = false;
      sequence_view<T const> const ones(&one, {s.batch, s.time, s.heads, 1}, {0, 0, 0, 0});
      return quotient_of(
          vla<T, rule>(
              {.query = rows(q), .key = rows(unit), .value = rows(in.value), .direction = rows(u)},
              options),
          gla<T, no_gate>({.query = rows(q), .key = rows(k), .value = ones}, no_gate{},
                          {.scale = 1}),
          1e-4);
    };
    return record_memory(on, s, std::array{q, unit, in.value, u, q, k}, make,
                         [s](auto const& op, auto& to) {
                           typename std::remove_cvref_t<decltype(op)>::gradients all;
                           all.first = keyed_part(op.first(), to, s);
                           all.first.direction = in_heads(to[3], s.batch, s.heads);
                           all.second.query = in_heads(to[4], s.batch, s.heads);
                           all.second.key = in_heads(to[5], s.batch, s.heads);
                           return all;
                         });
  }

  std::size_t direction_ = 0;
};

}  // namespace wane::recall
