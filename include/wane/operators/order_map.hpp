// order_map: the fractional order of each token, from the token and its attention entropy (VORT).
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/recurrence/named.hpp"
#include "wane/core/state/packed.hpp"

namespace wane {

// alpha_i = least + (1 - least) sigma(W [x_i; H_i; e_i] + b), in [least, 1]   (VORT, eq. 11)
//
// x: [B, T, D]. entropy: H in nats; indicator: e, 1 for tokens to keep, otherwise 0; both
// [B, T, heads], where strides of 0 share one value among the heads, and 0 if absent. weight: W,
// [heads, D + 2]. bias: b, [heads].
template <class Io>
struct order_map_inputs {
  impl::by_name only = {};
  impl::named<"x", view<Io const, 3>> x = {};
  impl::named<"weight", view<widened<Io> const, 2>> weight = {};
  impl::named<"bias", view<widened<Io> const, 1>> bias = {};
  impl::named<"entropy", token_view<Io const>> entropy = {};
  impl::named<"indicator", token_view<Io const>> indicator = {};

  recurrence_shape shape() const { return {x.extent[0], x.extent[1], weight.extent[0]}; }
};

// Any may be absent. The gradient of entropy is [B, T, heads]; an indicator, 0 or 1, has none.
template <class Io>
struct order_map_gradients {
  impl::by_name only = {};
  impl::named<"x", view<Io, 3>> x = {};
  impl::named<"weight", view<widened<Io>, 2>> weight = {};
  impl::named<"bias", view<widened<Io>, 1>> bias = {};
  impl::named<"entropy", token_view<Io>> entropy = {};
};

}  // namespace wane

namespace wane::impl {

// Throws wane::error when a shape does not fit, or `least` is not between 0 and 1.
template <class Io>
void check_order_map(order_map_inputs<Io> const& in, double least, std::span<index const> lengths) {
  check_given("x", in.x), check_given("weight", in.weight), check_given("bias", in.bias);
  recurrence_shape const s = in.shape();
  check_extent("weight", "columns", in.weight.extent[1], in.x.extent[2] + 2);
  check_extent("bias", "heads", in.bias.extent[0], s.heads);
  check_if_present("entropy", in.entropy, s), check_if_present("indicator", in.indicator, s);
  check_sequences({}, lengths, s.batch, s.time);
  for (auto const& [name, there] : {std::pair{"x", in.x.data || in.x.extent[2] == 0},
                                    {"weight", in.weight.data != nullptr},
                                    {"bias", in.bias.data != nullptr}})
    require(there || s.batch * s.time * s.heads == 0, name,
            " has no data; it must point to its values");
  require(least > 0 && least < 1, "least is ", least, "; it must be between 0 and 1");
}

// W [x; H; e] + b for a token and head.
template <class Io>
double order_logit(order_map_inputs<Io> const& in, place<> at) {
  index const d = in.x.extent[2];
  auto const weight = [&](index i) { return static_cast<double>(in.weight(at.head, i)); };
  double z = static_cast<double>(in.bias(at.head));
  for (index i = 0; i < d; ++i)
    z += weight(i) * static_cast<double>(in.x.read({at.batch, at.time, i}));
  if (in.entropy.data) z += weight(d) * static_cast<double>(in.entropy.read(at));
  if (in.indicator.data) z += weight(d + 1) * static_cast<double>(in.indicator.read(at));
  return z;
}

// Calls use(at) for every token of every sequence, with `at` in head 0.
template <class Use>
void for_each_token(recurrence_shape const& shape, std::span<index const> lengths, Use const& use) {
  for (index b = 0; b < shape.batch; ++b)
    for (index t = 0; t < tokens_of(b, shape.time, {}, lengths).end; ++t) use(place<>{b, t, 0});
}

}  // namespace wane::impl

