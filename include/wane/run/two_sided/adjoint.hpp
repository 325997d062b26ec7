// adjoint_two_sided: gradients of run_two_sided, summed over both sides.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/adjoint.hpp"
#include "wane/run/two_sided/run.hpp"

namespace wane::impl {

// Passes on the gradients of the future without the share of lag 0, which belongs to the past.
template <pole_bank Future, class Out, class Gradients>
class future_gradients {
 public:
  template <class Options>
  future_gradients(Future const& future, sequence_view<Out const> const& dy, Gradients const& to,
                   Options const& options)
      : to_(to), value{to, dy, {}, 0} {
    recurrence_shape const shape = future.shape();
    index const sets = weight_sets(future, sequences_of(shape, options.packed));
    auto const numbers = static_cast<std::size_t>(sets * shape.heads * shape.columns);
    centre_.resize(numbers), value.own.resize(numbers);
    value.stride = future.weighs_sequences() ? shape.heads * shape.columns : 0;
    for_each_task(shape.heads, threads_to_use(options.threads), [&](index head) {
      for_weight_sets(future, head, options, [&](index n, auto const& for_walks) {
        index const first = (n * shape.heads + head) * shape.columns;
        for (index j = 0; j < shape.columns; ++j)
          value.own[static_cast<std::size_t>(first + j)] = own_weight(future, n, head, j);
        if (!wants_poles()) return;
        double* const centre = centre_.data() + first;
        for_walks([&](walk const& w) {
          for (index k = 0; k < w.count; ++k)
            for (index j = 0; j < shape.columns; ++j)
              centre[j] += convert<double>(dy.read(w.token(k), j)) *
                           convert<double>(future.values().read(w.token(k), j));
        });
      });
    });
  }

  void check(Future const& op) const { to_.check(op); }
  bool wants_poles() const { return to_.wants_poles(); }
  void poles(Future const& op, index head, pole_gradients const& g) const {
    index const heads = recurrence_shape(op.shape()).heads, rows = g.sequences * op.poles();
    std::vector<std::complex<double>> weight(g.weight, g.weight + rows * g.columns);
    for (index row = 0; row < rows; ++row)
      for (index j = 0; j < g.columns; ++j)
        weight[static_cast<std::size_t>(row * g.columns + j)] -=
            centre_[static_cast<std::size_t>((row / op.poles() * heads + head) * g.columns + j)];
    to_.poles(op, head, pole_gradients{g.sequences, g.columns, g.log_pole, weight.data()});
  }

 private:
  struct of_value {
    Gradients const& to;
    sequence_view<Out const> dy;
    std::vector<double> own;
    index stride;  // from one sequence to the next, 0 where they share weights

    template <class V>
    void write(place<> where, index j, V g) const {
      auto const weight = static_cast<V>(
          own[static_cast<std::size_t>(where.sequence * stride + where.head * dy.extent[3] + j)]);
      to.value.write(where, j, g - weight * convert<V>(dy.read(where, j)));
    }
  };

  Gradients const& to_;
  std::vector<double> centre_;

 public:
  of_value value;
};

// Adds the gradients of the past to those that the future has left.
template <pole_bank Past, class Gradients>
struct added_gradients {
  struct of_value {
    Gradients const& to;

    template <class V>
    void write(place<> where, index j, V g) const {
      if (to.value.data) to.value.write(where, j, convert<V>(to.value.read(where, j)) + g);
    }
  };

  Gradients const& to;
  of_value value = {to};

  void check(Past const& op) const { to.check(op); }
  bool wants_poles() const { return to.wants_poles(); }
  void poles(Past const& op, index head, pole_gradients const& g) const {
    to.poles(op, head, g, true);
  }
};

}  // namespace wane::impl

namespace wane {

//   adjoint_two_sided(op, op.future(), output_gradient, gradients);  // of a `laplace`
//
// The vector-Jacobian product of run_two_sided(past, future, y, ...). output_gradient: dL/dy,
// [B, T, H, columns]. `gradients` receives the sum of both sides: poles(op, head, g) of it is
// called for the future, then poles(op, head, g, true) adds the past. States are those of the past.
// No state is kept: time is O(T P V), memory is one state; where weights differ by sequence, as
// much as all states. The result is the same bits for any number of threads. Throws wane::error,
// before anything is written, when a shape does not fit.
template <pole_bank Past, pole_bank Future, class Out, class Gradients,
          class State = accumulate_type<Past>>
void adjoint_two_sided(Past const& past, Future const& future, sequence_view<Out> output_gradient,
                       Gradients const& gradients, adjoint_options<State> const& options = {}) {
  impl::check_sides(past, future);
  impl::check_box(past.shape(), options, {false, false, false});
  impl::check_gradients(past, gradients, impl::check_shapes(past, output_gradient, options));
  adjoint_options<accumulate_type<Future>> const ahead{
      .packed = options.packed,
      .lengths = options.lengths,
      .direction = impl::opposite(options.direction),
      .threads = options.threads};
  impl::check_gradients(future, gradients, impl::check_shapes(future, output_gradient, ahead));
  sequence_view<Out const> const dy = output_gradient;
  impl::adjoint_poles(future, dy,
                      impl::future_gradients<Future, std::remove_const_t<Out>, Gradients>(
                          future, dy, gradients, ahead),
                      ahead);
  impl::adjoint_poles(past, dy, impl::added_gradients<Past, Gradients>{gradients}, options);
}

}  // namespace wane
