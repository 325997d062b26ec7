// mamba3_tokens: the inputs of mamba3, by token and rank, and the turns of its rows.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/powers.hpp"
#include "wane/operators/gates/gate.hpp"
#include "wane/operators/parts/mamba_inputs.hpp"

namespace wane::impl {

template <class Io>
struct mamba3_tensors {
  sequence_view<Io const> x, B, C;
  token_view<Io const> delta, trapezoid;
  sequence_view<Io const> angle;
  view<widened<Io> const, 1> D;
  view<widened<Io> const, 2> B_bias, C_bias;
};

// The inputs of mamba3, in R ranks. A token and head has leads: R N numbers of the turned B of the
// token before, R N of its own turned B, R N of its turned C, R P of the x before, and its angles.
template <class Io, class Gate, class Accumulate>
class mamba3_tokens {
 public:
  using accumulate = Accumulate;

  mamba3_tokens(mamba3_tensors<Io> const& in, Gate const& gate, bool halves)
      : in_(in), gate_(gate), halves_(halves) {
    mamba_keys<Io>(in_.x, in_.B, in_.C);
    check_given("delta", in_.delta), check_given("angle", in_.angle);
    index const heads = in_.delta.extent[2], groups = in_.B.extent[2];
    require(heads > 0, "delta has heads ", heads, "; there must be 1 or more");
    rank_ = in_.x.extent[2] / heads;
    require(rank_ > 0 && in_.x.extent[2] == heads * rank_, "x has heads ", in_.x.extent[2],
            "; they must be a multiple of those of delta, ", heads);
    require(groups % rank_ == 0 && heads % (groups / rank_) == 0, "B has groups ", groups,
            "; they must be ", rank_,
            ", the rank, times a number that divides the heads of delta, ", heads);
    group_ = heads / (groups / rank_);
    require(angles() >= 0 && 2 * angles() <= rows(), "angle has channels ", angles(),
            "; there must be at most half as many as rows of B, ", rows());
  }

  WANE_INLINE index rank() const { return rank_; }
  WANE_INLINE index substeps() const { return rank_ == 1 ? 2 : 3 * rank_; }
  WANE_INLINE index angles() const { return in_.angle.extent[3]; }
  WANE_INLINE index rows() const { return in_.B.extent[3]; }
  WANE_INLINE index columns() const { return in_.x.extent[3]; }
  WANE_INLINE index leads() const { return rank_ * (3 * rows() + columns()) + angles(); }

  // That of the memory.
  recurrence_shape shape() const {
    auto const& x = in_.x.extent;
    return {x[0], x[1], x[2] / rank_, rows(), columns()};
  }

  void check_inputs() const {
    recurrence_shape of_angles = shape();
    of_angles.columns = angles();
    check_mamba_data<Io>(in_.x, in_.B, in_.C);
    check("delta", in_.delta, shape()), check("trapezoid", in_.trapezoid, shape());
    check("angle", in_.angle, of_angles), check_gate(gate_, shape());
    if (in_.D.data) check_extent("D", "heads", in_.D.extent[0], shape().heads);
    check_bias("B_bias", in_.B_bias), check_bias("C_bias", in_.C_bias);
  }
  void check_parameters() const { check_gate_parameters(gate_); }
  bool counts_positions() const { return wane::counts_positions(gate_); }

