// plasticity_loss: the loss by which the orders of tokens learn (VORT, section 5).
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <optional>
#include <vector>

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/recurrence/named.hpp"
#include "wane/spectra/orders/order_nodes.hpp"

namespace wane {

// Queries and keys of the tokens, their orders, and the token that each query should find.
template <class Io>
struct plasticity_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};  // [B, T, H, K]
  impl::named<"key", sequence_view<Io const>> key = {};      // [B, T, H, K]
  impl::named<"alpha", token_view<Io const>> alpha = {};     // [B, T, H]
  // i*(t) < t, [B, T, H]: the token that query t should find, or -1 for none. A view with a stride
  // of 0 shares it among the heads.
  impl::named<"source", token_view<index const>> source = {};
  std::optional<double> scale = {};  // of q . k; absent: 1/sqrt(K)

  // Throws wane::error when shapes do not fit, data are missing, or a source is not before its
  // token.
  void check() const {
    impl::check_given("query", query);
    auto const& [batch, tokens, heads, rows] = query.extent;
    recurrence_shape const shape{batch, tokens, heads, rows, rows};
    wane::check("query", query, shape), wane::check("key", key, shape);
    wane::check("alpha", alpha, shape), wane::check("source", source, shape);
    require(!scale || std::isfinite(*scale), "scale is ", scale.value_or(0), "; it must be finite");
    for (index b = 0; b < batch; ++b)
      for (index t = 0; t < tokens; ++t)
        for (index h = 0; h < heads; ++h) {
          index const i = source.read({b, t, h});
          require(i >= -1 && i < t, "source at batch ", b, ", time ", t, ", head ", h, " is ", i,
                  "; it must be a token before, or -1 for none");
        }
  }
  // scale q_t . k_i
  double score(index b, index t, index i, index h) const {
    index const rows = query.extent[3];
    double sum = 0;
    for (index c = 0; c < rows; ++c)
      sum += static_cast<double>(query.read({b, t, h}, c)) *
             static_cast<double>(key.read({b, i, h}, c));
    return sum * scale.value_or(1 / std::sqrt(static_cast<double>(std::max<index>(rows, 1))));
  }
};

}  // namespace wane

namespace wane::impl {

// The loss and its gradient for the queries of one head; kernels[i] is the kernel of token i.
template <class Io, class Kernel>
class plasticity_of_head {
 public:
  plasticity_of_head(plasticity_inputs<Io> const& in, index b, index h,
                     std::vector<Kernel> const& kernels)
      : in_(in), b_(b), h_(h), kernels_(kernels), log_share_(kernels.size()) {}

  // -log p_it, i the source
  double loss(index t, index source) {
    double greatest = -HUGE_VAL, total = 0;
    for (index i = 0; i < t; ++i) {
      log_share_[at(i)] = in_.score(b_, t, i, h_) + std::log(kernels_[at(i)](t - i));
      greatest = std::max(greatest, log_share_[at(i)]);
    }
    for (index i = 0; i < t; ++i) total += std::exp(log_share_[at(i)] - greatest);
    for (index i = 0; i < t; ++i) log_share_[at(i)] -= greatest + std::log(total);
    return -log_share_[at(source)];
  }
  // Adds the gradient of the loss of the last call of loss(), which must be that of query t.
  void add_gradient(index t, index source, double* gradient) const {
    for (index i = 0; i < t; ++i) {
      auto const& kernel = kernels_[at(i)];
      double const excess = std::exp(log_share_[at(i)]) - (i == source ? 1 : 0);
      gradient[i] += excess * (kernel.derivative(t - i) / kernel(t - i));
    }
  }

 private:
  static std::size_t at(index i) { return static_cast<std::size_t>(i); }

  plasticity_inputs<Io> const& in_;
  index b_, h_;
  std::vector<Kernel> const& kernels_;
  std::vector<double> log_share_;  // log p
};

// Kernels w_l(alpha) = sum_s c_s(alpha) e^{-r_s l} of order_nodes, for lags below `lags`.
template <class Nodes>
class kernels_on_nodes {
 public:
  // Throws wane::error when there are no nodes. The memory they view must outlive this object.
  kernels_on_nodes(Nodes const& nodes, index lags) : nodes_(nodes) {
    require(nodes.present(),
            "the nodes of plasticity are empty; they must be those of spectra::order_weights or "
            "spectra::order_banks");
    for (index lag = 0; lag < lags; ++lag)
      for (index s = 0; s < nodes.nodes(); ++s)
        factors_.push_back(
            std::exp(static_cast<double>(nodes.log_decay(0, 0, 0, s)) * static_cast<double>(lag)));
  }

  struct kernel {
    double const* factors;  // [lags, S]
    std::vector<double> weights, slopes;

    double operator()(index lag) const { return sum(weights, lag); }
    double derivative(index lag) const { return sum(slopes, lag); }

   private:
    double sum(std::vector<double> const& of, index lag) const {
      double const* factor = factors + static_cast<std::size_t>(lag) * of.size();
      double total = 0;
      for (std::size_t s = 0; s < of.size(); ++s) total += of[s] * factor[s];
      return total;
    }
  };
  // Throws wane::error for an order that the nodes do not have.
  kernel operator()(double alpha) const {
    auto const order = nodes_.at(static_cast<spectra::impl::number_of<Nodes>>(alpha));
    kernel found{factors_.data(), {}, {}};
    for (index s = 0; s < nodes_.nodes(); ++s) {
      found.weights.push_back(static_cast<double>(order.weight(s)));
      found.slopes.push_back(static_cast<double>(order.slope(s)));
    }
    require(!std::isnan(found.weights.front()), "alpha is ", alpha,
            "; it must be an order that the nodes have");
    return found;
  }

