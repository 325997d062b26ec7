// The input and the parameters of laplace: rates, frequencies, read-outs, window widths and masks.
// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <type_traits>

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/recurrence/named.hpp"

namespace wane {

//   wane::laplace_parameters<float const> const nodes{
//       .sigma = {sigma, H, S}, .omega = {omega, H, S}, .read_out = {read_out, H, S, 1},
//       .width = {width, H}};
//   wane::laplace<float, wane::spectra::window_shape::hann> const transform({.value = x}, nodes);
//
// The parameters of `laplace`. P is float or double, const for inputs.
//   sigma, omega  [H, S]     s_k = sigma_k + i omega_k, nats and radians a token; sigma >= 0 (> 0
//                            for a memory that fades), |omega| <= pi
//   read_out      [H, S, V]  C, or [H, S, 1]: the same for all channels
//   width         [H]        W of the window, in tokens, real and > 0; absent where there is none
//   mask          [H, S]     m, absent: 1
template <class P>
struct laplace_parameters {
  using complex = std::conditional_t<std::is_const_v<P>, std::complex<std::remove_const_t<P>> const,
                                     std::complex<std::remove_const_t<P>>>;

  impl::by_name only = {};
  impl::named<"sigma", view<P, 2>> sigma = {};
  impl::named<"omega", view<P, 2>> omega = {};
  impl::named<"read_out", view<complex, 3>> read_out = {};
  impl::named<"width", view<P, 1>> width = {};
  impl::named<"mask", view<P, 2>> mask = {};
};

// value: x, [B, T, H, V].
template <class Io>
struct laplace_inputs {
  impl::by_name only = {};
  impl::named<"value", sequence_view<Io const>> value = {};
};

// How a two-sided transform (run/two_sided/run.hpp) weighs the token at the signed lag l = n - m:
//   conjugate  e^{-sigma |l|} e^{-i omega l}
//   same       e^{-s |l|}, even in l
enum class future_phase { conjugate, same };

}  // namespace wane

namespace wane::impl {

// Throw wane::error where a shape does not fit.
template <class P>
void check_laplace_node(char const* name, view<P, 2> const& node, index heads, index count) {
  require(node.extent[0] == heads && node.extent[1] == count, name, " has shape [", node.extent[0],
          ", ", node.extent[1], "]; it must be [H, S] = [", heads, ", ", count,
          "] as value and sigma say");
}
template <class P>
void check_laplace_read_out(char const* name, view<P, 3> const& read_out, index heads, index count,
                            index columns) {
  require(read_out.extent[0] == heads && read_out.extent[1] == count &&
              (read_out.extent[2] == 1 || read_out.extent[2] == columns),
          name, " has shape [", read_out.extent[0], ", ", read_out.extent[1], ", ",
          read_out.extent[2], "]; it must be [H, S, V] = [", heads, ", ", count, ", ", columns,
          "], or [H, S, 1]");
}

}  // namespace wane::impl
