// exponential_bank: S constant decays over the same channels, y = sum_s q_s h_s + d v.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/recurrence/named.hpp"

namespace wane {

// value: v, [B, T, H, V]. log_decay (log lambda, nats per step, <= 0), key (c) and query (q):
// [H, S]; direct (d): [H], or absent for 0.
template <class Io, class Parameter = widened<Io>>
struct exponential_bank_inputs {
  impl::by_name only = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"log_decay", view<Parameter const, 2>> log_decay = {};
  impl::named<"key", view<Parameter const, 2>> key = {};
  impl::named<"query", view<Parameter const, 2>> query = {};
  impl::named<"direct", view<Parameter const, 1>> direct = {};
};

// h_{t,s} = lambda_s h_{t-1,s} + c_s v_t,   y_t = sum_s q_s h_{t,s} + d v_t
// y is the convolution of v with k(l) = sum_s q_s c_s lambda_s^l (+ d at lag 0): a sum of
// exponentials, or of damped oscillations when Io is complex.
//
//   wane::exponential_bank<float> const bank({.value = {v, B, T, H, V},
//                                             .log_decay = {log_lambda, H, S},
//                                             .key = {c, H, S},
//                                             .query = {q, H, S}});
//   wane::run(bank, y);
//
// The state is [B, H, S, V]. Throws wane::error when the shapes of the parameters do not fit.
template <class Io, class Accumulate = widened<Io>, class Parameter = Accumulate>
class exponential_bank {
  struct nodes {
    view<Parameter const, 2> log_decay, key, query;
    view<Parameter const, 1> direct;
  };

 public:
  using accumulate = Accumulate;
  static constexpr bool is_time_invariant = true;

  explicit exponential_bank(exponential_bank_inputs<Io, Parameter> const& in)
      : value_(in.value), nodes_{in.log_decay, in.key, in.query, in.direct} {
    impl::check_given("value", value_);
    for (auto const& [name, node] : {std::pair("log_decay", &nodes_.log_decay),
                                     {"key", &nodes_.key},
                                     {"query", &nodes_.query}}) {
      impl::check_given(name, *node);
      check_node(name, *node, shape());
      require(node->data, name, " has no data; it must point to its values");
    }
    check_direct("direct", nodes_.direct, shape());
  }

  // Throws wane::error for a value without data. Called by every run; reads no data.
  void check_inputs() const { check("value", value_, shape()); }

  // Throws wane::error for a parameter that is NaN, or a decay that grows. Called by every run on
  // the host.
  void check_parameters() const {
    auto const number = [](Parameter const& p) { return p == p; };
    for (index h = 0; h < shape().heads; ++h) {
      for (index s = 0; s < shape().rows; ++s) {
        Parameter const& log_decay = nodes_.log_decay(h, s);
        require(number(log_decay) && real_part(log_decay) <= 0, "log_decay(", h, ", ", s, ") is ",
                log_decay, "; its real part must be <= 0 (-inf forgets at once)");
        require(number(nodes_.key(h, s)), "key(", h, ", ", s, ") is NaN; it must be a number");
        require(number(nodes_.query(h, s)), "query(", h, ", ", s, ") is NaN; it must be a number");
      }
      if (nodes_.direct.data)
        require(number(nodes_.direct(h)), "direct(", h, ") is NaN; it must be a number");
    }
  }

  WANE_HOST_DEVICE recurrence_shape shape() const {
    return {value_.extent[0], value_.extent[1], value_.extent[2], nodes_.log_decay.extent[1],
            value_.extent[3]};
  }

  wane::layout layout() const { return layout_of(value_); }

  // The operator on other memory; see wane/core/recurrence/recurrence.hpp.
  template <class Moved>
  WANE_HOST_DEVICE exponential_bank with_tensors(Moved const& moved) const {
    exponential_bank op = *this;
    op.nodes_ = {moved.whole(nodes_.log_decay), moved.whole(nodes_.key), moved.whole(nodes_.query),
                 moved.whole(nodes_.direct)};
    op.value_ = moved.by_column(value_);
    return op;
  }

  // What a token reads; see wane/core/recurrence/recurrence.hpp.
  WANE_INLINE void each_row(place<> where, auto const& visit) const {
    visit(value_.element(where, 0), value_.extent[3]);
  }

