// attend: softmax attention in blocks, with a running maximum and sum in place of the T^2 scores.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/softmax.hpp"
#include "wane/core/numbers/threads.hpp"
#include "wane/run/attention/mask.hpp"

namespace wane::impl {

// The attention of a block of queries to one block of keys after the other. Scores are [keys,
// queries].
template <attention Op>
class attending {
 public:
  using T = typename Op::accumulate;
  using vector = simd<T, simd_width<T>>;

  explicit attending(Op const& op) : attending(op, std::min(attention_block, op.shape().time)) {}

  // Afterwards y_i = sums_i / total(i).
  void operator()(token_block const& block) {
    block_ = block;
    count_ = block.end - block.begin;
    queries_.take_transposed(queries_of(op_, block), block.begin, count_, op_.scale());
    sums.clear(), totals_.clear(), logs_.clear();
    std::ranges::fill(greatest_.numbers, -infinity);
    for_each_keys([&](index s, index count, index_range seeing) {
      weigh(s, count, seeing);
      multiply_add_rows(seeing, sums.columns(), turned(scores), values, sums,
                        [&](index i) { return seen(i, s, count); });
    });
  }

  // Calls use(s, count, seeing) for each block of keys [s, s + count). `scores` then holds their
  // scores in the columns `seeing`: the queries that see one or more of them.
  template <class Use>
  void for_each_keys(Use const& use) {
    index const last = keys_seen(op_, block_.end - 1, block_).end;
    for (index s = keys_seen(op_, block_.begin, block_).begin; s < last; s += attention_passing) {
      index const count = std::min(attention_passing, last - s);
      keys.take(keys_of(op_, block_), s, count);
      values.take(values_of(op_, block_), s, count);
      index_range const seeing = within(
          {queries_seeing(op_, s, block_).begin, queries_seeing(op_, s + count - 1, block_).end},
          block_.begin, count_);
      multiply_tiles(count, whole_vectors<T>(seeing), keys, queries_, scores, op_.shape().rows);
      use(s, count, seeing);
    }
  }

  // The keys of [s, s + count) that query i of the block sees, and the queries that see key s.
  index_range seen(index i, index s, index count) const {
    return within(keys_seen(op_, block_.begin + i, block_), s, count);
  }
  index_range seeing_key(index s) const {
    return within(queries_seeing(op_, s, block_), block_.begin, count_);
  }

  T total(index i) const { return totals_.row(0)[i]; }
  // log sum exp of the scores of query i.
  T log_sum(index i) const { return greatest_.row(0)[i] + std::log(total(i)); }
  // -sum p log p of query i; both terms are positive.
  T entropy(index i) const {
    return total(i) == T(0) ? T(0) : std::log(total(i)) - logs_.row(0)[i] / total(i);
  }

  tile<T> keys, values, scores, sums;

 private:
  static constexpr T infinity = std::numeric_limits<T>::infinity();

  attending(Op const& op, index most)
      : keys(attention_passing, op.shape().rows),
        values(attention_passing, op.shape().columns),
        scores(attention_passing, most),
        sums(most, op.shape().columns),
        op_(op),
        queries_(op.shape().rows, most),
        greatest_(1, most),
        totals_(1, most),
        logs_(1, most),
        faded_(1, most) {}

  // Turns scores z into weights e^(z - greatest so far), and rescales the sums to that level.
  void weigh(index s, index count, index_range seeing) {
    index_range const columns = whole_vectors<T>(seeing);
    for (index k = 0; k < count; ++k) {
      index_range const some = seeing_key(s + k);
      T* const row = scores.row(k);
      std::fill(row + columns.begin, row + some.begin, -infinity);
      std::fill(row + some.end, row + columns.end, -infinity);
    }
    for (index i = columns.begin; i < columns.end; i += vector::width) {
      vector const before = vector::load(greatest_.row(0) + i);
      vector top = before, total(T(0)), logs(T(0));
      for (index k = 0; k < count; ++k) top = at_least(top, vector::load(scores.row(k) + i));
      vector const level = softmax_level(top);
      for (index k = 0; k < count; ++k) {
        vector const log = log_weight(vector::load(scores.row(k) + i), level);
        vector const weight = exponential(log);
        weight.store(scores.row(k) + i);
        total += weight;
        logs = multiply_add(weight, log, logs);
      }
      vector const change = log_weight(before, level), faded = exponential(change);
      T *const totals = totals_.row(0) + i, *const all_logs = logs_.row(0) + i;
      vector const total_before = vector::load(totals);
      multiply_add(multiply_add(total_before, change, vector::load(all_logs)), faded, logs)
          .store(all_logs);
      multiply_add(total_before, faded, total).store(totals);
      top.store(greatest_.row(0) + i);
      faded.store(faded_.row(0) + i);
    }
    for (index i = seeing.begin; i < seeing.end; ++i) {
      T const faded = faded_.row(0)[i];
      if (faded == T(1)) continue;
      for (T *x = sums.row(i), *end = x + sums.width; x < end; x += vector::width)
        (vector::load(x) * vector(faded)).store(x);
    }
  }

  Op const& op_;
  token_block block_{};
  index count_ = 0;
  // Per query: the greatest score z, sum e^(z - greatest), sum (z - greatest) e^(z - greatest).
  tile<T> queries_, greatest_, totals_, logs_, faded_;
};

}  // namespace wane::impl

namespace wane {

//   attend(op, output);  // of a softmax_attention
//
// output: [B, T, H, V], or V + 1 columns with the entropy last, in nats. It does not overlap the
// inputs. Memory beside it: one block a thread. Throws wane::error, before anything is written,
// when a shape does not fit.
template <attention Op, class Out>
void attend(Op const& op, sequence_view<Out> output, attend_options const& options = {}) {
  using T = typename Op::accumulate;
  impl::check_attention(op, options);
  check("output", output, output_shape_of(op));
  index const columns = op.shape().columns;
  auto const blocks =
      impl::blocks_of(op, &impl::token_block::queries, options, impl::attention_block);
  impl::for_each_task(static_cast<index>(blocks.size()), impl::threads_to_use(options.threads),
                      [&](index task) {
                        impl::token_block const& block = blocks[static_cast<std::size_t>(task)];
                        impl::attending<Op> head(op);
                        head(block);
                        for (index i = 0; i < block.end - block.begin; ++i) {
                          T const over = head.total(i) == T(0) ? T(0) : 1 / head.total(i);
                          place<> const at{block.batch, block.begin + i, block.head};
                          for (index j = 0; j < columns; ++j)
                            output.write(at, j, over * head.sums.row(i)[j]);
                          if (op.entropy()) output.write(at, columns, head.entropy(i));
                        }
                      });
}

}  // namespace wane
