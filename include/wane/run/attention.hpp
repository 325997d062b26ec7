// attend: softmax attention in blocks, with a running maximum and sum in place of the T^2 scores.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/core/checks.hpp"
#include "wane/core/decay.hpp"
#include "wane/core/packed.hpp"
#include "wane/run/threads.hpp"
#include "wane/run/tiles.hpp"

namespace wane {

struct attend_options {
  // Sequences in one row, that do not see each other; then S = T.
  packed_sequences packed = {};
  // 0: OpenMP's default; one inside a parallel region. The result is the same bits for any number.
  int threads = 0;
};

// What attends: softmax_attention, or anything with these members.
template <class Op>
concept attention = requires(Op const& op, index i) {
  op.shape(), op.query(i, i), op.key(i, i), op.value(i, i), op.scale(), op.window(), op.keys();
  op.check_inputs();
};

// Rows that read a block of columns together, which lies in the first-level cache; so many that
// finding it in memory is cheap.
inline constexpr index attention_rows = 384, attention_columns = 64;

// Tokens [begin, end) of a sequence, whose tokens are [first, last).
struct token_block {
  index batch, head, begin, end, first, last;
};

// Every head's sequences in blocks of `most`; `time` is that of the tensors.
inline std::vector<token_block> blocks_of(recurrence_shape const& shape, index time,
                                          packed_sequences const& packed, index most) {
  std::vector<token_block> blocks;
  index const sequences = packed.present() ? packed.count() : shape.batch;
  for (index n = 0; n < sequences; ++n)
    for (index h = 0; h < shape.heads; ++h) {
      auto const i = static_cast<std::size_t>(n);
      index const first = packed.present() ? packed.starts[i] : 0;
      index const last = packed.present() ? packed.starts[i + 1] : time;
      for (index t = first; t < last; t += most)
        blocks.push_back({packed.present() ? 0 : n, h, t, std::min(t + most, last), first, last});
    }
  return blocks;
}

// The keys that query t sees, in a sequence that begins with key `first`.
template <class Op>
index_range keys_seen(Op const& op, index t, index first) {
  index const own = t + op.keys() - op.shape().time;
  return {op.window() ? std::max(first, own - op.window() + 1) : first, own + 1};
}
// The queries that see key s, in a sequence that ends before query `last`.
template <class Op>
index_range queries_seeing(Op const& op, index s, index last) {
  index const own = s - (op.keys() - op.shape().time);
  return {std::max<index>(own, 0), op.window() ? std::min(last, own + op.window()) : last};
}

// `range` less `begin`, within a block of `count`.
inline index_range within(index_range range, index begin, index count) {
  index const from = std::clamp<index>(range.begin - begin, 0, count);
  return {from, std::clamp<index>(range.end - begin, from, count)};
}

// The greatest lane of x, in all lanes; N is half their number.
template <int N, class T, int W>
simd<T, W> greatest_lane(simd<T, W> x) {
  if constexpr (N == 0)
    return x;
  else
    return greatest_lane<N / 2>(
        at_least(x, shuffle(
                        x, x, [](int l) constexpr { return (l + N) % W; })));
}

template <class T>
WANE_HOST_INLINE T exponential(T x) {
  return factor_of(decay_from_log(x));
}

// The queries of a block: their scores against one block of keys after the other.
template <attention Op>
class attending {
 public:
  using T = typename Op::accumulate;
  using vector = simd<T, simd_width<T>>;

  explicit attending(Op const& op)
      : queries(attention_rows, op.shape().rows),
        scores(attention_rows, attention_columns),
        sums(attention_rows, op.shape().columns),
        op_(op),
        keys_(op.shape().rows, attention_columns),
        values_(attention_columns, op.shape().columns),
        totals_(attention_rows, vector::width),
        greatest_(attention_rows) {}

  // Then y_i = sums_i / total(i).
  void operator()(token_block const& block) {
    block_ = block;
    count_ = block.end - block.begin;
    queries.take(op_.query(block.batch, block.head), block.begin, count_, op_.scale());
    sums.clear({0, count_});
    std::ranges::fill(greatest_, -infinity);
    totals_.clear({0, count_});
    for_each_keys([&](index s, index count, index_range rows) {
      values_.take(op_.value(block.batch, block.head), s, count);
      for (index i = rows.begin; i < rows.end; ++i) weigh(i, seen(i, s, count));
      multiply_add_rows(rows, scores, values_, sums, [&](index i) { return seen(i, s, count); });
    });
  }