 private:
  Nodes nodes_;
  std::vector<double> factors_;
};

}  // namespace wane::impl

namespace wane {

// L = -sum_t log p_{i*(t), t},    p_it = r_it / sum_{j < t} r_jt,
// r_it = e^{scale q_t . k_i} w_{t-i}(alpha_i),                                      (VORT, eq. 24)
// summed over batch and heads, in nats, and, if alpha_gradient [B, T, H] is not absent,
//   dL/dalpha_i = sum_t (p_it - [i = i*(t)]) d log w_{t-i}/dalpha_i,    over t > i with a source.
//
//   double const loss = wane::plasticity_loss<float>(
//       inputs, [](double alpha) { return wane::spectra::gruenwald_letnikov(alpha); }, gradient);
//   wane::plasticity_step<float>(alpha, gradient, 0.01, 0.1);
//
// kernel_of(alpha) returns a function w of the lag with a member derivative(lag), dw/dalpha; the
// example takes the exact weights.
//
// Takes O(T^2 K) time and O(T) memory, in double. Works with logarithms, so scores may have any
// size. A negative weight makes loss and gradient NaN, a weight of 0 the gradient. Throws
// wane::error, before anything is written, when inputs.check() or kernel_of does.
template <class Io, std::invocable<double> KernelOf>
double plasticity_loss(plasticity_inputs<Io> const& inputs, KernelOf const& kernel_of,
                       token_view<Io> alpha_gradient = {}) {
  inputs.check();
  auto const& [batch, tokens, heads, rows] = inputs.query.extent;
  check_if_present("alpha_gradient", alpha_gradient, {batch, tokens, heads, 1, 1});
  std::vector<double> gradient(static_cast<std::size_t>(batch * heads * tokens));
  double loss = 0, *of_head = gradient.data();  // [B, H, T]
  for (index b = 0; b < batch; ++b)
    for (index h = 0; h < heads; ++h, of_head += tokens) {
      std::vector<decltype(kernel_of(1.0))> kernels;
      for (index i = 0; i < tokens; ++i)
        kernels.push_back(kernel_of(static_cast<double>(inputs.alpha.read({b, i, h}))));
      impl::plasticity_of_head head(inputs, b, h, kernels);
      for (index t = 1; t < tokens; ++t) {
        index const source = inputs.source.read({b, t, h});
        if (source < 0) continue;
        loss += head.loss(t, source);
        if (alpha_gradient.data) head.add_gradient(t, source, of_head);
      }
    }
  of_head = gradient.data();
  for (index b = 0; b < batch; ++b)
    for (index h = 0; h < heads; ++h, of_head += tokens)
      for (index t = 0; t < tokens; ++t)
        alpha_gradient.write({b, t, h}, static_cast<widened<Io>>(of_head[t]));
  return loss;
}

//   double const loss = wane::plasticity_loss<float>(inputs, weights.table(), gradient);
//
// The loss with the weights of retention, which are sums of exponentials: O(T^2 (K + S)) time and
// O(T S) memory. Beyond the horizon of the nodes the weights are positive but no power laws.
//
// nodes: the table of spectra::order_weights or order_banks, or other order_nodes. With
// routing::linear the derivative is the slope between two banks, and at a bank the slope from
// below. With routing::nearest w is piecewise constant in alpha, so the gradient is 0 and no order
// learns.
template <class Io, class Nodes>
requires spectra::order_nodes<Nodes, spectra::impl::number_of<Nodes>>
double plasticity_loss(plasticity_inputs<Io> const& in, Nodes const& nodes,
                       token_view<Io> alpha_gradient = {}) {
  return plasticity_loss(in, impl::kernels_on_nodes<Nodes>(nodes, in.query.extent[1]),
                         alpha_gradient);
}

// alpha <- clamp(alpha - step gradient, least, 1), both [B, T, H]: a step of projected descent.
// Throws wane::error, before anything is written, when shapes do not fit, step is negative or not
// finite, or least is outside (0, 1]. An order whose gradient is NaN becomes NaN.
template <class Io>
void plasticity_step(token_view<Io> alpha, token_view<Io const> gradient, double step,
                     double least) {
  auto const& [batch, tokens, heads] = alpha.extent;
  recurrence_shape const shape{batch, tokens, heads, 1, 1};
  check("alpha", alpha, shape), check("gradient", gradient, shape);
  require(step >= 0 && std::isfinite(step), "step is ", step,
          "; it must be finite and not negative");
  require(least > 0 && least <= 1, "least is ", least, "; it must be in (0, 1]");
  for (index b = 0; b < batch; ++b)
    for (index t = 0; t < tokens; ++t)
      for (index h = 0; h < heads; ++h) {
        place<> const at{b, t, h};
        double const next =
            static_cast<double>(alpha.read(at)) - step * static_cast<double>(gradient.read(at));
        alpha.write(at, static_cast<widened<Io>>(std::clamp(next, least, 1.0)));
      }
}

}  // namespace wane