  template <class Time>
  struct token {
    nodes const& parameters;
    sequence_view<Io const> const& values;
    place<Time> where;

    template <class Row>
    WANE_INLINE auto log_decay(Row s) const {
      return of_row(parameters.log_decay, s);
    }
    template <class Row>
    WANE_INLINE auto key(Row s) const {
      return of_row(parameters.key, s);
    }
    template <class Row>
    WANE_INLINE auto query(Row s) const {
      return of_row(parameters.query, s);
    }
    WANE_HOST_DEVICE Accumulate direct() const {
      return parameters.direct.data ? static_cast<Accumulate>(parameters.direct(where.head))
                                    : Accumulate(0);
    }
    template <class Column>
    WANE_INLINE auto value(Column j) const {
      return convert<Accumulate>(values.read(where, j));
    }

   private:
    WANE_INLINE Accumulate of_row(view<Parameter const, 2> const& node, index s) const {
      return static_cast<Accumulate>(node(where.head, s));
    }
    template <class Lanes>
    requires(fits_simd<Accumulate>&& fits_simd<Parameter>) WANE_HOST_INLINE
        auto of_row(view<Parameter const, 2> const& node, Lanes s) const {
      constexpr int width = Lanes::width;
      if (lane_count(s) == width && node.stride[1] == 1)
        return convert<Accumulate>(simd<Parameter, width>::load(&node(where.head, s.first)));
      simd<Accumulate, width> x(Accumulate(0));
      for (int l = 0; l < lane_count(s); ++l) x.v[l] = of_row(node, s.first + l);
      return x;
    }
  };
  template <class Time>
  WANE_INLINE token<Time> at(place<Time> where) const {
    return {nodes_, value_, where};
  }

  // Where the gradients go; any may be absent. Those of the nodes are sums over tokens and batch.
  struct gradients {
    impl::by_name only = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"log_decay", view<Parameter, 2>> log_decay = {};
    impl::named<"key", view<Parameter, 2>> key = {};
    impl::named<"query", view<Parameter, 2>> query = {};
    impl::named<"direct", view<Parameter, 1>> direct = {};

    void check(recurrence_shape const& shape) const {
      check_if_present("the gradient of value", value, shape);
      if (log_decay.data) check_node("the gradient of log_decay", log_decay, shape);
      if (key.data) check_node("the gradient of key", key, shape);
      if (query.data) check_node("the gradient of query", query, shape);
      check_direct("the gradient of direct", direct, shape);
    }
    wane::layout layout() const { return layout_of(value); }

    // What is written for a token.
    WANE_INLINE void each_row(place<> where, auto const& visit) const {
      if (value.data) visit(value.element(where, 0), value.extent[3]);
    }

    struct sink {
      gradients const& to;
      place<> where;

      template <class Column, class V>
      WANE_INLINE void column(Column j, V g) const {
        to.value.write(where, j, g);
      }
      template <class V>
      WANE_HOST_DEVICE void row(index s, row_gradient<V> g) const {
        if (to.log_decay.data) to.log_decay(where.head, s) = static_cast<Parameter>(g.decay);
        if (to.key.data) to.key(where.head, s) = static_cast<Parameter>(g.key);
        if (to.query.data) to.query(where.head, s) = static_cast<Parameter>(g.query);
      }
      template <class V>
      WANE_HOST_DEVICE void whole(token_gradient<V> g) const {
        if (to.direct.data) to.direct(where.head) = static_cast<Parameter>(g.direct);
      }
    };
    WANE_INLINE sink at(place<> where) const { return {*this, where}; }
  };

 private:
  template <class P>
  static void check_node(char const* name, view<P, 2> const& node, recurrence_shape const& shape) {
    require(node.extent[0] == shape.heads && node.extent[1] == shape.rows, name, " has shape [",
            node.extent[0], ", ", node.extent[1], "]; it must be [H, S] = [", shape.heads, ", ",
            shape.rows, "] as value and log_decay say");
  }
  template <class P>
  static void check_direct(char const* name, view<P, 1> const& direct,
                           recurrence_shape const& shape) {
    require(!direct.data || direct.extent[0] == shape.heads, name, " has ", direct.extent[0],
            " entries; it must have H = ", shape.heads);
  }

  sequence_view<Io const> value_;
  nodes nodes_;
};

}  // namespace wane
