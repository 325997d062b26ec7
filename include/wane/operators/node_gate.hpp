// node_gate: a logit for each Laplace node, from the pooled tokens of a sequence (STLT).
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/recurrence/named.hpp"
#include "wane/core/state/packed.hpp"

namespace wane {

// pool(X) = sum_t a_t x_t, a vector with all D = H d channels of a token. `mean` and `attention`
// read the whole sequence, so a decoder must not use them; `token` reads a single token.
enum class pooling {
  mean,       // a_t = 1/n, n the tokens of the sequence
  attention,  // a = softmax over t of u . x_t / sqrt(D), with a learnt u
  token       // a_t = 1 at one token, such as CLS, and 0 elsewhere
};

// logit = W pool(X) + b for S nodes; alpha = sigmoid(logit) is how much a node is wanted
// (STLT, section 3.6; logits are returned because alpha rounds to 1 from logits of 37 on)
//
// x: [B, T, H, d], the input of a layer; weight: W, [S, D]; bias: b, [S]; query: u, [D], for
// pooling::attention; token: its index, from 0, for pooling::token. All heads share the nodes of a
// layer, so a sequence has one logit for each node. For one head alone pass a view of that head.
template <class Io>
struct node_gate_inputs {
  impl::by_name only = {};
  impl::named<"x", sequence_view<Io const>> x = {};
  impl::named<"weight", view<widened<Io> const, 2>> weight = {};
  impl::named<"bias", view<widened<Io> const, 1>> bias = {};
  pooling pool = pooling::mean;
  impl::named<"query", view<widened<Io> const, 1>> query = {};
  index token = 0;

  recurrence_shape shape() const { return {x.extent[0], x.extent[1], x.extent[2], 1, x.extent[3]}; }
  index nodes() const { return weight.extent[0]; }
  index channels() const { return x.extent[2] * x.extent[3]; }
};

// Any may be absent.
template <class Io>
struct node_gate_gradients {
  impl::by_name only = {};
  impl::named<"x", sequence_view<Io>> x = {};
  impl::named<"weight", view<widened<Io>, 2>> weight = {};
  impl::named<"bias", view<widened<Io>, 1>> bias = {};
  impl::named<"query", view<widened<Io>, 1>> query = {};
};

}  // namespace wane

