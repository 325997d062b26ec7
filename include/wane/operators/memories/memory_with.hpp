// memory_with: a keyed memory with a gate and further tensors, which its operator lists once.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/memories/gated.hpp"

namespace wane::impl {

// The shapes of further tensors.
struct of_rows {};     // [B, T, G, K], shared by heads as keys are
struct of_columns {};  // [B, T, H, V]
struct of_tokens {};   // [B, T, H]
struct of_heads {};    // [H, K]

// Own is an aggregate of views. Own::each(of, visit) calls visit(shape, "name", of.name) for each
// of its tensors, where `of` is the aggregate, or gradients with members of the same names.
template <class Own, class Io, any_gate Gate, class Accumulate>
class memory_with : public gated_memory<Io, Gate, Accumulate> {
  using gated = gated_memory<Io, Gate, Accumulate>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  memory_with(keyed_tensors<Io> const& in, Own const& own, Gate const& gate,
              keyed_options const& options)
      : gated(in, gate, options), own_(own) {
    Own::each(own_, [&](auto shape, char const* name, auto const& x) {
      if constexpr (std::is_same_v<decltype(shape), of_rows>) this->check_rows(name, x);
      if constexpr (std::is_same_v<decltype(shape), of_heads>)
        require(
            !x.data || (x.extent[0] == this->shape().heads && x.extent[1] == this->shape().rows),
            name, " has shape [", x.extent[0], ", ", x.extent[1], "]; it must be [H, K] = [",
            this->shape().heads, ", ", this->shape().rows, "]");
    });
  }

  void check_inputs() const {
    gated::check_inputs();
    Own::each(own_, [&](auto shape, char const* name, auto const& x) {
      if constexpr (std::is_same_v<decltype(shape), of_rows>)
        this->check_data(name, x);
      else if constexpr (!std::is_same_v<decltype(shape), of_heads>)
        check(name, x, this->shape());
    });
  }
  wane::layout layout() const { return gated::layout() & layout_of_own<Own>(own_); }

  template <class Moved>
  WANE_HOST_DEVICE void move_tensors(Moved const& moved) {
    gated::move_tensors(moved);
    Own::each(own_, [&](auto shape, char const*, auto& x) WANE_INLINE_LAMBDA {
      if constexpr (std::is_same_v<decltype(shape), of_columns>)
        x = moved.by_column(x);
      else
        x = moved.whole(x);
    });
  }

  WANE_INLINE void each_row(place<> where, auto const& visit) const {
    gated::each_row(where, visit);
    Own::each(own_, [&](auto shape, char const*, auto const& x) WANE_INLINE_LAMBDA {
      if constexpr (std::is_same_v<decltype(shape), of_rows>)
        visit(x.element(this->shared_of(where), 0), x.extent[3]);
      if constexpr (std::is_same_v<decltype(shape), of_columns>)
        visit(x.element(where, 0), x.extent[3]);
      if constexpr (std::is_same_v<decltype(shape), of_tokens>)
        visit_number(visit, x.element(where));
    });
  }

  // The numbers of a token; see check_values.
  void each_number(place<> at, auto const& visit) const {
    auto const x = this->terms_at(at);
    recurrence_shape const shape = gated::shape();
    for (index i = 0; i < shape.rows; ++i) visit("query", i, x.query(i)), visit("key", i, x.key(i));
    for (index j = 0; j < shape.columns; ++j) visit("value", j, x.value(j));
    gate_terms<Accumulate, Gate> const gate(this->gate_, at);
    if constexpr (head_gate<Gate>) visit("log_decay", index{0}, gate.log_decay());
    if constexpr (row_gate<Gate>)
      for (index i = 0; i < shape.rows; ++i) visit("log_decay", i, gate.log_decay(i));
    Own::each(own_, [&](auto of, char const* name, auto const& values) {
      if constexpr (std::is_same_v<decltype(of), of_tokens>)
        visit(name, index{0}, static_cast<Accumulate>(values.read(at)));
      else if constexpr (!std::is_same_v<decltype(of), of_heads>)
        for (index i = 0; i < values.extent[3]; ++i)
          visit(name, i,
                static_cast<Accumulate>(values.read(
                    std::is_same_v<decltype(of), of_rows> ? this->shared_of(at) : at, i)));
    });
  }

 protected:
  // Row i of a further tensor, in the place of the keys.
  WANE_INLINE auto own_row(sequence_view<Io const> const& x, place<> where, auto i) const {
    return convert<Accumulate>(x.read(this->shared_of(where), i));
  }
  Own own_;
};

// The further tensor of delta rules.
template <class Io>
struct strength_of {
  token_view<Io const> strength;
  WANE_INLINE static void each(auto& of, auto const& visit) {
    visit(of_tokens(), "strength", of.strength);
  }
};

// The layout of further tensors, or of their gradients.
template <class Own>
layout layout_of_own(auto const& of) {
  wane::layout all{true, true, true};
  Own::each(of, [&](auto, char const*, auto const& x) {
    if constexpr (requires { layout_of(x); }) all = all & layout_of(x);
  });
  return all;
}

// Throws wane::error where a gradient that is present does not fit, and the layout of gradients:
// those of query, key, value, log_decay and the tensors of Own. Parameters are checked elsewhere.
template <class Own>
void check_gradients_with(auto const& to, recurrence_shape const& shape) {
  check_keyed(to, shape);
  check_gate_gradient(to.log_decay, shape);
  Own::each(to, [&](auto kind, char const* name, auto const& x) {
    std::string what = "the gradient of ";
    what += name;
    if constexpr (std::is_same_v<decltype(kind), of_rows>)
      check_if_present(what.c_str(), x, shape_of_rows(shape));
    else if constexpr (!std::is_same_v<decltype(kind), of_heads>)
      check_if_present(what.c_str(), x, shape);
  });
}
template <class Own>
wane::layout layout_of_gradients_with(auto const& to) {
  return layout_of(to.query, to.key, to.value) & layout_of_gate(to.log_decay) &
         layout_of_own<Own>(to);
}

}  // namespace wane::impl
