// attend_adjoint: gradients of softmax attention, from its inputs alone.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/run/attention/attend.hpp"

namespace wane::impl {

// With p the weights, z the scores, g = dL/dy, H the entropies and h = dL/dH (or 0):
//   log p_ts = z_ts - log_sum_t,   log_sum_t = log sum_s exp z_ts,
//   dz_ts = p_ts (g_t . v_s - h_t log p_ts - (g_t . y_t + h_t H_t)),
//   dL/dv_s = sum_t p_ts g_t,   dL/dq_t = scale sum_s dz_ts k_s,   dL/dk_s = scale sum_t dz_ts q_t.
// What these need of query t: log_sum, along = g . y + h H, and of_entropy = h.
template <class T>
struct query_summary {
  T log_sum, along, of_entropy;
};

// Replaces the scores of one row by p, and the products g . v by dz. Numbers out of range are not
// read. summary(j, count) is the summary of the queries in columns from j on.
template <class T, class Summary>
void weights_and_gradients(T* scores, T* products, index_range range, Summary const& summary) {
  constexpr int width = simd_width<T>;
  using vector = simd<T, width>;
  for (index j = range.begin; j < range.end; j += width) {
    int const count = static_cast<int>(std::min<index>(width, range.end - j));
    auto const [log_sum, along, of_entropy] = summary(j, count);
    vector const log = log_weight(load_first<T, width>(scores + j, count), log_sum);
    vector const p = exponential(log), g = load_first<T, width>(products + j, count);
    vector const z = p * (g - of_entropy * log - along);
    store_first(scores + j, count, p), store_first(products + j, count, z);
  }
}

// dL/dy of a head without the column of entropies, and dL/dH of query t.
template <attention Op, class Rows>
Rows of_values(Op const& op, Rows dy) {
  dy.extent[1] = op.shape().columns;
  return dy;
}
template <attention Op, class Rows>
typename Op::accumulate entropy_gradient(Op const& op, Rows const& dy, index t) {
  using T = typename Op::accumulate;
  T g(0);
  if (op.entropy())
    with_row(dy, t, [&](auto const* from, index step) {
      g = static_cast<T>(from[op.shape().columns * step]);
    });
  return g;
}

// Computes the summaries of a block of queries and the gradient with respect to them.
template <attention Op, class Rows, class To>
void query_adjoint(Op const& op, token_block const& block, Rows const& dy,
                   query_summary<typename Op::accumulate>* summaries, To const& to) {
  using T = typename Op::accumulate;
  using vector = simd<T, simd_width<T>>;
  recurrence_shape const shape = op.shape();
  attending<Op> head(op);
  head(block);
  index const count = block.end - block.begin, most = head.scores.width;
  tile<T> g(shape.columns, most), products(attention_passing, most), log_sums(1, most),
      alongs(1, most), of_entropies(1, most), gradient(most, shape.rows);
  g.take_transposed(of_values(op, dy), block.begin, count);
  for (index i = 0; i < count; ++i) {
    T const of_entropy = entropy_gradient(op, dy, block.begin + i);
    T along(0);
    for (index j = 0; j < shape.columns; ++j)
      along = multiply_add(g.row(j)[i], head.sums.row(i)[j], along);
    bool const none = head.total(i) == T(0);
    log_sums.row(0)[i] = none ? std::numeric_limits<T>::infinity() : head.log_sum(i);
    alongs.row(0)[i] = none ? T(0) : along / head.total(i) + of_entropy * head.entropy(i);
    of_entropies.row(0)[i] = of_entropy;
    summaries[block.begin + i] = {log_sums.row(0)[i], alongs.row(0)[i], of_entropy};
  }
  auto const summary = [&](index i, int n) {
    auto const of = [&](tile<T> const& x) { return load_first<T, vector::width>(x.row(0) + i, n); };
    return query_summary<vector>{of(log_sums), of(alongs), of(of_entropies)};
  };
  head.for_each_keys([&](index s, index some, index_range seeing) {
    multiply_tiles(some, whole_vectors<T>(seeing), head.values, g, products, shape.columns);
    for (index k = 0; k < some; ++k)
      weights_and_gradients(head.scores.row(k), products.row(k), head.seeing_key(s + k), summary);
    multiply_add_rows(seeing, gradient.columns(), turned(products), head.keys, gradient,
                      [&](index i) { return head.seen(i, s, some); });
  });
  for (index i = 0; i < count; ++i)
    write_row(to, {block.batch, block.begin + i, block.head}, shape.rows,
              [&](index j) { return op.scale() * gradient.row(i)[j]; });
}

// Computes the gradients with respect to a block of keys and their values.
template <attention Op, class Rows>
void key_adjoint(Op const& op, token_block const& block, Rows const& dy,
                 query_summary<typename Op::accumulate> const* summaries, auto const& key_to,
                 auto const& value_to) {
  using T = typename Op::accumulate;
  using vector = simd<T, simd_width<T>>;
  recurrence_shape const shape = op.shape();
  index const count = block.end - block.begin;
  tile<T> keys(shape.rows, count), values(shape.columns, count),
      queries(attention_passing, shape.rows), g(attention_passing, shape.columns),
      scores(attention_passing, count), products(attention_passing, count),
      key_gradient(count, shape.rows), value_gradient(count, shape.columns);
  keys.take_transposed(keys_of(op, block), block.begin, count);
  values.take_transposed(values_of(op, block), block.begin, count);
  index const last = queries_seeing(op, block.end - 1, block).end;
  for (index t = queries_seeing(op, block.begin, block).begin; t < last; t += attention_passing) {
    index const some = std::min(attention_passing, last - t);
    queries.take(queries_of(op, block), t, some, op.scale());
    g.take(of_values(op, dy), t, some);
    auto const seen = [&](index query) {
      return within(keys_seen(op, query, block), block.begin, count);
    };
    auto const seeing = [&](index i) {
      return within(queries_seeing(op, block.begin + i, block), t, some);
    };
    index_range const rows{seen(t).begin, seen(t + some - 1).end};
    multiply_tiles(some, whole_vectors<T>(rows), queries, keys, scores, shape.rows);
    multiply_tiles(some, whole_vectors<T>(rows), g, values, products, shape.columns);
    for (index k = 0; k < some; ++k) {
      auto const [log_sum, along, of_entropy] = summaries[t + k];
      query_summary<vector> const summary{vector(log_sum), vector(along), vector(of_entropy)};
      weights_and_gradients(scores.row(k), products.row(k), seen(t + k),
                            [&](index, int) { return summary; });
    }
    multiply_add_rows(rows, value_gradient.columns(), turned(scores), g, value_gradient, seeing);
    multiply_add_rows(rows, key_gradient.columns(), turned(products), queries, key_gradient,
                      seeing);
  }
  for (index i = 0; i < count; ++i) {
    place<> const at{block.batch, block.begin + i, block.head};
    write_row(key_to, at, shape.rows, [&](index j) { return key_gradient.row(i)[j]; });
    write_row(value_to, at, shape.columns, [&](index j) { return value_gradient.row(i)[j]; });
  }
}

// Throws wane::error where a gradient that is present does not fit.
template <class Op, class Gradients>
void check_gradients(Op const& op, Gradients const& to) {
  recurrence_shape const queries = op.shape();
  recurrence_shape keys = queries;
  keys.time = op.keys();
  check_if_present("the gradient of query", to.query, shape_of_rows(queries));
  check_if_present("the gradient of key", to.key, shape_of_rows(keys));
  check_if_present("the gradient of value", to.value, keys);
}

// dL/dy of the head of a block, [T, V or V + 1].
template <class Out>
view<Out const, 2> rows_of_head(sequence_view<Out const> const& dy, token_block const& block) {
  return {dy.data ? dy.element({block.batch, 0, block.head}, 0) : nullptr,
          {dy.extent[1], dy.extent[3]},
          {dy.stride[1], dy.stride[3]}};
}

// The gradients of whole sequences: dL/dy, and where the others go.
template <attention Op, class Out>
struct whole_gradients {
  sequence_view<Out const> const& dy;
  typename Op::gradients const& to;

