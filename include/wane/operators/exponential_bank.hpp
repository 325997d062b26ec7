// exponential_bank: S constant decays read the same channels, y = sum_s q_s h_s + d v.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/gradient.hpp"
#include "wane/core/recurrence.hpp"

namespace wane {

// h_{t,s} = lambda_s h_{t-1,s} + c_s v_t,   y_t = sum_s q_s h_{t,s} + d v_t
// so that y is v convolved with k(l) = sum_s q_s c_s lambda_s^l (+ d at lag 0): a sum of
// exponentials, or of damped oscillations when Io is complex.
//
// values: v, [B, T, H, V]. nodes: log_decay (log lambda, nats per step, <= 0), key (c) and query
// (q), [H, S] each; direct (d): [H], or absent for 0. The state is [B, H, S, V].
// Throws wane::error when the shapes of the nodes do not fit.
template <class Io, class Accumulate = widened<Io>, class Parameter = Accumulate>
class exponential_bank {
 public:
  using accumulate = Accumulate;
  static constexpr bool is_time_invariant = true;

  struct nodes {
    view<Parameter const, 2> log_decay, key, query;
    view<Parameter const, 1> direct = {};
  };

  exponential_bank(nodes const& parameters, sequence_view<Io const> values)
      : nodes_(parameters), values_(values) {
    index const heads = values.extent[2], states = parameters.log_decay.extent[1];
    auto const check = [&](char const* name, view<Parameter const, 2> const& p) {
      require(p.data && p.extent[0] == heads && p.extent[1] == states, name, " has shape [",
              p.extent[0], ", ", p.extent[1], "]; it must be [H, S] = [", heads, ", ", states,
              "] as values and log_decay say");
    };
    check("log_decay", parameters.log_decay);
    check("key", parameters.key);
    check("query", parameters.query);
    require(!parameters.direct.data || parameters.direct.extent[0] == heads, "direct has ",
            parameters.direct.extent[0], " entries; it must have H = ", heads);
  }

  // Throws wane::error for a parameter that is NaN or a decay that grows. Called by every run on
  // the host; construction reads no data, which may lie on a device.
  void check_parameters() const {
    auto const& log_decay = nodes_.log_decay;
    for (index h = 0; h < log_decay.extent[0]; ++h)
      for (index s = 0; s < log_decay.extent[1]; ++s) {
        require(real_part(log_decay(h, s)) <= 0, "log_decay(", h, ", ", s, ") is ", log_decay(h, s),
                "; its real part must be <= 0 (-inf forgets at once)");
        check_number("key", nodes_.key(h, s), h, s);
        check_number("query", nodes_.query(h, s), h, s);
      }
  }

  WANE_HOST_DEVICE recurrence_shape shape() const {
    return {values_.extent[0], values_.extent[1], values_.extent[2], nodes_.log_decay.extent[1],
            values_.extent[3]};
  }

  wane::layout layout() const { return layout_of(values_); }

  template <class Time>
  struct token {
    nodes const& parameters;
    sequence_view<Io const> const& values;
    place<Time> where;

    WANE_HOST_DEVICE Accumulate log_decay(index s) const {
      return static_cast<Accumulate>(parameters.log_decay(where.head, s));
    }
    WANE_HOST_DEVICE Accumulate key(index s) const {
      return static_cast<Accumulate>(parameters.key(where.head, s));
    }
    WANE_HOST_DEVICE Accumulate query(index s) const {
      return static_cast<Accumulate>(parameters.query(where.head, s));
    }
    WANE_HOST_DEVICE Accumulate direct() const {
      return parameters.direct.data ? static_cast<Accumulate>(parameters.direct(where.head))
                                    : Accumulate(0);
    }
    template <class Column>
    WANE_INLINE auto value(Column j) const {
      return convert<Accumulate>(values.read(where, j));
    }
    WANE_INLINE void prefetch(index j) const { __builtin_prefetch(values.element(where, j)); }
  };
  template <class Time>
  WANE_INLINE token<Time> at(place<Time> where) const {
    return {nodes_, values_, where};
  }

  // Where the gradients go; any may be absent. Those of the nodes are sums over tokens and batch.
  struct gradients {
    sequence_view<Io> values;
    view<Parameter, 2> log_decay, key, query;
    view<Parameter, 1> direct;

    wane::layout layout() const { return layout_of(values); }

    struct sink {
      gradients const& to;
      place<> where;

      template <class Column, class V>
      WANE_INLINE void column(Column j, V g) const {
        to.values.write(where, j, g);
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
  static void check_number(char const* name, Parameter const& p, index h, index s) {
    require(p == p, name, "(", h, ", ", s, ") is NaN; it must be a number");
  }

  nodes nodes_;
  sequence_view<Io const> values_;
};

}  // namespace wane