  // See check_values. The channels of a head are those of its ranks, one after the other.
  void each_number(place<> at, auto const& visit) const {
    auto const all = [&](char const* name, index count, auto const& of) {
      for (index r = 0; r < rank_; ++r)
        for (index i = 0; i < count; ++i) visit(name, r * count + i, of(r, i));
    };
    auto const bias = [&](char const* name, view<widened<Io> const, 2> const& x) {
      all(name, x.data ? rows() : 0, [&](index r, index i) { return x(at.head * rank_ + r, i); });
    };
    all("x", columns(), [&](index r, index j) { return in_.x.read(of_rank(at, r), j); });
    all("B", rows(), [&](index r, index i) { return in_.B.read(group_of(at, r), i); });
    all("C", rows(), [&](index r, index i) { return in_.C.read(group_of(at, r), i); });
    bias("B_bias", in_.B_bias), bias("C_bias", in_.C_bias);
    if (in_.D.data) visit("D", index{0}, in_.D(at.head));
    visit("delta", index{0}, in_.delta.read(at)), visit("trapezoid", index{0}, trapezoid(at));
    for (index n = 0; n < angles(); ++n) visit("angle", n, in_.angle.read(at, n));
    visit("log_decay", index{0}, gate_terms<Accumulate, Gate>(gate_, at).log_decay());
  }

 protected:
  WANE_INLINE place<> of_rank(place<> at, index r) const {
    return at.with_head(at.head * rank_ + r);
  }
  WANE_INLINE place<> group_of(place<> at, index r) const {
    return at.with_head(at.head / group_ * rank_ + r);
  }
  WANE_INLINE Accumulate delta(place<> at) const {
    return static_cast<Accumulate>(in_.delta.read(at));
  }
  WANE_INLINE Accumulate trapezoid(place<> at) const {
    return static_cast<Accumulate>(in_.trapezoid.read(at));
  }
  // The rows of B or C of a token and rank with their bias, not turned.
  struct raw_rows {
    Io const* own;
    index step;
    widened<Io> const* bias;
    index bias_step;

    WANE_HOST_INLINE Accumulate operator()(index i) const {
      return static_cast<Accumulate>(static_cast<widened<Io>>(own[i * step])) +
             static_cast<Accumulate>(bias[i * bias_step]);
    }
  };
  raw_rows raw(sequence_view<Io const> const& x, view<widened<Io> const, 2> const& bias, place<> at,
               index r) const {
    Io const* const own = x.element(group_of(at, r), 0);
    if (!bias.data) return {own, x.stride[3], &no_bias_, 0};
    return {own, x.stride[3], &bias(at.head * rank_ + r, index{0}), bias.stride[1]};
  }

  // Calls body(n, cos, sin) for the pairs of rows that turn; angle(n) is by what pair n has turned.
  WANE_HOST_INLINE void for_turns(auto const& angle, auto const& body) const {
    constexpr int W = simd_width<double>;
    for (index n = 0; n < angles(); n += W) {
      simd<double, W> by(0.);
      int const count = static_cast<int>(at_most(index{W}, angles() - n));
      for (int l = 0; l < count; ++l) by.v[l] = static_cast<double>(angle(n + l));
      auto const [c, s] = turn(by);
      for (int l = 0; l < count; ++l)
        body(n + l, static_cast<Accumulate>(c[l]), static_cast<Accumulate>(s[l]));
    }
  }
  // The rows of pair n, and all rows that do not turn.
  WANE_INLINE index first_of_pair(index n) const { return halves_ ? n : 2 * n; }
  WANE_INLINE index second_of_pair(index n) const { return halves_ ? n + rows() / 2 : 2 * n + 1; }
  void for_other_rows(auto const& body) const {
    index const S = angles(), half = rows() / 2;
    for (index i = halves_ ? S : 2 * S; i < rows(); ++i)
      if (!halves_ || i < half || i >= half + S) body(i);
  }

  mamba3_tensors<Io> in_;
  Gate gate_;

 private:
  void check_bias(char const* name, view<widened<Io> const, 2> const& x) const {
    require(!x.data || (x.extent[0] == shape().heads * rank_ && x.extent[1] == rows()), name,
            " has shape [", x.extent[0], ", ", x.extent[1], "]; it must be [H R, N] = [",
            shape().heads * rank_, ", ", rows(), "]");
  }

  index rank_ = 1, group_ = 1;
  bool halves_;
  widened<Io> no_bias_ = widened<Io>(0);
};

}  // namespace wane::impl
