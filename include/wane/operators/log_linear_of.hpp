// log_linear_of: a memory whose past lies in levels, each with a weight of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/recurrence/levels.hpp"
#include "wane/operators/parts/level_of.hpp"

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