  // Calls use(s, count, rows) for the blocks of keys: their scores then lie in `scores`, in the
  // rows of the queries that see some of them.
  template <class Use>
  void for_each_keys(Use const& use) {
    auto const key = op_.key(block_.batch, block_.head);
    index const last = keys_seen(op_, block_.end - 1, block_.first).end;
    for (index s = keys_seen(op_, block_.begin, block_.first).begin; s < last;
         s += attention_columns) {
      index const count = std::min(attention_columns, last - s);
      keys_.take_transposed(key, s, count);
      index_range const rows = within({queries_seeing(op_, s, block_.last).begin,
                                       queries_seeing(op_, s + count - 1, block_.last).end},
                                      block_.begin, count_);
      scores.clear(rows);
      multiply_add_rows(rows, queries, keys_, scores, [&](index) {
        return index_range{0, op_.shape().rows};
      });
      use(s, count, rows);
    }
  }

  // What query i of the block sees of keys [s, s + count).
  index_range seen(index i, index s, index count) const {
    return within(keys_seen(op_, block_.begin + i, block_.first), s, count);
  }

  T total(index i) const { return sum(vector::load(totals_.row(i))); }
  // log sum exp of the scores of query i.
  T log_sum(index i) const { return greatest_[static_cast<std::size_t>(i)] + std::log(total(i)); }

  tile<T> queries, scores, sums;

 private:
  static constexpr T infinity = std::numeric_limits<T>::infinity();

  // Scores become weights relative to the greatest so far, and so do the sums.
  void weigh(index i, index_range seen) {
    if (seen.begin == seen.end) return;
    T* const row = scores.row(i);
    std::fill(row, row + seen.begin, -infinity);
    std::fill(row + seen.end, row + scores.width, -infinity);
    T& greatest = greatest_[static_cast<std::size_t>(i)];
    vector top(greatest), total(T(0));
    for (index j = 0; j < scores.width; j += vector::width)
      top = at_least(top, vector::load(row + j));
    T const now = greatest_lane<vector::width / 2>(top)[0];
    T const level = now == -infinity ? T(0) : now;
    for (index j = 0; j < scores.width; j += vector::width) {
      vector const weight = exponential(vector::load(row + j) - vector(level));
      weight.store(row + j);
      total += weight;
    }
    T const faded = exponential(greatest - level);
    greatest = now;
    T* const totals = totals_.row(i);
    multiply_add(vector::load(totals), vector(faded), total).store(totals);
    if (faded == T(1)) return;
    for (T *x = sums.row(i), *end = x + sums.width; x < end; x += vector::width)
      (vector::load(x) * vector(faded)).store(x);
  }

  Op const& op_;
  token_block block_{};
  index count_ = 0;
  tile<T> keys_, values_, totals_;  // totals in lanes: their sum is taken at the end
  std::vector<T> greatest_;
};

template <attention Op>
void check_attention(Op const& op, packed_sequences const& packed) {
  op.check_inputs();
  check(packed, op.shape().batch, op.shape().time);
  if (packed.present()) check_extent("key", "time", op.keys(), op.shape().time);
}

// output [B, T, H, V] receives y. Memory beside it: one block a thread. The output does not overlap
// the inputs. Throws wane::error, before anything is written, when a shape does not fit.
template <attention Op, class Out>
void attend(Op const& op, sequence_view<Out> output, attend_options const& options = {}) {
  using T = typename Op::accumulate;
  check_attention(op, options.packed);
  check("output", output, op.shape());
  auto const blocks = blocks_of(op.shape(), op.shape().time, options.packed, attention_rows);
  for_each_task(
      static_cast<index>(blocks.size()), threads_to_use(options.threads), [&](index task) {
        token_block const& block = blocks[static_cast<std::size_t>(task)];
        attending<Op> head(op);
        head(block);
        for (index i = 0; i < block.end - block.begin; ++i) {
          T const over = head.total(i) == T(0) ? T(0) : 1 / head.total(i);
          for (index j = 0; j < output.extent[3]; ++j)
            output.write({block.batch, block.begin + i, block.head}, j, over * head.sums.row(i)[j]);
        }
      });
}

}  // namespace wane
