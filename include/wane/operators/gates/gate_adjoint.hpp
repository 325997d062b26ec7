// gate_adjoint: from the gradient of log decays to the gradients of a gate's input and parameters.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "wane/core/numbers/threads.hpp"
#include "wane/core/recurrence/named.hpp"
#include "wane/core/recurrence/row_lanes.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/operators/gates/gate_of.hpp"

namespace wane::impl {

template <class Raw>
struct raw_gradient_of {
  using type = Raw;
};
template <class T, int Rank>
struct raw_gradient_of<view<T, Rank>> {
  using type = named<"raw", view<std::remove_const_t<T>, Rank>>;
};

// Gradients of the parameters: sums over tokens for every head and row, held in double.
template <class T>
class parameter_sums {
 public:
  using wide = precise<T>;
  std::vector<wide> log_rate, bias, taper;

  explicit parameter_sums(recurrence_shape const& shape)
      : log_rate(static_cast<std::size_t>(shape.heads * shape.rows)),
        bias(log_rate),
        taper(log_rate),
        heads_(shape.heads),
        rows_(shape.rows) {}

  template <class V>
  WANE_HOST_INLINE void add(std::vector<wide>& sums, index head, index row, V const& part) {
    wide* const to = sums.data() + head * rows_ + row;
    if constexpr (is_simd<V>) {
      T numbers[V::width];
      part.store(numbers);
      for (int l = 0; l < V::width; ++l) to[l] += static_cast<wide>(numbers[l]);
    } else {
      *to += part;
    }
  }
  parameter_sums& operator+=(parameter_sums const& other) {
    for (std::size_t i = 0; i < log_rate.size(); ++i) {
      log_rate[i] += other.log_rate[i];
      bias[i] += other.bias[i];
      taper[i] += other.taper[i];
    }
    return *this;
  }
  void write(auto const& to) const {
    write(log_rate, to.log_rate), write(bias, to.bias), write(taper, to.taper);
  }

 private:
  void write(std::vector<wide> const& sums, gate_parameter<T> const& to) const {
    for (index h = 0; to.present() && h < heads_; ++h) {
      wide total(0);
      for (index i = 0; i < rows_; ++i) {
        wide const sum = sums[static_cast<std::size_t>(h * rows_ + i)];
        total += sum;
        if (!to.by_head()) to.element(h, i) = static_cast<T>(sum);
      }
      if (to.by_head()) to.element(h, 0) = static_cast<T>(total);
    }
  }

  index heads_, rows_;
};

// The tokens of all sequences, in head 0, in about 64 pieces of at least 256 tokens, one for each
// task. Pieces do not depend on the number of threads, so sums over them always have the same
// order.
template <class Options>
std::vector<std::vector<walk>> token_pieces(recurrence_shape const& shape, index sequences,
                                            Options const& options, index const* positions) {
  index const most = std::max<index>(256, shape.batch * shape.time / 64);
  std::vector<std::vector<walk>> pieces;
  index left = 0;
  for (index n = 0; n < sequences; ++n) {
    walk const w = walk_of(n * shape.heads, shape, options, positions);
    for (index k = 0; k < w.count;) {
      if (left == 0) pieces.emplace_back(), left = most;
      walk const part = pieces.back().emplace_back(w.part(k, left));
      k += part.count, left -= part.count;
    }
  }
  return pieces;
}

// For a row of a token, or lanes of rows: from g = dL/d(log decay) to dL/d(logit), adding to sums.
template <class Form, class Token, class Row, class V, class T>
WANE_HOST_INLINE V gate_adjoint_of(Token const& x, Row i, V g, parameter_sums<T>& sums) {
  gate_value<V> const at = x.value(i);
  V const by_logit = multiply(at.slope, g);
  V const by_log_rate = where_zero(g, g, multiply(at.log_decay, g));  // not NaN at a reset
  V const log_position = V(x.log_position.high);
  index const head = x.where.head, row = first_of(i);
  sums.add(sums.log_rate, head, row, by_log_rate);
  sums.add(sums.bias, head, row, by_logit);
  sums.add(sums.taper, head, row,
           multiply(Form::tapers_logit ? -by_logit : -by_log_rate, log_position));
  return by_logit;
}

}  // namespace wane::impl

