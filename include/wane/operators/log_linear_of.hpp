// log_linear_of: a memory whose past lies in levels, each with a weight of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/recurrence/levels.hpp"
#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/operators/parts/keyed.hpp"
#include "wane/operators/parts/numbers_of_tokens.hpp"

namespace wane::impl {

// The type of the tensors of a memory.
template <class Op>
using io_of = typename decltype(Op::gradients::query)::value_type;

// One level of a memory: 2^(number-1) tokens write it, and the next 2^(number-1) read it.
template <class Op>
class level_of : public Op {
  using T = typename Op::accumulate;
  using of_memory = token_of<Op>;

 public:
  level_of(Op const& memory, sequence_view<io_of<Op> const> const& scale, index number)
      : Op(memory), scale_(scale), number_(number) {}

  struct token : of_memory {
    T scale;  // of the query: 0 while the level is written
    bool reads, begins;

    WANE_INLINE auto query(auto i) const {
      auto const q = of_memory::query(i);
      return multiply(q, decltype(q)(scale));
    }
    // Not the key is 0 while the level is read, but the value: a delta rule erases with its key.
    WANE_INLINE auto value(auto j) const {
      auto const v = of_memory::value(j);
      return reads ? decltype(v)(T(0)) : v;
    }
    WANE_INLINE auto erase_read(auto i) const requires has_erase<of_memory> {
      auto const x = of_memory::erase_read(i);
      return begins ? decltype(x)(T(0)) : x;
    }
    WANE_INLINE T log_decay() const requires(!has_row_log_decay<of_memory>) {
      if (begins) return -std::numeric_limits<T>::infinity();
      if constexpr (has_log_decay<of_memory>)
        return of_memory::log_decay();
      else
        return T(0);
    }
    WANE_INLINE auto log_decay(auto i) const requires has_row_log_decay<of_memory> {
      auto const g = of_memory::log_decay(i);
      return begins ? decltype(g)(-std::numeric_limits<T>::infinity()) : g;
    }
  };
  WANE_INLINE token at(place<> where) const {
    index const t = where.position - 1;
    bool const reads = t >> (number_ - 1) & 1;
    return {Op::at(where), reads ? static_cast<T>(scale_.read(where, number_)) : T(0), reads,
            (t & ((index{1} << number_) - 1)) == 0};
  }

  // Gradients of the terms of the memory's tokens, to which every level adds its own.
  class sums {
   public:
    explicit sums(recurrence_shape const& s)
        : rows_(s.rows),
          numbers_(s, s.columns + channels()),
          values_(numbers_.take(s.columns)),
          terms_(numbers_.take(channels())) {}

    WANE_INLINE sequence_view<T> const& values() const { return values_; }
    WANE_INLINE all_gradients<T> terms(place<> at, bool in_lanes) const {
      T* const g = terms_.element(at, 0);
      return {rows_,         in_lanes,          g + 1 + 4 * rows_, g + 1,
              g + 1 + rows_, g + 1 + 2 * rows_, g + 1 + 3 * rows_, {g[0], T(0)}};
    }
    WANE_INLINE T& whole_decay(place<> at) const { return *terms_.element(at, 0); }

   private:
    index channels() const { return 5 * rows_ + 1; }

    index rows_;
    numbers_of_tokens<T> numbers_;
    sequence_view<T> values_, terms_;
  };

  struct gradients {
    sums const& of_memory;
    sequence_view<io_of<Op>> level_scale;

    wane::layout layout() const { return {true, true, true}; }

    struct sink {
      gradients const& to;
      level_of const& op;
      token x;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const {
        auto const& values = to.of_memory.values();
        if (!x.reads) values.write(where, j, values.read(where, j) + g);
      }
      WANE_INLINE void all(all_gradients<T> const& g) const {
        all_gradients<T> const sum = to.of_memory.terms(where, g.in_lanes);
        row_sum<T> by_scale;
        for_row_lanes<T>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const by_query = row_at(g.query, i);
          using Row = std::remove_const_t<decltype(by_query)>;
          auto const add = [&](T* y, Row by)
                               WANE_INLINE_LAMBDA { set_row(y, i, row_at(y, i) + by); };
          by_scale.add(x.of_memory::query(i), by_query);
          add(sum.query, Row(x.scale) * by_query);
          add(sum.key, row_at(g.key, i));
          if constexpr (has_erase_write<token>) add(sum.erase_write, row_at(g.erase_write, i));
          if (x.begins) return;
          if constexpr (has_erase<token>) add(sum.erase_read, row_at(g.erase_read, i));
          if constexpr (has_row_log_decay<token>) add(sum.decay, row_at(g.decay, i));
        });
        if (!x.begins) to.of_memory.whole_decay(where) += g.whole.decay;
        to.level_scale.write(where, op.number_, x.reads ? by_scale.total() : T(0));
      }
    };
    WANE_INLINE sink at(level_of const& op, place<> where) const {
      return {*this, op, op.at(where), where};
    }
  };

 private:
  sequence_view<io_of<Op> const> scale_;
  index number_;
};

}  // namespace wane::impl

