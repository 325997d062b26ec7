// One run of linear_recurrence on random inputs, compared with the naive loop.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "support/naive.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/tensor.hpp"
#include "support/widen.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/run/run.hpp"

namespace support {

struct linear_shape {
  index batch = 1, time = 1, heads = 1, columns = 1;
  arrangement inputs = arrangement::plain, output = arrangement::plain;
  wane::direction direction = wane::direction::forward;
  bool carries = true;
  int threads = 1;
  std::vector<index> starts = {};  // of packed sequences, if any

  index sequences() const { return starts.empty() ? batch : static_cast<index>(starts.size()) - 1; }
  // The tokens of sequence n, and its row.
  span_of_time span(index n) const {
    auto const i = static_cast<std::size_t>(n);
    bool const reverse = direction == wane::direction::reverse;
    if (starts.empty()) return {0, time, reverse};
    return {starts[i], starts[i + 1], reverse};
  }
  index row(index n) const { return starts.empty() ? n : 0; }
};

// A float state errs by about one rounding of itself a token, of random sign: eps sqrt(T), and the
// largest of T such errors by three times that. A double state: 1e-12 (house rule).
template <class Accumulate>
double bound_of(index time) {
  double const parts = wane::is_complex<Accumulate> ? 2 : 1;  // a complex product has four
  if (sizeof(wane::real_type<Accumulate>) == 4)
    return parts * 3 * 6e-8 * std::sqrt(static_cast<double>(time));
  return 1e-12;
}

// Log decays of every size, one in eight of them 0 and one in eight a reset; factors likewise.
template <wane::decay_as Form, class Io>
Io random_decay(random_values& random) {
  using real = wane::real_type<Io>;
  bool const log = Form == wane::decay_as::log;
  auto const kind = random.bits() % 8;
  double re = random.log_decay(1e-5, 2), im = random.uniform(-3, 3);
  if (!log) re = random.uniform(-1, 1) < 0 ? -std::exp(re) : std::exp(re), im = re * im / 6;
  if (kind < 2) re = (kind == 0) == log ? 0 : log ? -HUGE_VAL : kind == 0 ? 1 : 0, im = 0;
  if constexpr (wane::is_complex<Io>) {
    if (!log && kind >= 2) re *= 0.8;
    return {static_cast<real>(re), static_cast<real>(im)};
  } else {
    return stored<Io>(re);
  }
}
template <class Io>
Io random_number(random_values& random) {
  using real = wane::real_type<Io>;
  if constexpr (wane::is_complex<Io>)
    return {static_cast<real>(random.uniform(-1, 1)), static_cast<real>(random.uniform(-1, 1))};
  else
    return stored<Io>(random.uniform(-1, 1));
}

// Inputs, outputs and states of a linear recurrence.
template <wane::decay_as Form, class Io, class Accumulate = wane::widened<Io>>
struct linear_case {
  using op_type = wane::linear_recurrence<Form, Io, Accumulate>;
  linear_shape shape;
  tensor<Io> decay, drive, output;
  wane::recurrent_state<Accumulate> initial, final;

  explicit linear_case(linear_shape const& s, std::uint64_t seed = 1)
      : shape(s),
        decay(s.batch, s.time, s.heads, s.columns, s.inputs),
        drive(s.batch, s.time, s.heads, s.columns, s.inputs),
        output(s.batch, s.time, s.heads, s.columns, s.output),
        initial(s.sequences(), s.heads, 1, s.columns),
        final(s.sequences(), s.heads, 1, s.columns) {
    random_values random(seed);
    decay.fill([&](auto...) { return random_decay<Form, Io>(random); });
    drive.fill([&](auto...) { return random_number<Io>(random); });
    for (auto& x : initial.values())
      if (s.carries) x = random_number<Accumulate>(random);
    for (auto& x : final.values()) x = not_a_number<Accumulate>();
  }

  op_type op() const { return op_type({.decay = decay, .drive = drive}); }
  wane::run_options<Accumulate> options() {
    wane::run_options<Accumulate> o;
    if (shape.carries) o.initial = std::as_const(initial);
    o.final = final;
    o.direction = shape.direction;
    o.threads = shape.threads;
    o.packed = {shape.starts};
    return o;
  }
  void run() { wane::run(op(), output.view(), options()); }
  void run_by(auto const& runner) { runner(op(), output.view(), options()); }

  // The naive loop in Real; emit(b, t, h, c, y) takes outputs, last(n, h, c, s) the states.
  template <class Real, class Emit, class Last>
  void naive(Emit const& emit, Last const& last) const {
    constexpr bool log = Form == wane::decay_as::log;
    wane::state_view<Accumulate const> const before = initial;
    for (index n = 0; n < shape.sequences(); ++n)
      for (index h = 0; h < shape.heads; ++h)
        for (index c = 0; c < shape.columns; ++c) {
          index const b = shape.row(n);
          last(n, h, c,
               naive_channel<log, Real>(
                   shape.span(n), Real(wide(before.values(n, h, 0, c))),
                   [&](index t) { return wide(decay(b, t, h, c)); },
                   [&](index t) { return wide(drive(b, t, h, c)); },
                   [&](index t, Real y) { emit(b, t, h, c, y); }));
        }
  }
  // Of outputs and final states together.
  nearness error() {
    using Real = decltype(wide(Accumulate{}));
    nearness near;
    wane::state_view<Accumulate> const after = final;
    naive<Real>(
        [&](index b, index t, index h, index c, Real y) { near.add(wide(output(b, t, h, c)), y); },
        [&](index n, index h, index c, Real s) { near.add(wide(after.values(n, h, 0, c)), s); });
    return near;
  }
};

// `runner` is called as wane::run is.
template <wane::decay_as Form, class Io, class Accumulate = wane::widened<Io>>
double linear_error(linear_shape const& shape, auto const& runner) {
  linear_case<Form, Io, Accumulate> run(shape);
  run.run_by(runner);
  EXPECT_TRUE(run.output.margins_untouched());
  EXPECT_TRUE(run.decay.margins_untouched() && run.drive.margins_untouched());
  return run.error().both();
}

template <wane::decay_as Form, class Io, class Accumulate = wane::widened<Io>>
double linear_error(linear_shape const& shape) {
  return linear_error<Form, Io, Accumulate>(shape, [](auto const&... call) { wane::run(call...); });
}

// Whether a long sequence that threads share is as right as its memory allows.
inline bool over_time_is_right(int threads) {
  linear_case<wane::decay_as::log, float> run({.time = 100000, .columns = 4, .threads = threads});
  auto options = run.options();
  options.threads_over_time = true;
  wane::run(run.op(), run.output.view(), options);
  return run.error().both() < bound_of<float>(100000);
}

inline constexpr index ragged_sizes[] = {1, 2, 3, 63, 64, 65, 127, 1000};

}  // namespace support
