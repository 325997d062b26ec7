// The gradients of laplace: of inputs and nodes, or on a device of inputs, poles and weights.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/recurrence/poles.hpp"
#include "wane/operators/parts/laplace_parameters.hpp"

namespace wane::impl {

// Where the gradients go; any may be absent. Gradients of nodes are sums over tokens and sequences,
// and over channels for a read_out [H, S, 1]. The gradient of a mask [N, H, S] is that of each
// sequence. Complex gradients are d/dRe + i d/dIm.
template <class Op>
struct laplace_gradients {
  using P = typename Op::parameter;

  by_name only = {};
  named<"value", sequence_view<typename Op::input>> value = {};
  laplace_parameters<P> nodes = {};

  void check(Op const& op) const {
    recurrence_shape const shape = op.shape();
    index const heads = shape.heads, count = op.parameters().sigma.extent[1];
    check_if_present("the gradient of value", value, shape);
    std::pair<char const*, view<P, 2>> const by_node[] = {{"the gradient of sigma", nodes.sigma},
                                                          {"the gradient of omega", nodes.omega}};
    for (auto const& [name, of] : by_node)
      if (of.data) check_laplace_node(name, of, heads, count);
    if (nodes.mask.data) {
      auto const& mask = op.parameters().mask;
      check_laplace_masks("the gradient of mask", nodes.mask, nodes.mask.extent[0], heads, count);
      check_extent("the gradient of mask", "sequences", nodes.mask.extent[0],
                   mask.data ? mask.extent[0] : 1);
    }
    if (nodes.read_out.data) {
      check_laplace_read_out("the gradient of read_out", nodes.read_out, heads, count,
                             shape.columns);
      check_extent("the gradient of read_out", "columns", nodes.read_out.extent[2],
                   op.parameters().read_out.extent[2]);
    }
    if (nodes.width.data) {
      require(Op::has_window, "width has a gradient, but there is no window");
      check_extent("the gradient of width", "heads", nodes.width.extent[0], heads);
    }
  }
  bool wants_poles() const {
    return nodes.sigma.data || nodes.omega.data || nodes.read_out.data || nodes.width.data ||
           nodes.mask.data;
  }

  // From the gradients of poles and weights of a head (run/poles/gradients.hpp). `add` adds to the
  // gradients already there.
  template <class Poles>
  void poles(Op const& op, index head, Poles const& g, bool add = false) const {
    auto const give = [add](auto& to, auto of) {
      using to_type = std::remove_cvref_t<decltype(to)>;
      to = add ? to + to_type(of) : to_type(of);
    };
    double of_width = 0;
    bool const only_itself = Op::has_window && op.reach(head) == 1;  // its weight is 1
    index const channels = op.parameters().read_out.extent[2];
    for (index k = 0; k < op.parameters().sigma.extent[1]; ++k) {
      std::complex<double> of_exponent = 0;
      for (index i = k * Op::terms(); i < (k + 1) * Op::terms(); ++i) {
        of_exponent += g.log_pole[i];
        if constexpr (Op::has_window) {
          double const width = op.width_of(head);
          if (!only_itself)
            of_width -= multiply(Op::term(i).exponent, g.log_pole[i]).real() / (width * width);
        }
      }
      if (nodes.sigma.data) give(nodes.sigma(head, k), -of_exponent.real());
      if (nodes.omega.data) give(nodes.omega(head, k), of_exponent.imag());
      // Of C_kc in sequence n, as if its mask were 1.
      auto const of_read_out = [&](index n, index c) {
        std::complex<double> seen = 0;
        for (index i = k * Op::terms(); i < (k + 1) * Op::terms(); ++i)
          for (index j = channels > 1 ? c : 0; j < (channels > 1 ? c + 1 : g.columns); ++j)
            seen += multiply(Op::term(i).weight, g.weight[(n * op.poles() + i) * g.columns + j]);
        return op.is_conjugated() ? seen : conjugate(seen);
      };
      auto const& mask = op.parameters().mask;
      std::vector<std::complex<double>> total(static_cast<std::size_t>(channels));
      for (index n = 0; n < g.sequences; ++n) {
        double const factor = mask.data ? double(mask(n, head, k)) : 1;
        double of_mask = 0;
        for (index c = 0; c < channels; ++c) {
          std::complex<double> const of = of_read_out(n, c);
          std::complex<double> const read(op.parameters().read_out(head, k, c));
          of_mask += multiply(read, conjugate(of)).real();
          total[static_cast<std::size_t>(c)] += factor * of;
        }
        if (nodes.mask.data) give(nodes.mask(n, head, k), of_mask);
      }
      for (index c = 0; nodes.read_out.data && c < channels; ++c)
        give(nodes.read_out(head, k, c), total[static_cast<std::size_t>(c)]);
    }
    if (nodes.width.data) give(nodes.width(head), of_width);
  }
};

// Where gradients go on a device (wane/cuda/adjoint.cuh): of value, and of poles and their
// weights, [H, poles()], for a read_out [H, S, 1]. Copy them to the host and call nodes_of() there
// to get the gradients of the nodes.
template <class Op>
struct laplace_pole_gradients {
  using V = accumulate_type<Op>;

  by_name only = {};
  named<"value", sequence_view<typename Op::input>> value = {};
  named<"log_pole", view<V, 2>> log_pole = {};
  named<"weight", view<V, 2>> weight = {};

  void check(Op const& op) const {
    check_if_present("the gradient of value", value, op.shape());
    require(!op.weighs_sequences() || (!log_pole.data && !weight.data),
            "mask differs by sequence; gradients of poles are for one mask of all sequences");
    require(!op.weighs_columns() || (!log_pole.data && !weight.data),
            "read_out differs by channel; gradients of poles are for one read_out of all channels");
    if (log_pole.data)
      check_laplace_node("the gradient of log_pole", log_pole, op.shape().heads, op.poles());
    if (weight.data)
      check_laplace_node("the gradient of weight", weight, op.shape().heads, op.poles());
  }
  // From the gradients of poles and weights, in host memory, to the gradients of the nodes.
  void nodes_of(Op const& op, laplace_gradients<Op> const& to) const {
    struct sums {
      index sequences, columns;
      std::complex<double> const *log_pole, *weight;
    };
    auto const count = static_cast<std::size_t>(op.poles());
    std::vector<std::complex<double>> of_log(count), of_weight(count);
    for (index h = 0; h < op.shape().heads; ++h) {
      for (index i = 0; i < op.poles(); ++i) {
        of_log[static_cast<std::size_t>(i)] = std::complex<double>(conjugate(log_pole(h, i)));
        of_weight[static_cast<std::size_t>(i)] = std::complex<double>(conjugate(weight(h, i)));
      }
      to.poles(op, h, sums{1, 1, of_log.data(), of_weight.data()});
    }
  }

  struct sink {
    laplace_pole_gradients const& to;
    place<> where;

    WANE_HOST_DEVICE void column(index j, V g) const { to.value.write(where, j, g); }
    WANE_HOST_DEVICE void row(index i, row_gradient<V> g) const {
      if (to.log_pole.data) to.log_pole(where.head, i) = g.decay;
      if (to.weight.data) to.weight(where.head, i) = g.query;
    }
  };
  WANE_HOST_DEVICE sink at(place<> where) const { return {*this, where}; }
};

}  // namespace wane::impl
