// softmax_attention: exact softmax attention over all keys, the baseline.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "wane/operators/parts/keyed_inputs.hpp"

namespace wane {

struct softmax_attention_options {
  // Queries are multiplied by this; absent: 1/sqrt(K).
  std::optional<double> scale = {};
  // A query sees its own token and the window - 1 tokens before it; 0: all.
  index window = 0;
  // false: a query sees all keys, also those of later tokens or of another sequence.
  bool causal = true;
  head_groups groups = head_groups::interleaved;
  // true: outputs have one more column, the entropy of p_t in nats: H_t = -sum_s p_ts log p_ts.
  bool entropy = false;
};

//   wane::attend(wane::softmax_attention<float>(in, {.window = 256}), y);
//
// y_t = sum_s p_ts value_s, where p_t is the softmax of scale query_t . key_s over the s <= t in
// the window, or over all s where it is not causal.
//
// query is [B, T, H, K], key [B, S, H, K], value [B, S, H, V] and y [B, T, H, V]; with the entropy
// y is [B, T, H, V + 1]. Each of query, key and value may have fewer heads, whose number divides H.
// Causal attention needs S >= T: queries belong to the last T tokens, and the S - T keys before
// them are a cache. A score of -inf has weight 0; where all scores are -inf, y and its entropy are
// 0. Runs with attend() and attend_adjoint() (wane/run/attention).
template <class Io>
class softmax_attention {
 public:
  using accumulate = widened<Io>;
  using matrix = view<Io const, 2>;
  // All gradients have H heads; sum_over_groups() adds up the heads that share a query or key.
  using gradients = keyed_gradients<Io>;

  // Throws wane::error when the shapes do not fit, or an option is out of range.
  softmax_attention(keyed_inputs<Io> const& in, softmax_attention_options const& options = {})
      : in_(impl::keyed_tensors_of<Io>(in)),
        window_(options.window),
        causal_(options.causal),
        groups_(options.groups),
        entropy_(options.entropy) {
    impl::check_given("query", in.query), impl::check_given("key", in.key);
    impl::check_given("value", in.value);
    auto const &q = in.query.extent, &k = in.key.extent, &v = in.value.extent;
    check_extent("key", "batch", k[0], q[0]), check_extent("value", "batch", v[0], q[0]);
    check_extent("value", "time", v[1], k[1]), check_extent("key", "rows", k[3], q[3]);
    require(!causal_ || k[1] >= q[1], "key has time ", k[1], "; it must be that of query or more, ",
            q[1]);
    index const heads = shape().heads;
    for (auto const& [name, of] : {std::pair{"query", q[2]}, {"key", k[2]}, {"value", v[2]}})
      require(of > 0 && heads % of == 0, name, " has heads ", of,
              "; they must divide those of all, ", heads);
    require(window_ >= 0, "window is ", window_, "; it must be 0 (all) or more");
    require(causal_ || window_ == 0, "window is ", window_,
            ", of an attention that is not causal; it must be 0 (all)");
    double const scale =
        options.scale.value_or(1 / std::sqrt(static_cast<double>(std::max<index>(q[3], 1))));
    require(std::isfinite(scale), "scale is ", scale, "; it must be finite");
    scale_ = static_cast<accumulate>(scale);
  }

  // Throws wane::error for a tensor without data.
  void check_inputs() const {
    for (auto const& [name, x] :
         {std::pair{"query", &in_.query}, {"key", &in_.key}, {"value", &in_.value}})
      require(x->data || x->extent[0] * x->extent[1] == 0, name,
              " has no data; it must point to its values");
  }

  // The shape of the output without the entropy; rows are K.
  recurrence_shape shape() const {
    auto const &q = in_.query.extent, &k = in_.key.extent, &v = in_.value.extent;
    return {q[0], q[1], std::max({q[2], k[2], v[2]}), q[3], v[3]};
  }
  bool entropy() const { return entropy_; }
  index output_columns() const { return shape().columns + (entropy_ ? 1 : 0); }
  index keys() const { return in_.key.extent[1]; }
  index window() const { return window_; }
  bool causal() const { return causal_; }
  accumulate scale() const { return scale_; }

  // The matrices that output head h reads: [T, K], [S, K] and [S, V].
  matrix query(index b, index h) const { return head_of(in_.query, b, h); }
  matrix key(index b, index h) const { return head_of(in_.key, b, h); }
  matrix value(index b, index h) const { return head_of(in_.value, b, h); }

 private:
  matrix head_of(sequence_view<Io const> const& x, index b, index h) const {
    index const own = x.extent[2], all = shape().heads;
    place<> const at{b, 0, groups_ == head_groups::tiled ? h % own : h / (all / own)};
    return {x.data ? x.element(at, 0) : nullptr,
            {x.extent[1], x.extent[3]},
            {x.stride[1], x.stride[3]}};
  }

  impl::keyed_tensors<Io> in_;
  index window_;
  bool causal_;
  head_groups groups_;
  bool entropy_;
  accumulate scale_;
};

}  // namespace wane
