// The input and the parameters of laplace: rates, frequencies, read-outs, window widths and masks.
// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <concepts>
#include <type_traits>

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/recurrence/named.hpp"

namespace wane::impl {

// The masks of nodes, [N, H, S], or [1, H, S] for all sequences. [H, S] is taken as [1, H, S].
template <class P>
struct node_masks : view<P, 3> {
  node_masks() noexcept = default;
  WANE_HOST_DEVICE node_masks(P* masks, index sequences, index heads, index nodes)
      : view<P, 3>(masks, sequences, heads, nodes) {}
  node_masks(P* masks, index heads, index nodes) : node_masks(masks, 1, heads, nodes) {}
  WANE_HOST_DEVICE node_masks(P* masks, index const (&extents)[3], index const (&strides)[3])
      : view<P, 3>(masks, extents, strides) {}
  template <std::convertible_to<view<P, 3>> Masks>
  WANE_HOST_DEVICE node_masks(Masks const& of) : view<P, 3>(of) {}
  template <std::convertible_to<view<P, 2>> Masks>
  node_masks(Masks const& of) : view<P, 3>(for_all(of)) {}

 private:
  static view<P, 3> for_all(view<P, 2> const& of) {
    return {of.data, {1, of.extent[0], of.extent[1]}, {0, of.stride[0], of.stride[1]}};
  }
};

}  // namespace wane::impl

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
//                 [N, H, S]  m of each sequence. Entry n belongs to the sequence of state n: row n
//                            of the batch, or packed sequence n
template <class P>
struct laplace_parameters {
  using complex = std::conditional_t<std::is_const_v<P>, std::complex<std::remove_const_t<P>> const,
                                     std::complex<std::remove_const_t<P>>>;

  impl::by_name only = {};
  impl::named<"sigma", view<P, 2>> sigma = {};
  impl::named<"omega", view<P, 2>> omega = {};
  impl::named<"read_out", view<complex, 3>> read_out = {};
  impl::named<"width", view<P, 1>> width = {};
  impl::named<"mask", impl::node_masks<P>> mask = {};
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
void check_laplace_masks(char const* name, view<P, 3> const& masks, index sequences, index heads,
                         index count) {
  require((masks.extent[0] == 1 || masks.extent[0] == sequences) && masks.extent[1] == heads &&
              masks.extent[2] == count,
          name, " has shape [", masks.extent[0], ", ", masks.extent[1], ", ", masks.extent[2],
          "]; it must be [N, H, S] = [", sequences, ", ", heads, ", ", count,
          "] for N sequences, or [1, H, S] for all of them");
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
