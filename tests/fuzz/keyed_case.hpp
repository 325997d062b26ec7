// What cases of keyed memories share: queries, keys, values, a decay, options.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "fuzz/calls.hpp"
#include "wane/operators/parts/keyed_inputs.hpp"

namespace fuzz {

// A decay for each token and row, or each token and head.
enum class decays { of_rows, of_heads };

struct keyed_case {
  sizes size;
  decays by;
  index groups;
  tensor<float, 4> query, key, value, decay;
  wane::keyed_options options;
  std::vector<std::pair<index*, int>> inputs;

  keyed_case(input& in, decays of)
      : size(in),
        by(of),
        groups(in.below(4) == 0 ? 1 : size.heads),
        query(in, {size.batch, size.time, groups, size.rows}, false),
        key(in, {size.batch, size.time, groups, size.rows}, false),
        value(in, {size.batch, size.time, size.heads, size.columns}, false),
        decay(in, {size.batch, size.time, size.heads, by == decays::of_rows ? size.rows : 1},
              false) {
    query.fill(in, range::reals), key.fill(in, range::reals);
    value.fill(in, range::reals), decay.fill(in, range::log_decays);
    if (in.flag()) options.scale = in.below(5) - 2;
    options.normalise = in.flag();
    inputs = {{query.values.extent, 4},
              {key.values.extent, 4},
              {value.values.extent, 4},
              {decay.values.extent, by == decays::of_rows ? 4 : 3}};
  }

  double scale() const {
    return options.scale.value_or(1 / std::sqrt(static_cast<double>(size.rows)));
  }
  // A query or a key of a value head.
  row of_group(tensor<float, 4> const& x, index b, index t, index h) const {
    return row_of(x, b, t, h * groups / size.heads);
  }
  row direction(tensor<float, 4> const& x, index b, index t, index h) const {
    row const raw = of_group(x, b, t, h);
    return options.normalise ? unit(raw, options.epsilon) : raw;
  }
  row fade(index b, index t, index h) const {
    row found = row_of(decay, b, t, h);
    if (by == decays::of_heads) found.resize(static_cast<std::size_t>(size.rows), found[0]);
    return found;
  }
};

// [B, T, H] of [B, T, H, 1].
inline wane::token_view<float const> by_head(wane::sequence_view<float const> const& x) {
  return {x.data, {x.extent[0], x.extent[1], x.extent[2]}, {x.stride[0], x.stride[1], x.stride[2]}};
}

template <class Case>
void call(input& in) {
  Case of(in);
  calls<Case>(of, in).check();
}

}  // namespace fuzz
