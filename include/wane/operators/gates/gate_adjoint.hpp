// gate_adjoint: from gradients by log decays to those by a gate's raw input and parameters.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/walk.hpp"
#include "wane/operators/gates/gate_of.hpp"

namespace wane {

template <class Raw>
struct raw_gradient_of {
  using type = Raw;
};
template <class T, int Rank>
struct raw_gradient_of<view<T, Rank>> {
  using type = view<std::remove_const_t<T>, Rank>;
};

// Where the gradients of a gate go, each of the shape of what it belongs to; any may be absent.
template <class Raw>
struct gate_gradients {
  typename raw_gradient_of<Raw>::type raw = {};
  gate_parameter<typename Raw::wide> log_rate = {}, bias = {}, taper = {};
};

// Where the tokens of a run stood: `packed`, `lengths` and `direction` are those of its options,
// `seen` the positions of its initial state.
struct token_positions {
  packed_sequences packed = {};
  std::span<index const> lengths = {};
  wane::direction direction = direction::forward;
  index const* seen = nullptr;
};

// What the parameters of one head are due: sums over tokens for every row, held in double.
template <class T>
class parameter_sums {
 public:
  using wide = precise<T>;
  explicit parameter_sums(index rows) : rows_(static_cast<std::size_t>(rows)) { clear(); }

  void clear() {
    for (auto* sums : {&log_rate, &bias, &taper}) sums->assign(rows_, wide(0));
  }
  template <class V>
  WANE_HOST_INLINE static void add(std::vector<wide>& sums, index row, V const& part) {
    wide* const to = sums.data() + row;
    if constexpr (is_simd<V>) {
      T numbers[V::width];
      part.store(numbers);
      for (int l = 0; l < V::width; ++l) to[l] += static_cast<wide>(numbers[l]);
    } else {
      *to += part;
    }
  }
  void write(index head, auto const& to) const {
    write(head, log_rate, to.log_rate), write(head, bias, to.bias), write(head, taper, to.taper);
  }

  std::vector<wide> log_rate, bias, taper;

 private:
  void write(index head, std::vector<wide> const& sums, gate_parameter<T> const& to) const {
    if (!to.present()) return;
    wide total(0);
    for (std::size_t i = 0; i < rows_; ++i) {
      total += sums[i];
      if (!to.by_head()) to.element(head, static_cast<index>(i)) = static_cast<T>(sums[i]);
    }
    if (to.by_head()) to.element(head, 0) = static_cast<T>(total);
  }

  std::size_t rows_;
};

// body(i, first) for all rows, in lanes where they may be read so; `first` is the first row of i.
template <class T, class Body>
void for_rows(index rows, bool in_lanes, Body const& body) {
  index i = 0;
  if constexpr (fits_simd<T>) {
    constexpr int width = simd_width<T>;
    for (; in_lanes && i + width <= rows; i += width) body(lanes<width>{i}, i);
  }
  for (; i < rows; ++i) body(i, i);
}

// One row of a token, or lanes of them: dL/d(log decay) is g; gives dL/d(logit).
template <class Form, class Token, class Row, class V, class T>
WANE_HOST_INLINE V gate_adjoint_of(Token const& x, Row i, index row, V g, parameter_sums<T>& sums) {
  gate_value<V> const at = x.value(i);
  V const by_logit = multiply(at.slope, g);
  V const by_log_rate = where_zero(g, g, multiply(at.log_decay, g));  // a reset has no slope
  V const log_position = V(x.log_position.high);
  sums.add(sums.log_rate, row, by_log_rate);
  sums.add(sums.bias, row, by_logit);
  sums.add(sums.taper, row, multiply(Form::tapers_logit ? -by_logit : -by_log_rate, log_position));
  return by_logit;
}

// From the gradient by the log decays of a run, [B, T, H] or [B, T, H, K], which the adjoint of its
// operator leaves, to that by the gate's raw input, which may be written over it, and to those by
// its parameters: sums over tokens and batch, in double and always in one order.
// Throws wane::error, before anything is written, when a shape does not fit.
template <class Form, class Raw, class Io>
void gate_adjoint(gate_of<Form, Raw> const& gate,
                  view<Io, is_by_row<Raw> ? 4 : 3> const& log_decay_gradient,
                  gate_gradients<Raw> const& to, token_positions const& positions = {}) {
  using T = typename Raw::wide;
  constexpr bool by_row = is_by_row<Raw>, has_raw = gate_of<Form, Raw>::has_raw;
  auto const& extent = log_decay_gradient.extent;
  recurrence_shape shape{extent[0], extent[1], extent[2], 1, 1};
  if constexpr (by_row) shape.rows = shape.columns = extent[3];
  gate.check(shape), gate.check_parameters(), gate.check_gradients(to);
  check("log_decay_gradient", log_decay_gradient, shape);
  if constexpr (has_raw) check_if_present("the gradient of raw", to.raw, shape);
  check(positions.packed, positions.lengths, shape.batch, shape.time);

  bool in_lanes = false;
  if constexpr (by_row && fits_simd<T>)
    in_lanes = (gate.layout() & layout_of(log_decay_gradient, to.raw)).columns;
  index const sequences = positions.packed.present() ? positions.packed.count() : shape.batch;
  parameter_sums<T> sums(shape.rows);
  for (index h = 0; h < shape.heads; ++h) {
    sums.clear();
    for (index n = 0; n < sequences; ++n) {
      walk const w = walk_of(n * shape.heads + h, shape, positions, positions.seen);
      for (index k = 0; k < w.count; ++k) {
        auto const x = gate.at(w.token(k));
        if constexpr (by_row) {
          for_rows<T>(shape.rows, in_lanes, [&](auto i, index row) {
            auto const g = convert<T>(log_decay_gradient.read(x.where, i));
            to.raw.write(x.where, i, gate_adjoint_of<Form>(x, i, row, g, sums));
          });
        } else {
          T const g = static_cast<T>(log_decay_gradient.read(x.where));
          T const by_logit = gate_adjoint_of<Form>(x, index{0}, 0, g, sums);
          if constexpr (has_raw) to.raw.write(x.where, by_logit);
        }
      }
    }
    sums.write(h, to);
  }
}

}  // namespace wane
