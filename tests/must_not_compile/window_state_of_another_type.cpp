// expect: the state of a window that ends holds inputs in the bits of its numbers
// SPDX-License-Identifier: MIT
// A state in float would round those bits away.
#include "wane/operators/laplace.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

using hann = wane::laplace<float, wane::spectra::window_shape::hann>;

#ifdef WANE_CONTROL
using state = std::complex<double>;
#else
using state = std::complex<float>;
#endif

void use(hann const& op, wane::sequence_view<float> y) {
  wane::run(op, y, wane::run_options<state>{});
}