namespace wane::impl {

// Throws wane::error when a shape does not fit, or in.token lies beyond the end of a sequence that
// is not empty.
template <class Io>
void check_node_gate(node_gate_inputs<Io> const& in, std::span<index const> lengths) {
  index const batch = in.x.extent[0], time = in.x.extent[1], nodes = in.nodes(),
              channels = in.channels();
  bool const attends = in.pool == pooling::attention;
  check_given("x", in.x), check_given("weight", in.weight), check_given("bias", in.bias);
  if (attends) check_given("query", in.query);
  check_extent("weight", "columns", in.weight.extent[1], channels);
  check_extent("bias", "nodes", in.bias.extent[0], nodes);
  if (attends) check_extent("query", "channels", in.query.extent[0], channels);
  check_sequences({}, lengths, batch, time);
  for (auto const& [name, there] : {std::pair{"x", in.x.data || batch * time * channels == 0},
                                    {"weight", in.weight.data || nodes * channels == 0},
                                    {"bias", in.bias.data || nodes == 0},
                                    {"query", in.query.data || channels == 0 || !attends}})
    require(there, name, " has no data; it must point to its values");
  if (in.pool != pooling::token) return;
  require(in.token >= 0, "token is ", in.token, "; it must be 0 or more");
  for (index b = 0; b < batch; ++b) {
    index const length = tokens_of(b, time, {}, lengths).end;
    require(in.token < length || length == 0, "token is ", in.token, "; sequence ", b, " has ",
            length, " tokens and it must be one of them");
  }
}

// Calls use(at, c, i) for channel c of every head of a token; i counts the channels of all heads.
template <class Io, class Use>
void for_each_channel(sequence_view<Io const> const& x, place<> at, Use const& use) {
  std::size_t i = 0;
  for (at.head = 0; at.head < x.extent[2]; ++at.head)
    for (index c = 0; c < x.extent[3]; ++c) use(at, c, i++);
}

// The weights a of the tokens of sequence b.
template <class Io>
std::vector<double> token_weights(node_gate_inputs<Io> const& in, index b, index length) {
  std::vector<double> a(static_cast<std::size_t>(length), 1 / static_cast<double>(length));
  if (in.pool == pooling::mean || length == 0) return a;
  if (in.pool == pooling::token) {
    std::fill(a.begin(), a.end(), 0);
    a[static_cast<std::size_t>(in.token)] = 1;
    return a;
  }
  double const scale = 1 / std::sqrt(static_cast<double>(in.channels()));
  double total = 0;
  for (index t = 0; t < length; ++t) {
    double score = 0;
    for_each_channel(in.x, {b, t, 0}, [&](place<> at, index c, std::size_t i) {
      score += static_cast<double>(in.x.read(at, c)) * static_cast<double>(in.query(i));
    });
    a[static_cast<std::size_t>(t)] = score * scale;
  }
  double const level = *std::max_element(a.begin(), a.end());
  for (double& weight : a) total += weight = std::exp(weight - level);
  for (double& weight : a) weight /= total;
  return a;
}

// pool(X) of sequence b; 0 if it has no tokens. Tokens of weight 0 are not read.
template <class Io>
std::vector<double> pooled(node_gate_inputs<Io> const& in, index b, std::vector<double> const& a) {
  std::vector<double> sum(static_cast<std::size_t>(in.channels()));
  for (std::size_t t = 0; t < a.size(); ++t)
    if (a[t] != 0)
      for_each_channel(in.x, {b, static_cast<index>(t), 0},
                       [&](place<> at, index c, std::size_t i) {
                         sum[i] += a[t] * static_cast<double>(in.x.read(at, c));
                       });
  return sum;
}

// Checks logits or their gradients, [B, S], in double.
template <class T>
void check_node_logits(char const* name, view<T, 2> const& logits, index batch, index nodes) {
  check_extent(name, "batch", logits.extent[0], batch);
  check_extent(name, "nodes", logits.extent[1], nodes);
  require(logits.data || batch * nodes == 0, name, " has no data; it must point to its values");
}

// From dL/dpool of sequence b to dL/dx of its tokens; adds dL/du to of_query. With
// s_t = u . x_t / sqrt(D), dpool/ds_t = a_t (x_t - pool). These sum to 0 over t, so dL/du may use
// x_t - pool in place of x_t, which keeps digits when the tokens have a common offset.
template <class Io>
void pooled_adjoint(node_gate_inputs<Io> const& in, index b, std::vector<double> const& a,
                    std::vector<double> const& pool, std::vector<double> const& of_pool,
                    sequence_view<Io> to, std::vector<double>& of_query) {
  double const scale = 1 / std::sqrt(static_cast<double>(in.channels()));
  bool const attends = in.pool == pooling::attention;
  for (std::size_t t = 0; t < a.size(); ++t) {
    place<> const token{b, static_cast<index>(t), 0};
    bool const chosen = attends && a[t] != 0;
    double of_score = 0;
    auto const away = [&](place<> at, index c, std::size_t i) {
      return static_cast<double>(in.x.read(at, c)) - pool[i];
    };
    if (chosen)
      for_each_channel(in.x, token, [&](place<> at, index c, std::size_t i) {
        of_score += a[t] * scale * away(at, c, i) * of_pool[i];
      });
    for_each_channel(in.x, token, [&](place<> at, index c, std::size_t i) {
      double g = a[t] * of_pool[i];
      if (chosen) {
        g += of_score * static_cast<double>(in.query(i));
        of_query[i] += of_score * away(at, c, i);
      }
      to.write(at, c, static_cast<widened<Io>>(g));
    });
  }
}

}  // namespace wane::impl