namespace wane {

//   wane::gated_delta_net const memory({.query = q, .key = k, .value = v, .strength = beta}, g);
//   wane::run(wane::log_linear_of(memory, {lambda, B, T, H, L}), y);
//
// Levels of a Fenwick tree over a memory (Guo et al. 2025, "Log-Linear Attention"). What the token
// j left in the state is read at token t with the weight lambda_t[level(t, j)]; levels are those of
// log_linear (wane/operators/log_linear.hpp), which is one memory, with effects. So over
// gated_delta_net, with A_t = e^{g_t} (I - beta_t k_t k_t^T),
//   y_t = scale sum_{j<=t} lambda_t[level(t, j)] (q_t^T A_t ... A_{j+1} k_j) beta_j v_j.
// level_scale, lambda: [B, T, H, L], 2 <= L <= 62. Every level l >= 1 is a memory of its own, which
// decays and erases at every token; the state is [B, H, (L - 1) K, V] and counts positions.
template <class Op>
class log_linear_of {
  using token = token_of<Op>;
  using level_type = impl::level_of<Op>;
  static_assert(!has_direct<token> && !has_skip<token> && !strictly_causal<token> &&
                    !normalised_recurrence<Op> && !impl::has_parameters<typename Op::gradients>,
                "wane::log_linear_of: the memory must be read by its queries alone, and have no "
                "parameters: no bonus, no tokens that read before they write, no division");
  static_assert(!has_plain_decay<token> && !has_row_plain_decay<token> && !decays_by_element<token>,
                "wane::log_linear_of: the decays of the memory must be logs, of heads or of rows");

 public:
  using Io = impl::io_of<Op>;
  using accumulate = typename Op::accumulate;

  // Throws wane::error unless there are 2 to 62 levels.
  log_linear_of(Op const& memory, sequence_view<std::type_identity_t<Io> const> level_scale)
      : memory_(memory), scale_(level_scale) {
    impl::check_given("level_scale", scale_);
    require(levels() >= 2 && levels() <= 62, "level_scale has channels ", levels(),
            "; there must be 2 to 62 levels");
  }

  recurrence_shape shape() const {
    recurrence_shape shape = memory_.shape();
    shape.rows *= levels() - 1;
    return shape;
  }
  void check_inputs() const { memory_.check_inputs(), check("level_scale", scale_, scale_shape()); }
  void check_parameters() const { memory_.check_parameters(); }
  bool counts_positions() const { return true; }
  void each_number(place<> at, auto const& visit) const {
    for (index l = 0; l < levels(); ++l) visit("level_scale", l, scale_at(at, l));
  }

  // See wane/core/recurrence/levels.hpp.
  Op const& memory() const { return memory_; }
  index levels() const { return scale_.extent[3]; }
  level_type level(index l) const { return {memory_, scale_, l}; }
  template <class T>
  view<T, 2> state_of_level(view<T, 2> const& all, index l) const {
    index const rows = memory_.shape().rows;
    return {&all((l - 1) * rows, 0), {rows, all.extent[1]}, {all.stride[0], all.stride[1]}};
  }
  template <class T>
  state_view<T> state_of_level(state_view<T> all, index l) const {
    if (!all.present()) return all;
    all.values.extent[2] = memory_.shape().rows;
    all.values.data += (l - 1) * all.values.extent[2] * all.values.stride[2];
    return all;
  }
  struct own_token {
    token of_memory;
    accumulate of_value;

    accumulate direct() const { return of_value; }
    auto value(auto j) const { return of_memory.value(j); }
  };
  own_token own_terms(place<> at) const {
    token const x = memory_.at(at);
    return {x, scale_at(at, 0) * match(x)};
  }

  //   wane::adjoint(op, dy, {.memory = {.query = dq, ...}, .level_scale = dlambda});
  struct gradients {
    impl::by_name only = {};
    typename Op::gradients memory = {};
    impl::named<"level_scale", sequence_view<Io>> level_scale = {};

    void check(log_linear_of const& op) const {
      check_if_present("the gradient of level_scale", level_scale, op.scale_shape());
    }
  };
  // Holds 5 K + V + 1 numbers a token and head.
  template <class Passes, class Dy, class Options>
  void adjoint_by(Passes const& passes, Dy const& dy, gradients const& to,
                  Options const& options) const {
    recurrence_shape const shape = memory_.shape();
    typename level_type::sums const sums(shape);
    for (index l = 1; l < levels(); ++l)
      passes.adjoint(
          level(l), dy, typename level_type::gradients{sums, to.level_scale},
          impl::part_of(options, [&](auto const& state) { return state_of_level(state, l); }));
    bool const in_lanes = (memory_.layout() & to.memory.layout()).columns;
    passes.for_each_token(shape, options, [&](place<> at) {
      token const x = memory_.at(at);
      auto const sink = impl::sink_at(to.memory, memory_, at);
      accumulate const scale = scale_at(at, 0), matched = match(x);
      accumulate by_own(0);
      for (index j = 0; j < shape.columns; ++j) {
        auto const g = static_cast<accumulate>(dy.read(at, j));
        by_own = multiply_add(g, x.value(j), by_own);
        sink.column(j, multiply_add(scale * matched, g, sums.values().read(at, j)));
      }
      all_gradients<accumulate> const g = sums.terms(at, in_lanes);
      for (index i = 0; i < shape.rows; ++i) {
        g.key[i] = multiply_add(scale * by_own, x.query(i), g.key[i]);
        g.query[i] = multiply_add(scale * by_own, x.key(i), g.query[i]);
      }
      sink.all(g);
      to.level_scale.write(at, index{0}, by_own * matched);
    });
  }

 private:
  recurrence_shape scale_shape() const {
    recurrence_shape shape = memory_.shape();
    shape.columns = levels();
    return shape;
  }
  accumulate scale_at(place<> at, index l) const {
    return static_cast<accumulate>(scale_.read(at, l));
  }
  // query . key
  accumulate match(token const& x) const {
    return own_sums::dot<accumulate>(
        memory_.layout().columns, memory_.shape().rows, [&](auto i) { return x.query(i); },
        [&](auto i) { return x.key(i); });
  }

  Op memory_;
  sequence_view<Io const> scale_;
};

}  // namespace wane
