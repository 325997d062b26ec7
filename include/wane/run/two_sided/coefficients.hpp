// run_two_sided and adjoint_two_sided for the coefficients of Laplace nodes.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/adjoint.hpp"
#include "wane/run/two_sided/run.hpp"

namespace wane::impl {

// Options of the future side: the same sequences in the opposite direction. It begins with zeros,
// and its final state is not written.
template <class Options>
Options of_other_side(Options const& options) {
  Options other;
  other.packed = options.packed, other.lengths = options.lengths, other.threads = options.threads;
  other.direction = opposite(options.direction);
  return other;
}

}  // namespace wane::impl

namespace wane {

//   run_two_sided(coefficients, output);  // a laplace_coefficients
//
// L_nkj = m_k (sum_{l>=0} w(l; W) r_k^l x_{n-l,j} + sum_{l>0} w(l; W) conj(r_k)^l x_{n+l,j})
//
// (STLT, arXiv 2506.15714, section 3, bilateral: e^{-sigma |l| - i omega l} over lags of either
// sign.) Output and options are those of run(op, ...), which writes the past. The future is added;
// it ends with its sequence and has no state. An output narrower than the sums is rounded once a
// side. Throws wane::error, before anything is written, when a shape does not fit.
template <impl::node_coefficients Op, class Out, class State = accumulate_type<Op>>
void run_two_sided(Op const& op, sequence_view<Out> output,
                   run_options<State> const& options = {}) {
  impl::check_run(op, output, options);
  impl::run_by_table(op, output, options);
  impl::run_coefficients<impl::transform_side::future>(op, output, impl::of_other_side(options));
  impl::count_tokens(op.shape(), options);
}

//   adjoint_two_sided(coefficients, output_gradient, gradients);
//
// The adjoint of run_two_sided, with the arguments of wane::adjoint. States are those of the past.
// Throws wane::error, before anything is written, when a shape does not fit.
template <impl::node_coefficients Op, class Out, class Gradients, class State = accumulate_type<Op>>
void adjoint_two_sided(Op const& op, sequence_view<Out> output_gradient, Gradients const& gradients,
                       adjoint_options<State> const& options = {}) {
  impl::check_gradients(op.bank(), gradients, impl::check_shapes(op, output_gradient, options));
  sequence_view<Out const> const dy = output_gradient;
  impl::coefficient_gradients(op, dy, gradients, options, [&](impl::pole_gradient_sums& sums) {
    impl::adjoint_coefficients_of_side<impl::transform_side::future>(
        op, dy, gradients, impl::of_other_side(options), sums);
  });
}

}  // namespace wane
