// attend: softmax attention in blocks, with a running maximum and sum in place of the T^2 scores.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/softmax.hpp"
#include "wane/core/numbers/threads.hpp"
#include "wane/core/recurrence/checks.hpp"
#include "wane/core/state/packed.hpp"
#include "wane/run/attention/tiles.hpp"

namespace wane {

struct attend_options {
  // Sequences in one row, which do not see each other. S = T unless key_packed is given.
  packed_sequences packed = {};
  // Sequences of different lengths in a padded batch, one entry a row: row b holds lengths[b]
  // queries and S - T + lengths[b] keys from the front. Padding is neither read nor written, nor
  // are its gradients.
  std::span<index const> lengths = {};
  // The sequences of the keys where they differ from those of the queries; absent if causal.
  packed_sequences key_packed = {};
  std::span<index const> key_lengths = {};
  // 0: OpenMP's default; one inside a parallel region. The result is the same bits for any number.
  int threads = 0;
};

// What `attend` takes: softmax_attention, or another type with these members.
template <class Op>
concept attention = requires(Op const& op, index i) {
  op.shape(), op.query(i, i), op.key(i, i), op.value(i, i), op.scale(), op.window(), op.keys();
  op.causal(), op.output_columns(), op.entropy(), op.check_inputs();
};

}  // namespace wane

namespace wane::impl {

// A task holds a block of attention_block queries (or keys) and passes over the keys (or queries),
// attention_passing at a time. Their scores fit the second-level cache, and a long block makes
// loading the passing tokens cheap.
inline constexpr index attention_block = 384, attention_passing = 64;

// The queries, or keys, [begin, end) of a sequence; `queries` and `keys` are the whole sequence's.
struct token_block {
  index batch, head, begin, end;
  index_range queries, keys;
};

// Whether the keys have sequences of their own, or those of the queries.
inline bool keys_lie_apart(attend_options const& options) {
  return options.key_packed.present() || !options.key_lengths.empty();
}

// Cuts the queries, or keys, of every sequence and head into blocks of at most `most`.
template <class Op>
std::vector<token_block> blocks_of(Op const& op, index_range token_block::*of,
                                   attend_options const& options, index most) {
  std::vector<token_block> blocks;
  recurrence_shape const shape = op.shape();
  index const sequences = options.packed.present() ? options.packed.count() : shape.batch;
  for (index n = 0; n < sequences; ++n)
    for (index h = 0; h < shape.heads; ++h) {
      auto const [batch, first, end] = tokens_of(n, shape.time, options.packed, options.lengths);
      token_block block{batch, h, 0, 0, {first, end}, {first, end + op.keys() - shape.time}};
      if (!op.causal()) {
        auto const keys = keys_lie_apart(options)
                              ? tokens_of(n, op.keys(), options.key_packed, options.key_lengths)
                              : tokens_of(n, op.keys(), options.packed, options.lengths);
        block.keys = {keys.begin, keys.end};
      }
      for (index t = (block.*of).begin; t < (block.*of).end; t += most) {
        block.begin = t, block.end = std::min(t + most, (block.*of).end);
        blocks.push_back(block);
      }
    }
  return blocks;
}

// The keys that query t sees, in the sequence of a block.
template <class Op>
index_range keys_seen(Op const& op, index t, token_block const& in) {
  if (!op.causal()) return in.keys;
  index const own = t + op.keys() - op.shape().time, first = in.keys.begin;
  return {op.window() ? std::max(first, own - op.window() + 1) : first, own + 1};
}
// The queries that see key s.
template <class Op>
index_range queries_seeing(Op const& op, index s, token_block const& in) {
  if (!op.causal()) return in.queries;
  index const own = s - (op.keys() - op.shape().time), last = in.queries.end;
  bool const cut = op.window() && op.window() < last - own;
  return {std::max<index>(own, 0), cut ? own + op.window() : last};
}

// `range` counted from `begin`, cut to [0, count).
inline index_range within(index_range range, index begin, index count) {
  index const from = std::clamp<index>(range.begin - begin, 0, count);
  return {from, std::clamp<index>(range.end - begin, from, count)};
}

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
    queries_.take_transposed(op_.query(block.batch, block.head), block.begin, count_, op_.scale());
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
      keys.take(op_.key(block_.batch, block_.head), s, count);
      values.take(op_.value(block_.batch, block_.head), s, count);
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

template <attention Op>
void check_attention(Op const& op, attend_options const& options) {
  op.check_inputs();
  check_sequences(options.packed, options.lengths, op.shape().batch, op.shape().time);
  bool const packed = options.packed.present(), apart = keys_lie_apart(options);
  if (packed && !apart) check_extent("key", "time", op.keys(), op.shape().time);
  if (op.causal())
    return require(!apart,
                   "key_packed or key_lengths is given; they are for an attention that is "
                   "not causal");
  if (!apart) {
    if (!options.lengths.empty()) check_extent("key", "time", op.keys(), op.shape().time);
    return;
  }
  index const batch = op.shape().batch;
  check_sequences(options.key_packed, options.key_lengths, batch, op.keys());
  index const sequences = packed ? options.packed.count() : batch;
  index const of_keys = options.key_packed.present() ? options.key_packed.count() : batch;
  require(packed == options.key_packed.present() && of_keys == sequences, "the keys are of ",
          of_keys, options.key_packed.present() ? " packed" : "", " sequences; they must be of ",
          sequences, packed ? " packed, as the queries" : " as the queries");
}

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
