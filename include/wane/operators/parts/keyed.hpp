// keyed_memory: base of the memories with keys; reads queries, keys and values of a token.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/recurrence/row_lanes.hpp"
#include "wane/operators/parts/keyed_inputs.hpp"

namespace wane::impl {

// Throws wane::error when a gradient that is present does not fit.
void check_keyed(auto const& to, recurrence_shape const& shape) {
  check_if_present("the gradient of query", to.query, shape_of_rows(shape));
  check_if_present("the gradient of key", to.key, shape_of_rows(shape));
  check_if_present("the gradient of value", to.value, shape);
}

template <class Io, class Accumulate = widened<Io>>
class keyed_memory {
 public:
  using accumulate = Accumulate;

  // Throws wane::error when the shapes do not fit, or an option is out of range.
  keyed_memory(keyed_tensors<Io> const& in, keyed_options const& options)
      : in_(in),
        queries_(options.queries),
        normalise_(options.normalise),
        tiled_(options.groups == head_groups::tiled) {
    recurrence_shape const size = shape();
    check_given("value", in.value);
    check_rows("key", in.key);
    require(queries_ > 0, "queries is ", queries_, "; it must be 1 or more");
    check_rows("query", in.query, queries_ > 1 ? queries_ * size.heads : 0);
    index const groups = in.key.extent[2];
    require(groups > 0 && size.heads % groups == 0, "key has heads ", groups,
            "; their number must divide that of value, ", size.heads);
    group_ = tiled_ ? groups : size.heads / groups;
    shares_heads_ = groups != size.heads;
    double const scale =
        options.scale.value_or(1 / std::sqrt(static_cast<double>(std::max<index>(size.rows, 1))));
    require(std::isfinite(scale), "scale is ", scale, "; it must be finite");
    require(options.epsilon >= 0, "epsilon is ", options.epsilon, "; it must be 0 or more");
    scale_ = static_cast<Accumulate>(scale);
    epsilon_ = static_cast<Accumulate>(options.epsilon);
  }

  // Throws wane::error for a tensor without data. Called by every run.
  void check_inputs() const {
    recurrence_shape const size = shape();
    require(queries_ == 1, "queries is ", queries_,
            "; several queries of a head are asked through wane::grouped_queries");
    check("value", in_.value, size);
    check_data("query", in_.query), check_data("key", in_.key);
  }

  WANE_HOST_DEVICE recurrence_shape shape() const {
    auto const& v = in_.value.extent;
    return {v[0], v[1], v[2], in_.key.extent[3], v[3]};
  }

  // Of each head; see grouped_queries.
  index queries() const { return queries_; }

  wane::layout layout() const { return layout_of(in_.query, in_.key, in_.value); }

  // See wane/core/recurrence/recurrence.hpp.
  template <class Moved>
  WANE_HOST_DEVICE void move_tensors(Moved const& moved) {
    move_rows(moved);
    in_.value = moved.by_column(in_.value);
  }
  template <class Moved>
  WANE_HOST_DEVICE void move_rows(Moved const& moved) {
    in_.query = moved.whole(in_.query), in_.key = moved.whole(in_.key);
  }

  // The terms that all keyed memories have; the token of an operator adds its own.
  struct terms {
    keyed_memory const& memory;
    place<> where;
    index shared_head;  // the head its query and key are read from
    Accumulate query_factor, key_factor;

    WANE_INLINE auto query(auto i) const { return scaled(memory.in_.query, i, query_factor); }
    WANE_INLINE auto key(auto i) const { return scaled(memory.in_.key, i, key_factor); }
    WANE_INLINE auto value(auto j) const {
      return convert<Accumulate>(memory.in_.value.read(where, j));
    }
    WANE_INLINE place<> shared() const { return where.with_head(shared_head); }
    // query . key
    WANE_INLINE Accumulate match() const {
      auto const &q = memory.in_.query, &k = memory.in_.key;
      return own_sums::dot<Accumulate>(
          q.stride[3] == 1 && k.stride[3] == 1, k.extent[3],
          [&](auto i) WANE_INLINE_LAMBDA { return query(i); },
          [&](auto i) WANE_INLINE_LAMBDA { return key(i); });
    }

   private:
    WANE_INLINE auto scaled(sequence_view<Io const> const& x, auto i, Accumulate factor) const {
      auto const row = convert<Accumulate>(x.read(shared(), i));
      return multiply(row, decltype(row)(factor));
    }
  };

  template <class Sums = own_sums>
  WANE_INLINE terms terms_at(place<> where, Sums const& sums = {}) const {
    place<> const shared = shared_of(where);
    return {*this, where, shared.head, multiply(scale_, length_factor(in_.query, shared, sums)),
            length_factor(in_.key, shared, sums)};
  }

  // Visits the memory that a token reads; see wane/core/recurrence/recurrence.hpp.
  WANE_INLINE void each_row(place<> where, auto const& visit) const {
    place<> const shared = shared_of(where);
    visit(in_.query.element(shared, 0), in_.query.extent[3]);
    visit(in_.key.element(shared, 0), in_.key.extent[3]);
    visit(in_.value.element(where, 0), in_.value.extent[3]);
  }