  bool of_keys() const { return to.key.data || to.value.data; }
  view<Out const, 2> output(token_block const& block) const { return rows_of_head(dy, block); }
  auto const& query(token_block const&) const { return to.query; }
  auto const& key(token_block const&) const { return to.key; }
  auto const& value(token_block const&) const { return to.value; }
};

// Computes the gradients by all queries, keys and values. `gradients` is a whole_gradients or has
// its members: dL/dy and what receives the others, for each block.
template <attention Op, class Gradients>
void adjoint_of_blocks(Op const& op, Gradients const& gradients, attend_options const& options) {
  recurrence_shape const shape = op.shape();
  std::vector<query_summary<typename Op::accumulate>> summaries(
      static_cast<std::size_t>(shape.batch * shape.heads * shape.time));
  auto const summaries_of = [&](token_block const& block) {
    return summaries.data() + (block.batch * shape.heads + block.head) * shape.time;
  };
  auto const for_each_block = [&](index_range token_block::*of, auto const& task) {
    auto const blocks = blocks_of(op, of, options, attention_block);
    for_each_task(static_cast<index>(blocks.size()), threads_to_use(options.threads),
                  [&](index i) { task(blocks[static_cast<std::size_t>(i)]); });
  };
  for_each_block(&token_block::queries, [&](token_block const& block) {
    query_adjoint(op, block, gradients.output(block), summaries_of(block), gradients.query(block));
  });
  if (!gradients.of_keys()) return;
  for_each_block(&token_block::keys, [&](token_block const& block) {
    key_adjoint(op, block, gradients.output(block), summaries_of(block), gradients.key(block),
                gradients.value(block));
  });
}

}  // namespace wane::impl

namespace wane {

//   attend_adjoint(op, output_gradient, {.query = dq, .key = dk, .value = dv});
//
// output_gradient: dL/dy, [B, T, H, V], or V + 1 columns with dL/dH last. The gradients are [B, T,
// H, K] of query, [B, S, H, K or V] of key and value; absent ones are skipped, and none overlaps an
// input. Keeps three numbers a query and head and computes the weights again: 9 products of
// T^2 K / 2 instead of 2. Throws wane::error, before anything is written, when a shape does not
// fit.
template <attention Op, class Out>
void attend_adjoint(Op const& op, sequence_view<Out> output_gradient,
                    typename Op::gradients const& to, attend_options const& options = {}) {
  impl::check_attention(op, options);
  check("output_gradient", output_gradient, output_shape_of(op));
  impl::check_gradients(op, to);
  sequence_view<Out const> const dy = output_gradient;
  impl::adjoint_of_blocks(op, impl::whole_gradients<Op, Out>{dy, to}, options);
}

}  // namespace wane