namespace wane {

//   wane::node_gate<float>({.x = x, .weight = W, .bias = b}, logits);
//   auto const active = wane::spectra::active_nodes({&logits(0, 0), S});  // of sequence 0
//
// Writes the logits, [B, S]; sums are in double. Padding beyond `lengths` is not read. A sequence
// without tokens gets b. Throws wane::error, before anything is written, when a shape does not fit,
// or in.token lies beyond the end of a sequence that is not empty.
template <class Io>
void node_gate(node_gate_inputs<Io> const& in, view<double, 2> logits,
               std::span<index const> lengths = {}) {
  impl::check_node_gate(in, lengths);
  impl::check_node_logits("logits", logits, in.x.extent[0], in.nodes());
  for (index b = 0; b < in.x.extent[0]; ++b) {
    index const length = impl::tokens_of(b, in.x.extent[1], {}, lengths).end;
    std::vector<double> const pool = impl::pooled(in, b, impl::token_weights(in, b, length));
    for (index k = 0; k < in.nodes(); ++k) {
      double logit = static_cast<double>(in.bias(k));
      for (std::size_t i = 0; i < pool.size(); ++i)
        logit += static_cast<double>(in.weight(k, i)) * pool[i];
      logits(b, k) = logit;
    }
  }
}

//   wane::node_gate_adjoint<float>(inputs, logit_gradient, {.weight = by_W, .bias = by_b});
//
// From dL/dlogit to the gradients with respect to x, weight, bias and query. Gradients of
// parameters are summed over the batch, in double; that of query is 0 unless the pooling is
// attention. Gradients of padding are not written. Throws wane::error as node_gate() does.
template <class Io>
void node_gate_adjoint(node_gate_inputs<Io> const& in,
                       std::type_identity_t<view<double const, 2>> logit_gradient,
                       node_gate_gradients<Io> const& to, std::span<index const> lengths = {}) {
  impl::check_node_gate(in, lengths);
  index const batch = in.x.extent[0], time = in.x.extent[1], nodes = in.nodes(),
              channels = in.channels();
  impl::check_node_logits("logit_gradient", logit_gradient, batch, nodes);
  check_if_present("the gradient of x", to.x, in.shape());
  if (to.weight.data) {
    check_extent("the gradient of weight", "nodes", to.weight.extent[0], nodes);
    check_extent("the gradient of weight", "columns", to.weight.extent[1], channels);
  }
  if (to.bias.data) check_extent("the gradient of bias", "nodes", to.bias.extent[0], nodes);
  if (to.query.data)
    check_extent("the gradient of query", "channels", to.query.extent[0], channels);

  auto const all = static_cast<std::size_t>(channels);
  std::vector<double> of_weight(static_cast<std::size_t>(nodes) * all), of_query(all), of_pool,
      of_bias(static_cast<std::size_t>(nodes));
  for (index b = 0; b < batch; ++b) {
    index const length = impl::tokens_of(b, time, {}, lengths).end;
    std::vector<double> const a = impl::token_weights(in, b, length), pool = impl::pooled(in, b, a);
    of_pool.assign(all, 0);
    for (std::size_t k = 0; k < of_bias.size(); ++k) {
      double const g = logit_gradient(b, k);
      of_bias[k] += g;
      for (std::size_t i = 0; i < all; ++i) {
        of_pool[i] += g * static_cast<double>(in.weight(k, i));
        of_weight[k * all + i] += g * pool[i];
      }
    }
    impl::pooled_adjoint(in, b, a, pool, of_pool, to.x, of_query);
  }
  auto const rounded = [](double sum) { return static_cast<widened<Io>>(sum); };
  for (std::size_t k = 0; k < of_bias.size(); ++k) {
    if (to.bias.data) to.bias(k) = rounded(of_bias[k]);
    for (std::size_t i = 0; to.weight.data && i < all; ++i)
      to.weight(k, i) = rounded(of_weight[k * all + i]);
  }
  for (std::size_t i = 0; to.query.data && i < all; ++i) to.query(i) = rounded(of_query[i]);
}

}  // namespace wane