  // From the gradients of the queries and keys of the terms to those of the inputs.
  template <class V>
  WANE_INLINE void give_rows(terms const& x, sequence_view<Io> const& to_query,
                             sequence_view<Io> const& to_key, all_gradients<V> const& g) const {
    give_row(x.shared(), x.where, in_.query, to_query, g.query, g.in_lanes, x.query_factor, scale_);
    give_row(x.shared(), x.where, in_.key, to_key, g.key, g.in_lanes, x.key_factor);
  }

 protected:
  // The place of the query and key heads that a value head reads.
  WANE_INLINE place<> shared_of(place<> where) const {
    // Not a group of 1: g++ drops that test, because x / 1 is x, and divides.
    if (!shares_heads_) return where;
    return where.with_head(tiled_ ? where.head % group_ : where.head / group_);
  }

  // Rows of as many heads as key has, or of `heads`.
  void check_rows(char const* name, sequence_view<Io const> const& x, index heads = 0) const {
    check_given(name, x);
    recurrence_shape const size = shape();
    check_extent(name, "batch", x.extent[0], size.batch);
    check_extent(name, "time", x.extent[1], size.time);
    check_extent(name, "heads", x.extent[2], heads > 0 ? heads : in_.key.extent[2]);
    check_extent(name, "rows", x.extent[3], size.rows);
  }
  void check_data(char const* name, sequence_view<Io const> const& x) const {
    require(x.data || shape().time == 0, name, " has no data; it must point to its values");
  }
  // 1/sqrt(|x|^2 + epsilon) where rows are normalised.
  template <class Sums>
  WANE_INLINE Accumulate length_factor(sequence_view<Io const> const& x, place<> at,
                                       Sums const& sums) const {
    if (!normalise_) return Accumulate(1);
    if constexpr (std::is_same_v<Sums, own_sums>)
      return over_length(x, at);
    else
      return over_length(x, at, sums);
  }
  // Adjoint of x f, f = scale / sqrt(|x|^2 + epsilon): removes the part of the gradient along x,
  // which is the row `shared` of `from`, and gives the rest to the row `where`.
  template <class V>
  WANE_HOST_CALL void give_row(place<> shared, place<> where, sequence_view<Io const> const& from,
                               sequence_view<Io> const& to, V const* gradient, bool in_lanes,
                               Accumulate factor, Accumulate scale = Accumulate(1)) const {
    if (!to.data) return;
    auto const row = [&](auto i)
                         WANE_INLINE_LAMBDA { return convert<Accumulate>(from.read(shared, i)); };
    Accumulate along(0);
    if (normalise_ && scale != Accumulate(0)) {
      row_sum<Accumulate> sum;
      for_row_lanes<Accumulate>(in_lanes, from.extent[3], [&](auto i) WANE_INLINE_LAMBDA {
        sum.add(row(i), row_at(gradient, i));
      });
      Accumulate const over_length = factor / scale;
      along = sum.total() * over_length * over_length;
    }
    for_row_lanes<Accumulate>(in_lanes, from.extent[3], [&](auto i) WANE_INLINE_LAMBDA {
      auto const g = row_at(gradient, i);
      using Row = std::remove_const_t<decltype(g)>;
      to.write(where, i, Row(factor) * (g - Row(along) * row(i)));
    });
  }
  keyed_tensors<Io> in_;
  Accumulate scale_;
  index queries_;

 private:
  // Pure: the compiler leaves out a length that is not used, such as that of a query where only the
  // key is read.
  [[gnu::pure]] WANE_HOST_CALL Accumulate over_length(sequence_view<Io const> const& x,
                                                      place<> const& at) const {
    return over_length(x, at, own_sums());
  }
  template <class Sums>
  WANE_INLINE Accumulate over_length(sequence_view<Io const> const& x, place<> const& at,
                                     Sums const& sums) const {
    auto const row = [&](auto i) WANE_INLINE_LAMBDA { return convert<Accumulate>(x.read(at, i)); };
    Accumulate const square =
        sums.template dot<Accumulate>(x.stride[3] == 1, x.extent[3], row, row) + epsilon_;
    using std::sqrt;
    if constexpr (std::is_same_v<Accumulate, float> || std::is_same_v<Accumulate, double>) {
      // Squares that overflow or underflow are taken of x times a power of two.
      constexpr bool single = sizeof(Accumulate) == 4;
      constexpr auto small = static_cast<Accumulate>(single ? 0x1p-80 : 0x1p-640),
                     large = static_cast<Accumulate>(single ? 0x1p100 : 0x1p800);
      bool const underflows = square < 1 / large;
      if (underflows || square > std::numeric_limits<Accumulate>::max()) {
        Accumulate const factor = underflows ? large : small;
        auto const scaled = [&](index i) WANE_INLINE_LAMBDA { return row(i) * factor; };
        return factor /
               sqrt(own_sums::dot<Accumulate>(std::false_type(), x.extent[3], scaled, scaled) +
                    epsilon_ * factor * factor);
      }
    }
    return Accumulate(1) / sqrt(square);
  }

  Accumulate epsilon_;
  index group_ = 1;
  bool normalise_, tiled_, shares_heads_;
};

}  // namespace wane::impl
