// local_attention: softmax attention over the last L tokens, as a recurrence that holds them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "wane/core/numbers/softmax.hpp"
#include "wane/core/recurrence/row_lanes.hpp"
#include "wane/core/recurrence/stepwise_recurrence.hpp"
#include "wane/operators/softmax_attention.hpp"

namespace wane {

//   wane::run(wane::local_attention<float>({.query = q, .key = k, .value = v}, {.window = 64}), y);
//
// softmax_attention with a window of L tokens, for run() and step(): y_t needs only the L - 1 keys
// and values before its own. (VORT's local attention, eq. 17)
//
// query and key are [B, T, H, K], value and y [B, T, H, V]; with the entropy y is [B, T, H, V + 1].
// Heads are grouped as in softmax_attention. The state is [N, H, L, K + V], a ring: row n mod L
// holds the key and then the value of token n, counted from 0. The positions of a state tell how
// many rows are filled; a state without positions is empty. Heads that share a key each hold a
// copy.
template <class Io>
class local_attention {
 public:
  using accumulate = widened<Io>;
  using gradients = typename softmax_attention<Io>::gradients;

  // Throws wane::error when the shapes do not fit, an option is out of range, or there is no
  // window.
  local_attention(keyed_inputs<Io> const& in, softmax_attention_options const& options)
      : attention_(in, checked(options)) {
    index const time = attention_.shape().time;
    require(attention_.keys() == time, "key has time ", attention_.keys(),
            "; it must be that of query, ", time, ": the tokens before them are in the state");
  }

  // The attention over whole sequences, for attend() and attend_adjoint().
  softmax_attention<Io> const& whole() const { return attention_; }

  void check_inputs() const { attention_.check_inputs(); }

  recurrence_shape shape() const {
    recurrence_shape const s = attention_.shape();
    return {s.batch, s.time, s.heads, attention_.window(), s.rows + s.columns};
  }
  bool counts_positions() const { return true; }  // a token's slot of the ring
  index output_columns() const { return attention_.output_columns(); }

  // See check_values.
  void each_number(place<> at, auto const& visit) const {
    auto const tell = [&](char const* name, auto const& rows) {
      for (index i = 0; i < rows.extent[1]; ++i)
        visit(name, i, static_cast<accumulate>(rows(at.time, i)));
    };
    tell("query", attention_.query(at.batch, at.head));
    tell("key", attention_.key(at.batch, at.head));
    tell("value", attention_.value(at.batch, at.head));
  }

  // A token replaces the oldest in the ring, and then attends to all tokens in it.
  template <class State, class Write>
  void advance(place<> at, view<State, 2> ring, Write const& write) const {
    recurrence_shape const s = attention_.shape();
    sequence_view<State> const keys = impl::rows_of(ring);
    auto const own = static_cast<index>(static_cast<std::uint64_t>(at.position - 1) %
                                        static_cast<std::uint64_t>(attention_.window()));
    auto const key = attention_.key(at.batch, at.head), value = attention_.value(at.batch, at.head);
    for (index i = 0; i < s.rows; ++i)
      keys.write(place<>{0, own, 0}, i, static_cast<accumulate>(key(at.time, i)));
    for (index j = 0; j < s.columns; ++j)
      keys.write(place<>{0, own, 0}, s.rows + j, static_cast<accumulate>(value(at.time, j)));

    auto const query = impl::rows_of(attention_.query(at.batch, at.head));
    index const filled = std::min(at.position, attention_.window());
    for (index first = 0; first == 0 || first < s.columns; first += columns_at_once) {
      index const last = std::min(first + columns_at_once, s.columns);
      sums const all = attend(query, at.time, keys, filled, s.rows + first, last - first);
      accumulate const over = all.total == accumulate(0) ? accumulate(0) : 1 / all.total;
      for (index j = first; j < last; ++j) write(j, accumulate(over * all.values[j - first]));
      if (attention_.entropy() && last == s.columns) write(last, all.entropy());
    }
  }

 private:
  static softmax_attention_options const& checked(softmax_attention_options const& options) {
    require(options.window > 0, "window is ", options.window,
            "; it must be positive, as the state holds so many tokens");
    return options;
  }

  static constexpr index columns_at_once = 128, tokens_at_once = 64;

  // Sums over the tokens so far with weights e^(score - greatest): of the weights, of the weights
  // times their logarithms, and of the weighted values.
  struct sums {
    accumulate greatest = -std::numeric_limits<accumulate>::infinity();
    accumulate total = accumulate(0), logs = accumulate(0);
    accumulate values[columns_at_once] = {};

    // -sum p log p
    accumulate entropy() const {
      using std::log;
      return total == accumulate(0) ? accumulate(0) : accumulate(log(total) - logs / total);
    }

    // Turns scores into weights, and rescales the sums when the greatest score grows.
    void weigh(accumulate* scores, index count) {
      accumulate const before = greatest;
      for (index n = 0; n < count; ++n) greatest = at_least(greatest, scores[n]);
      accumulate const level = impl::softmax_level(greatest),
                       change = impl::log_weight(before, level);
      row_sum<accumulate> weights, of_logs;
      for_row_lanes<accumulate>(true, count, [&](auto n) WANE_INLINE_LAMBDA {
        auto const score = row_at(scores, n);
        using V = std::remove_const_t<decltype(score)>;
        V const log = impl::log_weight(score, V(level)), weight = impl::exponential(log);
        set_row(scores, n, weight);
        weights.add(weight, V(accumulate(1))), of_logs.add(weight, log);
      });
      accumulate const faded = impl::exponential(change);
      logs = multiply_add(multiply_add(total, change, logs), faded, of_logs.total());
      total = multiply_add(total, faded, weights.total());
      for (accumulate& y : values) y = y * faded;
    }
  };

  // Attention of the query at `time` to the first `filled` rows of the ring; sums `count` columns
  // of the ring from `first` on, which hold values.
  template <class State>
  sums attend(sequence_view<Io const> const& query, index time, sequence_view<State> const& keys,
              index filled, index first, index count) const {
    bool const in_lanes = layout_of(query, keys).columns;
    sequence_view<State> values = keys;
    values.data = keys.element(place<>{}, first);
    sums all;
    for (index begin = 0; begin < filled; begin += tokens_at_once) {
      index const some = std::min(tokens_at_once, filled - begin);
      accumulate scores[tokens_at_once];
      for (index n = 0; n < some; ++n) {
        row_sum<accumulate> dot;
        for_row_lanes<accumulate>(in_lanes, query.extent[3], [&](auto i) WANE_INLINE_LAMBDA {
          dot.add(convert<accumulate>(query.read(place<>{0, time, 0}, i)),
                  convert<accumulate>(keys.read(place<>{0, begin + n, 0}, i)));
        });
        scores[n] = attention_.scale() * dot.total();
      }
      all.weigh(scores, some);
      for (index n = 0; n < some; ++n)
        for_row_lanes<accumulate>(in_lanes, count, [&](auto j) WANE_INLINE_LAMBDA {
          auto const value = convert<accumulate>(values.read(place<>{0, begin + n, 0}, j));
          using V = std::remove_const_t<decltype(value)>;
          set_row(all.values, j, multiply_add(V(scores[n]), value, row_at(all.values, j)));
        });
    }
    return all;
  }

  softmax_attention<Io> attention_;
};

}  // namespace wane
