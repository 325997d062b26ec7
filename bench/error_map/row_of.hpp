// row_of: a row of the table from a function that makes an operator over some tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "error_map/inputs.hpp"
#include "error_map/mapped_operator.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {

template <class Make, class Io>
std::vector<float> outputs_in_pieces(index tokens, double log_decay, index chunk) {
  inputs<Io, Io> const in(0, tokens, log_decay);
  auto const all = Make()(in.tokens(0, tokens));
  using State = accumulate_type<std::remove_const_t<decltype(all)>>;
  recurrent_state<State> state(all);
  index const columns = output_shape_of(all).columns;
  std::vector<Io> y(static_cast<std::size_t>(tokens * heads * columns));
  sequence_view<Io> const output(y.data(), 1, tokens, heads, columns);
  index const most = chunk == 0 ? tokens : chunk;
  for (index t = 0; t < tokens; t += most) {
    index const end = std::min(t + most, tokens);
    auto const op = Make()(in.tokens(t, end));
    if (chunk == 1)
      step(op, output.tokens(t, end), state);
    else
      run(op, output.tokens(t, end),
          run_options<State>{.initial = state, .final = state, .threads = 1});
  }
  if constexpr (std::is_same_v<Io, float>)
    return y;
  else
    return {y.begin(), y.end()};
}

template <class Make, class Io>
std::vector<double> outputs_in_double(index tokens, double log_decay) {
  constexpr index block = 4096;  // a million tokens of inputs in double take much memory
  using Op = decltype(Make()(std::declval<typename inputs<Io, double>::piece>()));
  std::vector<double> y;
  auto state = [&] {
    inputs<Io, double> const one(0, 1, log_decay);
    return recurrent_state<accumulate_type<Op>>(Make()(one.tokens(0, 1)));
  }();
  for (index t = 0; t < tokens; t += block) {
    index const count = std::min(block, tokens - t);
    inputs<Io, double> const in(t, count, log_decay);
    auto const op = Make()(in.tokens(0, count));
    index const columns = output_shape_of(op).columns;
    if (y.empty()) y.resize(static_cast<std::size_t>(tokens * heads * columns));
    step(op, sequence_view<double>(y.data() + t * heads * columns, 1, count, heads, columns),
         state);
  }
  return y;
}

//   row_of("gla", takes_decays::all, {}, [](auto const& x) { return gla(...); })
//
// make: a function without captures from the `piece` of an `inputs` to an operator.
template <class Make>
mapped_operator row_of(std::string name, takes_decays takes, error_growth const& growth, Make) {
  return {std::move(name), takes, growth,
          [](io_type io, index tokens, double log_decay, index chunk) {
            return io == io_type::float32
                       ? outputs_in_pieces<Make, float>(tokens, log_decay, chunk)
                       : outputs_in_pieces<Make, bfloat16>(tokens, log_decay, chunk);
          },
          [](io_type io, index tokens, double log_decay) {
            return io == io_type::float32 ? outputs_in_double<Make, float>(tokens, log_decay)
                                          : outputs_in_double<Make, bfloat16>(tokens, log_decay);
          }};
}

}  // namespace wane::bench
