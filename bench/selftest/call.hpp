// One call of a runner, on the CPU or a GPU: the data into its memory, the answer out of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "selftest/problem.hpp"
#include "wane/core/call/run_options.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/operators/vla.hpp"

namespace wane::selftest {

// Numbers in double from and to the types they are stored in.
template <class To, class From>
To number_as(From const& x) {
  if constexpr (is_complex<From>)
    return {static_cast<real_type<To>>(x.real()), static_cast<real_type<To>>(x.imag())};
  else
    return static_cast<To>(static_cast<widened<To>>(static_cast<widened<From>>(x)));
}
template <class To, class From>
std::vector<To> numbers_as(std::vector<From> const& from) {
  std::vector<To> to;
  to.reserve(from.size());
  for (From const& x : from) to.push_back(number_as<To>(x));
  return to;
}

// The problem rounded to Io, so that the CPU and the GPU read the same numbers.
template <class Io, class Wide>
problem<Wide> rounded(problem<Wide> p) {
  using V = widened<Io>;
  auto const round = [](std::vector<Wide>& x, auto stored) {
    x = numbers_as<Wide>(numbers_as<decltype(stored)>(x));
  };
  round(p.values, Io());
  for (auto* const x : {&p.decay, &p.key, &p.query, &p.direct})
    if (p.what == form::bank)
      round(*x, V());
    else
      round(*x, Io());
  round(p.initial, V());
  return p;
}

// Owns arrays in the memory of the host.
class host_memory {
 public:
  template <class T>
  T* put(std::vector<T> values) {
    auto const kept = std::make_shared<std::vector<T>>(std::move(values));
    kept_.push_back(kept);
    return kept->data();
  }
  template <class T>
  std::vector<T> get(T const* from, std::size_t count) const {
    return {from, from + count};
  }

 private:
  std::vector<std::shared_ptr<void>> kept_;
};

template <class Io, class T>
sequence_view<T> whole(T* data, scenario const& s) {
  return {data, s.batch, s.time, s.heads, s.columns};
}

template <form What, class Io, class Wide, class Memory>
auto make_operator(problem<Wide> const& p, Memory& memory) {
  scenario const& s = p.asked;
  Io const* const values = memory.put(numbers_as<Io>(p.values));
  if constexpr (What == form::bank) {
    using V = widened<Io>;
    V const *const log_decay = memory.put(numbers_as<V>(p.decay)),
                   *const key = memory.put(numbers_as<V>(p.key)),
                   *const query = memory.put(numbers_as<V>(p.query)),
                   *const direct = memory.put(numbers_as<V>(p.direct));
    return exponential_bank<Io>({.value = whole<Io>(values, s),
                                 .log_decay = {log_decay, s.heads, bank_rows},
                                 .key = {key, s.heads, bank_rows},
                                 .query = {query, s.heads, bank_rows},
                                 .direct = {direct, s.heads}});
  } else if constexpr (is_memory(What)) {
    auto const rows = [&](std::vector<Wide> const& x) {
      Io const* const data = memory.put(numbers_as<Io>(x));
      return sequence_view<Io const>(data, s.batch, s.time, s.heads, memory_rows);
    };
    auto const heads = [&](std::vector<Wide> const& x) {
      Io const* const data = memory.put(numbers_as<Io>(x));
      return token_view<Io const>(data, s.batch, s.time, s.heads);
    };
    if constexpr (What == form::vla)
      return vla<Io>(
          {.query = rows(p.query), .key = rows(p.key), .value = whole<Io const>(values, s)},
          {.lambda = 0.1});
    else
      return gated_delta_net<Io>({.query = rows(p.query),
                                  .key = rows(p.key),
                                  .value = whole<Io const>(values, s),
                                  .strength = heads(p.direct)},
                                 heads(p.decay), {.normalise = true});
  } else {
    constexpr decay_as as = What == form::log ? decay_as::log : decay_as::factor;
    Io const* const decay = memory.put(numbers_as<Io>(p.decay));
    return linear_recurrence<as, Io>({.decay = whole<Io>(decay, s), .drive = whole<Io>(values, s)});
  }
}

// run(op, output, options) calls the runner. Outputs begin as zeros.
template <form What, class Io, class Wide, class Memory, class Run>
answer<Wide> call(problem<Wide> const& p, Memory& memory, Run const& run) {
  using V = widened<Io>;
  scenario const& s = p.asked;
  auto const op = make_operator<What, Io>(p, memory);
  run_options<V> options;
  options.direction = s.reverse ? direction::reverse : direction::forward;
  if (!s.starts.empty()) options.packed.starts = {memory.put(s.starts), s.starts.size()};
  if (s.carried) {
    V const* const initial = memory.put(numbers_as<V>(p.initial));
    options.initial = {{initial, s.sequences(), s.heads, p.rows(), p.columns()},
                       memory.put(p.positions)};
    options.final = {{memory.put(std::vector<V>(p.initial.size())), s.sequences(), s.heads,
                      p.rows(), p.columns()},
                     memory.put(std::vector<index>(p.positions.size()))};
  }
  Io* const output = memory.put(std::vector<Io>(p.values.size()));
  run(op, whole<Io>(output, s), options);
  return {numbers_as<Wide>(memory.get(output, p.values.size())),
          numbers_as<Wide>(memory.get(options.final.values.data, p.initial.size())),
          memory.get(options.final.positions, p.positions.size())};
}

}  // namespace wane::selftest
