// Errors of the memories with keys: the same inputs through wane in float and a loop in double.
// SPDX-License-Identifier: MIT
#include "error_map/measure.hpp"

#include <cstddef>

#include "kernels/buffers.hpp"
#include "kernels/keyed_loops.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {
namespace {

constexpr index size = 32;

class problem {
 public:
  problem(memory which, index tokens, float log_decay) : which_(which), tokens_(tokens) {
    p_ = {tokens, 1, size, size, {}, {}, {}, {}};
    auto& in = p_.in;
    in.query = of_length_one(), in.key = of_length_one(), in.value = filled(size, -1, 1);
    in.log_decay = filled(which == memory::gated_delta_net ? 1 : size, log_decay, log_decay);
    if (which == memory::gated_delta_net) in.strength = filled(1, 0.1, 0.9);
    if (which == memory::rwkv7) in.removal = of_length_one(), in.rate = filled(size, 0.1, 0.9);
    p_.output = filled(size, 0, 0);
  }

  errors measure(index chunk) {
    recurrent_state<float> state(1, 1, size, size);
    index const most = chunk == 0 ? tokens_ : chunk;
    for (index t = 0; t < tokens_; t += most)
      take(t, std::min(t + most, tokens_), state, chunk == 1);

    difference of_output, of_state;
    keyed_matrix<double> wide = keyed_matrix<double>::Zero(size, size);
    keyed_loops::forward(p_, 0, wide, [&](index at, auto const& y) {
      for (index j = 0; j < size; ++j) of_output.add(double(p_.output.at(at)[j]), double(y[j]));
    });
    for (index i = 0; i < size * size; ++i)
      of_state.add(double(state.values()[static_cast<std::size_t>(i)]), wide.data()[i]);
    return {of_output.relative(), of_state.relative()};
  }

 private:
  keyed_tensor filled(index width, double low, double high) {
    keyed_tensor const x{memory_.add<float>(tokens_ * width), width};
    for (index i = 0; i < tokens_ * width; ++i)
      x.data[i] = static_cast<float>(low == high ? low : next_(low, high));
    return x;
  }
  keyed_tensor of_length_one() {
    keyed_tensor const x = filled(size, -1, 1);
    for (index t = 0; t < tokens_; ++t) x.at(t).normalize();
    return x;
  }

  void take(index begin, index end, recurrent_state<float>& state, bool by_step) const {
    auto const rows = [&](keyed_tensor const& x) {
      return sequence_view<float>(x.data, 1, tokens_, 1, x.width).tokens(begin, end);
    };
    auto const whole = [&](keyed_tensor const& x) {
      return token_view<float>(x.data, 1, tokens_, 1).tokens(begin, end);
    };
    auto const carry = [&](auto const& op) {
      if (by_step) return step(op, rows(p_.output), state);
      run(op, rows(p_.output), run_options<float>{.initial = state, .final = state, .threads = 1});
    };
    auto const& in = p_.in;
    auto const query = rows(in.query), key = rows(in.key), value = rows(in.value);
    keyed_options const plain{.scale = 1};
    if (which_ == memory::gla)
      carry(gla({.query = query, .key = key, .value = value}, rows(in.log_decay), plain));
    else if (which_ == memory::gated_delta_net)
      carry(gated_delta_net(
          {.query = query, .key = key, .value = value, .strength = whole(in.strength)},
          whole(in.log_decay), plain));
    else
      carry(rwkv7({.query = query,
                   .key = key,
                   .value = value,
                   .removal = rows(in.removal),
                   .rate = rows(in.rate)},
                  rows(in.log_decay), plain));
  }

  memory which_;
  index tokens_;
  buffers memory_;
  numbers next_;
  keyed_arrays p_;
};

}  // namespace

errors measure(memory which, index tokens, float log_decay, index chunk) {
  return problem(which, tokens, log_decay).measure(chunk);
}

}  // namespace wane::bench
