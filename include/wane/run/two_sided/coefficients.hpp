// Two-sided coefficients of nodes: what lies behind a token and what lies ahead of it, and adjoint.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/adjoint.hpp"
#include "wane/run/two_sided/run.hpp"

namespace wane::impl {

// The same for the other side: its time runs the other way, and its states begin and end with 0.
template <class Options>
Options of_other_side(Options const& options) {
  Options other;
  other.packed = options.packed, other.lengths = options.lengths, other.threads = options.threads;
  other.direction = opposite(options.direction);
  return other;
}

}  // namespace wane::impl

namespace wane {

// L_nkj = m_k (sum_{l>=0} w(l; W) r_k^l x_{n-l,j} + sum_{l>0} w(l; W) conj(r_k)^l x_{n+l,j})
//
// (STLT, arXiv 2506.15714, section 3, bilateral: e^{-sigma |l| - i omega l} over lags of either
// sign.) Output and options are those of run(op, ...), which finds the past; the future is added to
// it, ends with its sequence, and has no state. An output of fewer bits than the sums rounds both.
// Throws wane::error, before anything is written, when a shape does not fit.
template <impl::node_coefficients Op, class Out, class State = accumulate_type<Op>>
void run_two_sided(Op const& op, sequence_view<Out> output,
                   run_options<State> const& options = {}) {
  impl::check_run(op, output, options);
  impl::run_by_table(op, output, options);
  impl::run_coefficients<impl::transform_side::future>(op, output, impl::of_other_side(options));
  impl::count_tokens(op.shape(), options);
}

// Its adjoint, as wane::adjoint says; states are those of the past.
template <impl::node_coefficients Op, class Out, class Gradients, class State = accumulate_type<Op>>
void adjoint_two_sided(Op const& op, sequence_view<Out> output_gradient, Gradients const& gradients,
                       adjoint_options<State> const& options = {}) {
  impl::check_gradients(op.bank(), gradients, impl::check_shapes(op, output_gradient, options));
  sequence_view<Out const> const dy = output_gradient;
  impl::coefficient_gradients(op, dy, gradients, options, [&](impl::pole_gradient_sums& sums) {
    impl::adjoint_of_side<impl::transform_side::future>(op, dy, gradients,
                                                        impl::of_other_side(options), sums);
  });
}

}  // namespace wane