namespace wane {

// Where the gradients of a gate go, each with the shape of its tensor; any may be absent.
template <class Raw>
struct gate_gradients {
  impl::by_name only = {};
  typename impl::raw_gradient_of<Raw>::type raw = {};
  gate_parameter<typename Raw::wide> log_rate = {}, bias = {}, taper = {};
};

// How the run placed its tokens: `packed`, `lengths` and `direction` of its options, and in `seen`
// the positions of its initial state. `threads` is as in a run; results are the same bits for any
// number.
struct gate_adjoint_options {
  packed_sequences packed = {};
  impl::lasting_indices lengths = {};
  wane::direction direction = direction::forward;
  index const* seen = nullptr;
  int threads = 0;
};

//   wane::adjoint(wane::gated_delta_net(in, gate), dy, {.query = dq, .log_decay = by_log_decay});
//   wane::gate_adjoint(gate, by_log_decay, {.raw = by_raw, .log_rate = by_log_rate});
//
// From the gradient with respect to the log decays of a run, [B, T, H] or [B, T, H, K], to the
// gradients with respect to the raw input and the parameters of the gate. The gradient of the raw
// input may overwrite that of the log decays. Gradients of parameters are sums over tokens and
// batch, in double, in an order that does not depend on threads. Runs on the host: copy the results
// of wane::cuda::adjoint there first. Throws wane::error, before anything is written, when a shape
// does not fit.
template <class Form, class Raw, class Io>
void gate_adjoint(impl::gate_of<Form, Raw> const& gate,
                  view<Io, impl::is_by_row<Raw> ? 4 : 3> const& log_decay_gradient,
                  gate_gradients<Raw> const& to, gate_adjoint_options const& options = {}) {
  using T = typename Raw::wide;
  constexpr bool by_row = impl::is_by_row<Raw>, has_raw = impl::gate_of<Form, Raw>::has_raw;
  auto const& extent = log_decay_gradient.extent;
  recurrence_shape shape{extent[0], extent[1], extent[2], 1, 1};
  if constexpr (by_row) shape.rows = extent[3];
  gate.check(shape), gate.check_parameters(), gate.check_gradients(to);
  check("log_decay_gradient", log_decay_gradient, shape_of_rows(shape));
  if constexpr (has_raw) check_if_present("the gradient of raw", to.raw, shape_of_rows(shape));
  impl::check_sequences(options.packed, options.lengths, shape.batch, shape.time);
  int const threads = impl::threads_to_use(options.threads);

  bool in_lanes = false;
  if constexpr (by_row && fits_simd<T>)
    in_lanes = (gate.layout() & layout_of(log_decay_gradient, to.raw)).columns;
  index const sequences = options.packed.present() ? options.packed.count() : shape.batch;
  auto const pieces = impl::token_pieces(shape, sequences, options, options.seen);
  std::vector<impl::parameter_sums<T>> sums(pieces.size(), impl::parameter_sums<T>(shape));
  auto const take = [&](place<> where, impl::parameter_sums<T>& own) {
    auto const x = gate.at(where);
    if constexpr (by_row) {
      for_row_lanes<T>(in_lanes, shape.rows, [&](auto i) {
        auto const g = convert<T>(log_decay_gradient.read(where, i));
        to.raw.write(where, i, impl::gate_adjoint_of<Form>(x, i, g, own));
      });
    } else {
      T const g = static_cast<T>(log_decay_gradient.read(where));
      T const by_logit = impl::gate_adjoint_of<Form>(x, index{0}, g, own);
      if constexpr (has_raw) to.raw.write(where, by_logit);
    }
  };
  impl::for_each_task(std::ssize(pieces), threads, [&](index task) {
    auto const i = static_cast<std::size_t>(task);
    for (impl::walk w : pieces[i])
      for (w.head = 0; w.head < shape.heads; ++w.head)
        for (index k = 0; k < w.count; ++k) take(w.token(k), sums[i]);
  });
  impl::parameter_sums<T> total(shape);
  for (auto const& part : sums) total += part;
  total.write(to);
}

}  // namespace wane
