// What a user passes to every memory with keys: inputs, options, and where gradients go.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <type_traits>

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/recurrence/named.hpp"

namespace wane {

//   wane::keyed_inputs<float> const in{
//       .query = {q, B, T, G, K}, .key = {k, B, T, G, K}, .value = {v, B, T, H, V}};
//   wane::gla const memory(in, log_decay, {.scale = 1, .normalise = true});
//
// query, key: [B, T, G, K], value: [B, T, H, V]; G divides H (grouped heads), most often G = H.
template <class Io>
struct keyed_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
};

// Which of G query and key heads value head h reads:
//   interleaved  h / (H / G), as torch's repeat_interleave and Mamba's groups
//   tiled        h mod G, as torch's repeat
enum class head_groups { interleaved, tiled };

struct keyed_options {
  // Queries are multiplied by this; absent: 1/sqrt(K), or 1 where the operator says so.
  std::optional<double> scale = {};
  // Queries and keys become x / sqrt(|x|^2 + epsilon) first, also where |x|^2 overflows or
  // underflows. With an epsilon of 0 a row of zeros gives NaN.
  bool normalise = false;
  double epsilon = 1e-6;
  head_groups groups = head_groups::interleaved;
  // Queries that read the state of one head, each with an output of its own: wane::grouped_queries.
  // query is then [B, T, H queries, K].
  index queries = 1;
};

// Where gradients with respect to the keyed inputs go; any may be absent. All have the H heads of
// value. sum_over_groups() adds up the heads that share a query or key.
template <class Io>
struct keyed_gradients {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io>> query = {};
  impl::named<"key", sequence_view<Io>> key = {};
  impl::named<"value", sequence_view<Io>> value = {};

  wane::layout layout() const { return layout_of(query, key, value); }
};

//   wane::sum_over_groups<float>(key_gradient_of_heads, key_gradient);  // [B,T,H,K] to [B,T,G,K]
//
// to[b, t, g, i] is the sum of from[b, t, h, i] over the H / G heads h of group g. Runs on the
// host. Throws wane::error when the shapes do not fit.
template <class Io>
void sum_over_groups(std::type_identity_t<sequence_view<Io const>> from, sequence_view<Io> to,
                     head_groups groups = head_groups::interleaved) {
  index const count = to.extent[2], each = count > 0 ? from.extent[2] / count : 0;
  for (int i : {0, 1, 3})
    require(from.extent[i] == to.extent[i], "from has extent ", from.extent[i], " along dimension ",
            i, "; it must equal that of to, ", to.extent[i]);
  require(each * count == from.extent[2], "from has heads ", from.extent[2], "; those of to, ",
          count, ", must divide them");
  for (index b = 0; b < to.extent[0]; ++b)
    for (index t = 0; t < to.extent[1]; ++t)
      for (index g = 0; g < count; ++g)
        for (index i = 0; i < to.extent[3]; ++i) {
          widened<Io> total(0);
          for (index n = 0; n < each; ++n)
            total += static_cast<widened<Io>>(
                from(b, t, groups == head_groups::tiled ? n * count + g : g * each + n, i));
          to(b, t, g, i) = static_cast<Io>(total);
        }
}

}  // namespace wane

namespace wane::impl {

// The options with a scale of 1 where there is none.
inline keyed_options with_scale_or_one(keyed_options options) {
  options.scale = options.scale.value_or(1);
  return options;
}

// Queries, keys and values as a memory holds them.
template <class Io>
struct keyed_tensors {
  sequence_view<Io const> query, key, value;
};
template <class Io>
keyed_tensors<Io> keyed_tensors_of(auto const& in) {
  return {in.query, in.key, in.value};
}

}  // namespace wane::impl
