// The adjoint of one linear_recurrence, compared with derivatives of the naive loop.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/linear_case.hpp"
#include "wane/run/adjoint.hpp"

namespace support {

// Gradients of L = sum of dy . y + sum of dfinal . final, a . b = Re(conj(a) b).
template <wane::decay_as Form, class Io, class Accumulate = wane::widened<Io>>
struct linear_gradients {
  using op_type = wane::linear_recurrence<Form, Io, Accumulate>;
  linear_case<Form, Io, Accumulate> run;
  tensor<Io> output_gradient, decay, drive;
  wane::recurrent_state<Accumulate> final_gradient, initial;

  explicit linear_gradients(linear_shape const& s, std::uint64_t seed = 1)
      : run(s, seed),
        output_gradient(s.batch, s.time, s.heads, s.columns, s.inputs),
        decay(s.batch, s.time, s.heads, s.columns, s.output),
        drive(s.batch, s.time, s.heads, s.columns, s.output),
        final_gradient(s.sequences(), s.heads, 1, s.columns),
        initial(s.sequences(), s.heads, 1, s.columns) {
    random_values random(seed + 1);
    output_gradient.fill([&](auto...) { return random_number<Io>(random); });
    for (auto& x : final_gradient.values()) x = random_number<Accumulate>(random);
    for (auto& x : initial.values()) x = not_a_number<Accumulate>();
  }

  wane::adjoint_options<Accumulate> options() {
    wane::adjoint_options<Accumulate> o;
    if (run.shape.carries) o.initial = std::as_const(run.initial);
    o.final_gradient = std::as_const(final_gradient);
    o.initial_gradient = initial;
    o.packed = {run.shape.starts};
    o.direction = run.shape.direction;
    o.threads = run.shape.threads;
    return o;
  }
  void find() {
    find_by([](auto const&... call) { wane::adjoint(call...); });
  }
  // `adjoint` is called as wane::adjoint is.
  void find_by(auto const& adjoint) {
    adjoint(run.op(), output_gradient.view(),
            typename op_type::gradients{.decay = decay, .drive = drive}, options());
  }

  // The same from the outputs of the run, which need not be found again.
  void find_from_outputs() {
    auto const& s = run.shape;
    tensor<Accumulate> outputs(s.batch, s.time, s.heads, s.columns, s.output);
    wane::run(run.op(), outputs.view(), run.options());
    auto o = options();
    o.outputs = outputs.view();
    wane::adjoint(run.op(), output_gradient.view(),
                  typename op_type::gradients{.decay = decay, .drive = drive}, o);
  }

  // The largest error of a gradient over the largest gradient, of each kind; sees all of them.
  double error() {
    if constexpr (wane::is_complex<Io>)
      return error_by([](auto const& loss, auto& x) {
        // Central differences in extended precision: 1e-12 of truncation, 1e-13 of rounding.
        using number = std::remove_reference_t<decltype(x)>;
        constexpr long double step = 1e-6L;
        number const here = x;
        auto const along = [&](number const& d) {
          x = here + d;
          long double const up = loss();
          x = here - d;
          long double const down = loss();
          x = here;
          return static_cast<double>((up - down) / (2 * step));
        };
        return std::complex<double>(along({step, 0}), along({0, step}));
      });
    else
      return error_by([](auto const& loss, auto& x) {
        // Complex step: exact to the rounding of double.
        constexpr double step = 1e-150;
        x += std::complex<double>(0, step);
        double const derivative = loss().imag() / step;
        x = x.real();
        return derivative;
      });
  }

 private:
  template <class Derivative>
  double error_by(Derivative const& derivative) {
    using Real =
        std::conditional_t<wane::is_complex<Io>, std::complex<long double>, std::complex<double>>;
    nearness of_decay, of_drive, of_initial;
    auto const& s = run.shape;
    wane::state_view<Accumulate> const before = run.initial, last = final_gradient, found = initial;
    auto const number = [](auto x) { return Real(x); };
    for (index n = 0; n < s.sequences(); ++n)
      for (index h = 0; h < s.heads; ++h)
        for (index c = 0; c < s.columns; ++c) {
          index const b = s.row(n);
          span_of_time const span = s.span(n);
          std::vector<Real> a(static_cast<std::size_t>(s.time)), x(a), dy(a);
          for (index t = span.begin; t < span.end; ++t) {
            auto const i = static_cast<std::size_t>(t);
            a[i] = number(wide(run.decay(b, t, h, c)));
            x[i] = number(wide(run.drive(b, t, h, c)));
            dy[i] = number(wide(output_gradient(b, t, h, c)));
          }
          Real start = number(wide(before.values(n, h, 0, c)));
          Real const end = number(wide(last.values(n, h, 0, c)));
          auto const times = [](Real const& g, Real const& y) {
            if constexpr (wane::is_complex<Io>)
              return (std::conj(g) * y).real();
            else
              return g * y;
          };
          auto const loss = [&] {
            decltype(times(start, start)) total(0);
            Real const state = naive_channel<Form == wane::decay_as::log, Real>(
                span, start, [&](index t) { return a[static_cast<std::size_t>(t)]; },
                [&](index t) { return x[static_cast<std::size_t>(t)]; },
                [&](index t, Real y) { total += times(dy[static_cast<std::size_t>(t)], y); });
            return total + times(end, state);
          };
          for (index t = span.begin; t < span.end; ++t) {
            auto const i = static_cast<std::size_t>(t);
            of_decay.add(wide(decay(b, t, h, c)), derivative(loss, a[i]));
            of_drive.add(wide(drive(b, t, h, c)), derivative(loss, x[i]));
          }
          of_initial.add(wide(found.values(n, h, 0, c)), derivative(loss, start));
        }
    return std::max({of_decay.both(), of_drive.both(), of_initial.both()});
  }
};

}  // namespace support
