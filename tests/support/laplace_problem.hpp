// A problem for the law kit: laplace over random inputs and nodes.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <complex>
#include <random>
#include <span>
#include <vector>

#include "support/random_values.hpp"
#include "support/tensor.hpp"
#include "wane/core/state/state.hpp"
#include "wane/operators/laplace.hpp"

namespace support {

struct laplace_size {
  index batch = 2, tokens = 61, heads = 2, columns = 7, nodes = 3;
  double width = 9.3;
  bool by_column = false, masked = false;
  index masks = 1;  // one for all sequences, or one for each of so many
};

template <class Io, wane::spectra::window_shape Window>
struct laplace_problem : laplace_size {
  using P = wane::widened<Io>;
  using operation = wane::laplace<Io, Window>;
  using state_number = wane::accumulate_type<operation>;

  random_values random{7};
  std::vector<Io> x;
  std::vector<P> sigma, omega, read_out, widths, mask;
  std::vector<Io> to_x;
  std::vector<P> to_sigma, to_omega, to_read_out, to_widths, to_mask;

  explicit laplace_problem(laplace_size const& size) : laplace_size(size) {
    auto const some = [&](auto& of, index count, double low, double high) {
      for (index i = 0; i < count; ++i)
        of.push_back(stored<std::remove_cvref_t<decltype(of[0])>>(random.uniform(low, high)));
    };
    some(x, batch * tokens * heads * columns, -1, 1);
    some(sigma, heads * nodes, 0.01, 0.4), some(omega, heads * nodes, -3, 3);
    some(read_out, heads * nodes * 2 * channels(), -1, 1);
    some(widths, heads, 0.7 * width, width), some(mask, masks * heads * nodes, 0, 1);
    to_x = x, to_sigma = sigma, to_omega = omega, to_read_out = read_out, to_widths = widths,
    to_mask = mask;
  }

  index time() const { return tokens; }
  operation make(index begin, index end) const {
    return {{.value = values<Io const>(x).tokens(begin, end)},
            nodes_of<P const>(sigma, omega, read_out, widths, mask)};
  }
  auto inputs() {
    return std::array<std::span<P>, 6>{
        x, sigma, omega, read_out, widths_there(widths), mask_there(mask)};
  }
  auto input_gradients() {
    return std::array<std::span<P>, 6>{
        to_x, to_sigma, to_omega, to_read_out, widths_there(to_widths), mask_there(to_mask)};
  }
  typename operation::gradients gradients(index begin = 0, index end = -1) {
    return {.value = values<Io>(to_x).tokens(begin, end < 0 ? tokens : end),
            .nodes = nodes_of<P>(to_sigma, to_omega, to_read_out, to_widths, to_mask)};
  }

  // States whose rings hold inputs; where the window holds one, the sums are that one, whatever
  // the width, and the gradient in the width counts on it.
  void begin(wane::recurrent_state<state_number>& state, std::mt19937_64& bits) const {
    using Ring = wane::impl::input_ring<Io, state_number>;
    std::normal_distribution<wane::real_type<state_number>> normal;
    operation const op = make(0, tokens);
    wane::recurrence_shape const shape = op.shape();
    index const sums = (operation::inputs_leave ? 2 : 1) * op.poles();
    index n = 0;
    for (state_number& z : state.values()) {
      z = state_number(normal(bits), normal(bits));
      if (n++ / shape.columns % shape.rows >= sums)
        for (index slot = 0; slot < Ring::per_row; ++slot)
          Ring::write(z, slot, stored<Io>(normal(bits)));
    }
    wane::state_view<state_number> const all = state;
    if constexpr (operation::inputs_leave)
      for (index b = 0; b < shape.batch; ++b)
        for (index h = 0; h < shape.heads; ++h)
          for (index i = 0; i < (op.reach(h) == 1 ? sums : 0); ++i)
            for (index j = 0; j < shape.columns; ++j)
              all.values(b, h, i, j) =
                  wane::convert<double>(Ring::read(all.values(b, h, sums, j), 0));
  }

 private:
  index channels() const { return by_column ? columns : 1; }
  std::span<P> widths_there(std::vector<P>& of) const {
    return std::span<P>(of).first(operation::has_window ? of.size() : 0);
  }
  std::span<P> mask_there(std::vector<P>& of) const {
    return std::span<P>(of).first(masked ? of.size() : 0);
  }
  template <class V>
  wane::view<V, 4> values(auto& of) const {
    return {of.data(), batch, tokens, heads, columns};
  }
  template <class Q>
  wane::laplace_parameters<Q> nodes_of(auto& s, auto& o, auto& c, auto& w, auto& m) const {
    using C = std::remove_pointer_t<decltype(wane::laplace_parameters<Q>().read_out.data)>;
    wane::laplace_parameters<Q> nodes_{
        .sigma = {s.data(), heads, nodes},
        .omega = {o.data(), heads, nodes},
        .read_out = {reinterpret_cast<C*>(c.data()), heads, nodes, channels()}};
    if (operation::has_window) nodes_.width = {w.data(), heads};
    if (masked) nodes_.mask = {m.data(), masks, heads, nodes};
    return nodes_;
  }
};

}  // namespace support
