// penalty_sum: N = -2 dL/dM, as a memory without erasing that runs backwards in time.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/penalised_memory.hpp"
#include "wane/core/recurrence/row_lanes.hpp"
#include "wane/cuda/penalty/plan.hpp"

namespace wane::cuda::impl {

// The run in reverse gives u_t^T N_t / sqrt(l_t), with
//   N_t = w_t N_{t+1} + l_t (g_t a_t^T + a_t g_t^T)
// (run/penalty/sums.hpp, run/penalty/fading_adjoint.hpp). It has 2 H heads: head h stores g under
// the key a, head H + h stores a under the key g, and N of head h is their sum. The output omits
// the term of token t itself, most of which would cancel (penalty/inverse_gradients.hpp,
// penalty/token_gradients.hpp).
template <class Op>
class penalty_sum {
  static constexpr bool fades = fading_penalty<Op>;

 public:
  using accumulate = float;

  penalty_sum(Op const& op, sequence_view<float const> const& directions,
              sequence_view<float const> const& inverse_gradients, penalty_marks const& marks)
      : op_(op),
        directions_(directions),
        inverse_gradients_(inverse_gradients),
        marks_(marks),
        size_(op.shape()) {
    size_.heads *= 2, size_.columns = size_.rows;
  }

  WANE_HOST_DEVICE recurrence_shape shape() const { return size_; }

  struct lasting {};
  struct fading {
    float log;
    WANE_HOST_DEVICE float log_decay() const { return log; }
  };
  struct token : std::conditional_t<fades, fading, lasting> {
    static constexpr bool is_strictly_causal = true;
    sequence_view<float const> const &keys, &values;
    place<> where;
    decltype(std::declval<Op const&>().direction_at(place<>{})) direction;
    float over = 1, of_key = 1, of_value = 1;

    WANE_HOST_DEVICE token(sequence_view<float const> const& k, sequence_view<float const> const& v,
                           place<> at, decltype(direction) const& u)
        : keys(k), values(v), where(at), direction(u) {}
    WANE_INLINE float query(index i) const { return over * direction(i); }
    WANE_INLINE float key(index i) const { return of_key * keys.read(where, i); }
    WANE_INLINE float value(index j) const { return of_value * values.read(where, j); }
  };
  template <class Sums = own_sums>
  WANE_HOST_DEVICE token at(place<> where, Sums const& sums = {}) const {
    index const heads = size_.heads / 2;
    bool const first = where.head < heads;
    where.head -= first ? 0 : heads;
    token x(first ? directions_ : inverse_gradients_, first ? inverse_gradients_ : directions_,
            where, op_.direction_at(where, sums));
    if constexpr (fades) {
      penalty_left<float> const left = marks_.left_at(op_, where);
      using std::exp;
      x.log = marks_.log_decays.read(where);
      x.over = left.over();
      (first ? x.of_value : x.of_key) = exp(left.log);
    }
    return x;
  }

 private:
  Op op_;
  sequence_view<float const> directions_, inverse_gradients_;
  penalty_marks marks_;
  recurrence_shape size_;
};

}  // namespace wane::cuda::impl
