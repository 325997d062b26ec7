// attend_options: packing, lengths and threads of a call of attend, and their checks.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/state/packed.hpp"

namespace wane {

struct attend_options {
  // Sequences in one row, which do not see each other. S = T unless key_packed is given.
  packed_sequences packed = {};
  // Sequences of different lengths in a padded batch, one entry a row: row b holds lengths[b]
  // queries and S - T + lengths[b] keys from the front. Padding is neither read nor written, nor
  // are its gradients.
  impl::lasting_indices lengths = {};
  // The sequences of the keys where they differ from those of the queries; absent if causal.
  packed_sequences key_packed = {};
  impl::lasting_indices key_lengths = {};
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

// Whether the keys have sequences of their own, or those of the queries.
inline bool keys_lie_apart(attend_options const& options) {
  return options.key_packed.present() || !options.key_lengths.empty();
}

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
