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
      : to_(to), columns_(dy.extent[3]), centre_(numbers(dy)), value{to, dy, {}} {
    recurrence_shape const shape = future.shape();
    value.own.resize(numbers(dy));
    for_each_task(shape.heads, threads_to_use(options.threads), [&](index head) {
      for (index j = 0; j < columns_; ++j) value.own[at(head, j)] = own_weight(future, head, j);
      if (!wants_poles()) return;
      for (index n = 0; n < sequences_of(shape, options.packed); ++n) {
        walk const w = walk_of(n * shape.heads + head, shape, options, nullptr);
        for (index k = 0; k < w.count; ++k)
          for (index j = 0; j < columns_; ++j)
            centre_[at(head, j)] += convert<double>(dy.read(w.token(k), j)) *
                                    convert<double>(future.values().read(w.token(k), j));
      }
    });
  }

  void check(Future const& op) const { to_.check(op); }
  bool wants_poles() const { return to_.wants_poles(); }
  void poles(Future const& op, index head, pole_gradients const& g) const {
    std::vector<std::complex<double>> weight(g.weight, g.weight + op.poles() * columns_);
    for (std::size_t n = 0; n < weight.size(); ++n)
      weight[n] -= centre_[at(head, static_cast<index>(n) % columns_)];
    to_.poles(op, head, pole_gradients{columns_, g.log_pole, weight.data()});
  }

 private:
  static std::size_t numbers(sequence_view<Out const> const& dy) {
    return static_cast<std::size_t>(dy.extent[2] * dy.extent[3]);
  }
  std::size_t at(index head, index j) const {
    return static_cast<std::size_t>(head * columns_ + j);
  }

  struct of_value {
    Gradients const& to;
    sequence_view<Out const> dy;
    std::vector<double> own;

    template <class V>
    void write(place<> where, index j, V g) const {
      auto const weight =
          static_cast<V>(own[static_cast<std::size_t>(where.head * dy.extent[3] + j)]);
      to.value.write(where, j, g - weight * convert<V>(dy.read(where, j)));
    }
  };

  Gradients const& to_;
  index const columns_;
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
// No state is kept: time is O(T P V), memory is one state. The result is the same bits for any
// number of threads. Throws wane::error, before anything is written, when a shape does not fit.
template <pole_bank Past, pole_bank Future, class Out, class Gradients,
          class State = accumulate_type<Past>>
void adjoint_two_sided(Past const& past, Future const& future, sequence_view<Out> output_gradient,
                       Gradients const& gradients, adjoint_options<State> const& options = {}) {
  impl::check_sides(past, future);
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
