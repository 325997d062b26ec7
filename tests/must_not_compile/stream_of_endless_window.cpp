// expect: two_sided_stream: inputs must leave the banks
// The future of a bank that never forgets is never complete.
// SPDX-License-Identifier: MIT
#include "wane/operators/laplace.hpp"
#include "wane/run/two_sided/stream.hpp"

#ifdef WANE_CONTROL
using operation = wane::laplace<float, wane::spectra::window_shape::hann>;
#else
using operation = wane::laplace<float, wane::spectra::window_shape::exponential>;
#endif

wane::index answers(operation const& op) {
  return wane::two_sided_stream<operation>(op, op.future()).ready(1);
}
