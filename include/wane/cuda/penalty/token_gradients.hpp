// Gradient kernel of penalised memories by keys and directions: one block for 16 tokens of a head.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/machine/lane_sums.hpp"
#include "wane/cuda/penalty/gradients.hpp"

namespace wane::cuda::impl {

// Finds the gradients by directions, adds them to those by keys where u = k, and passes both on.
template <machine M, class Arguments>
class penalised_token_gradients {
  static constexpr int parts = M::threads / chunk_tokens;
  static constexpr bool fades = fading_penalty<decltype(Arguments::op)>;
  static_assert(warp_size % parts == 0);

 public:
  WANE_HOST_DEVICE penalised_token_gradients(M& machine, Arguments const& a, index block)
      : machine_(machine),
        a_(a),
        head_(block % a.shape.heads),
        number_(block / a.shape.heads),
        sequence_(sequence_of_chunk(a.sequences, number_)),
        first_((number_ - first_chunk(a.sequences, sequence_)) * chunk_tokens) {}

  WANE_HOST_DEVICE void operator()() {
    sequence_tokens const of(a_.sequences, sequence_);
    if (first_ >= of.count) return;
    int const thread = machine_.thread();
    int const count = static_cast<int>(at_most(index{chunk_tokens}, of.count - first_));
    add_up(of.at(first_ + at_most(thread / parts, count - 1), head_), thread / parts < count);
    machine_.barrier();
    if (thread >= count) return;
    place<> const where = of.at(first_ + thread, head_);
    a_.gradients.give_rows(a_.op, where, false, a_.key_gradients.element(where, 0),
                           a_.sums.element(where, 0));
  }

 private:
  WANE_HOST_DEVICE void add_up(place<> where, bool present) const {
    place<> other = where;
    other.head += a_.shape.heads;
    auto const direction = a_.op.direction_at(where);
    bool const own = a_.op.penalises_keys();
    penalty_left<float> left{0};
    if constexpr (fades) left = a_.marks.left_at(a_.op, where);
    // The term of the token itself where u is not k: -g (a . u) - a (g . u).
    float a_u = 0, g_u = 0, of_later = 0, trace = 0;
    for (index i = machine_.thread() % parts; i < a_.shape.rows && present && !own; i += parts) {
      a_u = multiply_add(a_.directions.read(where, i), direction(i), a_u);
      g_u = multiply_add(a_.inverse_gradients.read(where, i), direction(i), g_u);
    }
    a_u = sum_of_neighbours<parts>(machine_, a_u), g_u = sum_of_neighbours<parts>(machine_, g_u);
    for (index i = machine_.thread() % parts; i < a_.shape.rows && present; i += parts) {
      float u = -left.over() * (a_.sums.read(where, i) + a_.sums.read(other, i));
      float const a = a_.directions.read(where, i), g = a_.inverse_gradients.read(where, i);
      if constexpr (fades) {
        of_later = multiply_add(direction(i), u, of_later);
        trace = multiply_add(g, a, trace);
      }
      u = multiply_add(-g, a_u, multiply_add(-a, g_u, u));
      a_.sums.write(where, i, u);
      if (own) a_.key_gradients.write(where, i, a_.key_gradients.read(where, i) + u);
    }
    if constexpr (fades) {
      of_later = sum_of_neighbours<parts>(machine_, of_later);
      trace = sum_of_neighbours<parts>(machine_, trace);
      using std::exp;
      if (!present || machine_.thread() % parts != 0) return;
      float change = a_u * g_u;
      if constexpr (decltype(Arguments::op)::rule == write_rule::rls)
        change = a_.changes.read(where);
      a_.changes.write(where, change - of_later / 2);
      a_.traces.write(where, 2 * exp(left.log) * trace);
    }
  }

  M& machine_;
  Arguments const& a_;
  index const head_, number_, sequence_, first_;
};

struct penalised_token_kernel : penalised_gradient_kernel {
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const&) {
    return 0;
  }
  template <class Config, machine M, class Arguments>
  WANE_HOST_DEVICE static void run(M& machine, Arguments const& a, index block) {
    penalised_token_gradients<M, Arguments>(machine, a, block)();
  }
};

}  // namespace wane::cuda::impl