namespace wane {

//   wane::order_map<float>({.x = x, .weight = W, .bias = b}, 0.1, alpha);
//   wane::run(wane::retention<float>({.value = v, .alpha = alpha}, weights.table()), y);
//
// Writes the orders, alpha, [B, T, heads]; exactly `least` or 1 where the map saturates. Sums are
// in double. Padding beyond `lengths` is neither read nor written. `alpha` does not overlap the
// inputs. Throws wane::error, before anything is written, when a shape does not fit, or `least` is
// not between 0 and 1.
template <class Io>
void order_map(order_map_inputs<Io> const& in, double least, token_view<Io> alpha,
               std::span<index const> lengths = {}) {
  impl::check_order_map(in, least, lengths);
  check("alpha", alpha, in.shape());
  impl::for_each_token(in.shape(), lengths, [&](place<> at) {
    for (; at.head < alpha.extent[2]; ++at.head) {
      double const z = impl::order_logit(in, at), u = std::exp(-std::abs(z));
      double const rise = (1 - least) * u / (1 + u);
      alpha.write(at, static_cast<widened<Io>>(z < 0 ? least + rise : 1 - rise));
    }
  });
}

//   wane::order_map_adjoint<float>(inputs, 0.1, alpha_gradient, {.weight = by_W, .bias = by_b});
//
// From dL/dalpha to the gradients with respect to x, weight, bias and entropy. Gradients of weight
// and bias are summed over all tokens, in double. A token whose slope is 0 in double, because the
// map saturates, adds nothing, even if it is not finite. Throws wane::error as order_map() does.
template <class Io>
void order_map_adjoint(order_map_inputs<Io> const& in, double least,
                       std::type_identity_t<token_view<Io const>> alpha_gradient,
                       order_map_gradients<Io> const& to, std::span<index const> lengths = {}) {
  impl::check_order_map(in, least, lengths);
  recurrence_shape const s = in.shape();
  index const d = in.x.extent[2];
  check("alpha_gradient", alpha_gradient, s);
  check_if_present("the gradient of entropy", to.entropy, s);
  check_if_present("the gradient of x", to.x, {s.batch, s.time, d});
  if (to.weight.data) {
    check_extent("the gradient of weight", "heads", to.weight.extent[0], s.heads);
    check_extent("the gradient of weight", "columns", to.weight.extent[1], d + 2);
  }
  if (to.bias.data) check_extent("the gradient of bias", "heads", to.bias.extent[0], s.heads);

  // For each head the gradients of W, in the order [x; H; e], and then of b.
  std::vector<double> sums(static_cast<std::size_t>(s.heads * (d + 3))), of_x;
  impl::for_each_token(s, lengths, [&](place<> at) {
    of_x.assign(static_cast<std::size_t>(d), 0);
    for (; at.head < s.heads; ++at.head) {
      double const z = impl::order_logit(in, at), u = std::exp(-std::abs(z)), over = 1 / (1 + u);
      double const g = static_cast<double>(alpha_gradient.read(at)) * (1 - least) * u * over * over;
      to.entropy.write(at,
                       static_cast<widened<Io>>(g * static_cast<double>(in.weight(at.head, d))));
      if (g == 0) continue;
      double* const sum = sums.data() + at.head * (d + 3);
      for (index i = 0; i < d; ++i) {
        of_x[static_cast<std::size_t>(i)] += g * static_cast<double>(in.weight(at.head, i));
        sum[i] += g * static_cast<double>(in.x.read({at.batch, at.time, i}));
      }
      if (in.entropy.data) sum[d] += g * static_cast<double>(in.entropy.read(at));
      if (in.indicator.data) sum[d + 1] += g * static_cast<double>(in.indicator.read(at));
      sum[d + 2] += g;
    }
    for (index i = 0; i < d; ++i)
      to.x.write(place<>{at.batch, at.time, i},
                 static_cast<widened<Io>>(of_x[static_cast<std::size_t>(i)]));
  });
  for (index h = 0; h < s.heads; ++h) {
    double const* const sum = sums.data() + h * (d + 3);
    for (index i = 0; to.weight.data && i < d + 2; ++i)
      to.weight(h, i) = static_cast<widened<Io>>(sum[i]);
    if (to.bias.data) to.bias(h) = static_cast<widened<Io>>(sum[d + 2]);
  }
}

}  // namespace wane
