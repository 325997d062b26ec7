// The recurrences of mamba3: the turns and delays of its tokens, and the memory that they lead.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "wane/core/numbers/powers.hpp"
#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/core/recurrence/substeps.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/operators/gates/gate.hpp"
#include "wane/operators/parts/mamba_inputs.hpp"

namespace wane {

template <class Io>
struct mamba3_inputs;

}  // namespace wane

namespace wane::impl {

// The columns from j + offset on.
template <class Columns>
WANE_INLINE Columns shifted(Columns j, index offset) {
  if constexpr (std::integral<Columns>)
    j += offset;
  else
    j.first += offset;
  return j;
}

// The inputs of mamba3, in R ranks. A token and head has leads: R N numbers of the turned B of the
// token before, R N of its own turned B, R N of its turned C, R P of the x before, and its angles.
template <class Io, class Gate, class Accumulate>
class mamba3_tokens {
 public:
  using accumulate = Accumulate;

  mamba3_tokens(mamba3_inputs<Io> const& in, Gate const& gate, bool halves)
      : in_(in), gate_(gate), halves_(halves) {
    mamba_keys<Io>(in_.x, in_.B, in_.C);
    check_given("delta", in_.delta), check_given("angle", in_.angle);
    index const heads = in_.delta.extent[2], groups = in_.B.extent[2];
    require(heads > 0 && in_.x.extent[2] % heads == 0, "x has heads ", in_.x.extent[2],
            "; they must be a multiple of those of delta, ", heads);
    rank_ = in_.x.extent[2] / heads;
    require(groups % rank_ == 0 && heads % (groups / rank_) == 0, "B has groups ", groups,
            "; they must be ", rank_,
            ", the rank, times a number that divides the heads of delta, ", heads);
    group_ = heads / (groups / rank_);
    require(2 * angles() <= rows(), "angle has channels ", angles(),
            "; there must be at most half as many as rows of B, ", rows());
  }

  index rank() const { return rank_; }
  index substeps() const { return rank_ == 1 ? 2 : 3 * rank_; }
  index angles() const { return in_.angle.extent[3]; }
  index rows() const { return in_.B.extent[3]; }
  index columns() const { return in_.x.extent[3]; }
  index leads() const { return rank_ * (3 * rows() + columns()) + angles(); }

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

  // See check_values.
  void each_number(place<> at, auto const& visit) const {
    for (index r = 0; r < rank_; ++r) {
      auto const B = raw(in_.B, in_.B_bias, at, r), C = raw(in_.C, in_.C_bias, at, r);
      for (index i = 0; i < rows(); ++i) visit("B", i, B(i)), visit("C", i, C(i));
      for (index j = 0; j < columns(); ++j) visit("x", j, in_.x.read(of_rank(at, r), j));
    }
    visit("delta", index{0}, in_.delta.read(at)), visit("trapezoid", index{0}, trapezoid(at));
    for (index n = 0; n < angles(); ++n) visit("angle", n, in_.angle.read(at, n));
    visit("log_decay", index{0}, gate_terms<Accumulate, Gate>(gate_, at).log_decay());
  }

 protected:
  WANE_INLINE place<> of_rank(place<> at, index r) const {
    return at.with_head(at.head * rank_ + r);
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

    WANE_INLINE Accumulate operator()(index i) const {
      return static_cast<Accumulate>(static_cast<widened<Io>>(own[i * step])) +
             static_cast<Accumulate>(bias[i * bias_step]);
    }
  };
  WANE_INLINE raw_rows raw(sequence_view<Io const> const& x, view<widened<Io> const, 2> const& bias,
                           place<> at, index r) const {
    static constexpr widened<Io> zero(0);
    Io const* const own = x.element(at.with_head(at.head / group_ * rank_ + r), 0);
    if (!bias.data) return {own, x.stride[3], &zero, 0};
    return {own, x.stride[3], &bias(at.head * rank_ + r, index{0}), bias.stride[1]};
  }

  // Calls body(n, cos, sin) for the pairs of rows that turn; angle(n) is by what pair n has turned.
  WANE_INLINE void for_turns(auto const& angle, auto const& body) const {
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

  mamba3_inputs<Io> in_;
  Gate gate_;

 private:
  void check_bias(char const* name, view<widened<Io> const, 2> const& x) const {
    require(!x.data || (x.extent[0] == shape().heads * rank_ && x.extent[1] == rows()), name,
            " has shape [", x.extent[0], ", ", x.extent[1], "]; it must be [H R, N] = [",
            shape().heads * rank_, ", ", rows(), "]");
  }

  index rank_ = 1, group_ = 1;
  bool halves_;
};

// The recurrence over the substeps of a token. R write B x^T of the token before, times
// (1 - trapezoid) delta; R write its own, times trapezoid delta, the first of which decays; R read.
// One rank reads as it writes, so it takes two substeps.
template <class Io, class Gate, class Accumulate>
class mamba3_substeps : public mamba3_tokens<Io, Gate, Accumulate> {
  using base = mamba3_tokens<Io, Gate, Accumulate>;

 public:
  mamba3_substeps(base const& of, sequence_view<Accumulate const> const& leads, bool backward)
      : base(of), leads_(leads), order_(this->substeps(), backward) {}

  recurrence_shape shape() const {
    recurrence_shape shape = base::shape();
    shape.time *= order_.count();
    return shape;
  }
  wane::layout layout() const { return layout_of(this->in_.x, leads_); }

  struct token {
    mamba3_substeps const& op;
    place<> where;  // of the token
    index number, of_key, of_query;
    Accumulate weight, of_head, skip;

    bool writes() const { return number < 2 * op.rank(); }
    bool reads() const { return number >= op.substeps() - op.rank(); }
    index rank() const { return number % op.rank(); }
    WANE_INLINE auto lead(auto i, index offset) const {
      return op.leads_.read(where, shifted(i, offset));
    }
    WANE_INLINE Accumulate log_decay() const { return of_head; }
    WANE_INLINE auto key(auto i) const {
      auto const b = lead(i, of_key);
      return writes() ? b * decltype(b)(weight) : decltype(b)(Accumulate(0));
    }
    WANE_INLINE auto query(auto i) const {
      auto const c = lead(i, of_query);
      return reads() ? c : decltype(c)(Accumulate(0));
    }
    WANE_INLINE auto value(auto j) const {
      using Value = std::remove_cvref_t<decltype(lead(j, 0))>;
      return number < op.rank()
                 ? lead(j, 3 * op.rank() * op.rows() + number * op.columns())
                 : Value(convert<Accumulate>(op.in_.x.read(op.of_rank(where, rank()), j)));
    }
    WANE_INLINE Accumulate direct() const { return skip; }
  };
  WANE_INLINE token at(place<> substep) const {
    index const R = this->rank(), N = this->rows();
    token x{*this, order_.token(substep), order_.number(substep), 0, 0, 0, 0, 0};
    Accumulate const own = this->trapezoid(x.where);
    x.of_key = x.number * N;
    x.of_query = (2 * R + x.rank()) * N;
    x.weight = this->delta(x.where) * (x.number < R ? Accumulate(1) - own : own);
    if (x.number == R) x.of_head = gate_terms<Accumulate, Gate>(this->gate_, x.where).log_decay();
    if (x.reads() && this->in_.D.data) x.skip = static_cast<Accumulate>(this->in_.D(x.where.head));
    return x;
  }

  void each_row(place<> substep, auto const& visit) const {
    index const n = order_.number(substep), R = this->rank();
    if (R <= n && n < 2 * R)
      visit(this->in_.x.element(this->of_rank(order_.token(substep), n - R), 0), this->columns());
  }

  // rows: as the leads, [B, T, H, 3 R N]; columns: of the values of substeps, [B, T, H, n P];
  // numbers: of their weights and D, and of the log decay, [B, T, H, 2 n + 1].
  struct gradients {
    sequence_view<Accumulate> rows, columns, numbers;

    wane::layout layout() const { return layout_of(rows, columns); }

    struct sink {
      gradients const& to;
      mamba3_substeps const& op;
      place<> substep;

      WANE_INLINE void column(auto j, auto g) const {
        token const x = op.at(substep);
        to.columns.write(x.where, shifted(j, x.number * op.columns()), g);
      }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const x = op.at(substep);
        row_sum<V> by_weight;
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const by_key = row_at(g.key, i);
          if (x.writes()) {
            by_weight.add(x.lead(i, x.of_key), by_key);
            to.rows.write(x.where, shifted(i, x.of_key),
                          std::remove_const_t<decltype(by_key)>(x.weight) * by_key);
          }
          if (x.reads()) to.rows.write(x.where, shifted(i, x.of_query), row_at(g.query, i));
        });
        index const n = op.order_.count();
        to.numbers.write(x.where, x.number, by_weight.total());
        to.numbers.write(x.where, n + x.number, g.whole.direct);
        if (x.number == op.rank()) to.numbers.write(x.where, 2 * n, g.whole.decay);
      }
    };
    WANE_INLINE sink at(mamba3_substeps const& op, place<> substep) const {
      return {*this, op, substep};
    }
  };

 private:
  sequence_view<Accumulate const> leads_;
  substep_order order_;
};

// What a token passes to the next: the angles, from -pi to pi, the turned B, and x.
template <class Io, class Gate, class Accumulate>
class mamba3_leader : public mamba3_tokens<Io, Gate, Accumulate> {
  using base = mamba3_tokens<Io, Gate, Accumulate>;

 public:
  explicit mamba3_leader(base const& of) : base(of) {}

  recurrence_shape shape() const {
    recurrence_shape shape = base::shape();
    shape.rows = 1;
    shape.columns = this->angles() + this->rank() * (this->rows() + this->columns());
    return shape;
  }
  index output_columns() const { return this->leads(); }

  void each_row(place<> at, auto const& visit) const {
    for (index r = 0; r < this->rank(); ++r) {
      visit(this->raw(in().B, in().B_bias, at, r).own, this->rows());
      visit(this->raw(in().C, in().C_bias, at, r).own, this->rows());
      visit(in().x.element(this->of_rank(at, r), 0), this->columns());
    }
    visit(in().angle.element(at, 0), this->angles());
  }

  void advance(place<> at, view<Accumulate, 2> const& state, auto const& write) const {
    index const R = this->rank(), N = this->rows(), P = this->columns(), S = this->angles();
    for (index n = 0; n < S; ++n)
      write(R * (3 * N + P) + n,
            state(0, n) = wrapped(state(0, n) + static_cast<Accumulate>(in().angle.read(at, n))));
    for (index r = 0; r < R; ++r) {
      auto const B = this->raw(in().B, in().B_bias, at, r),
                 C = this->raw(in().C, in().C_bias, at, r);
      Accumulate* const carried = &state(index{0}, S + r * N);
      index const step = state.stride[1];
      auto const give = [&](index i, Accumulate b, Accumulate c) WANE_INLINE_LAMBDA {
        write(r * N + i, carried[i * step]), write((R + r) * N + i, b),
            write((2 * R + r) * N + i, c);
        carried[i * step] = b;
      };
      this->for_turns([&](index n) { return state(0, n); },
                      [&](index n, Accumulate cosine, Accumulate sine) WANE_INLINE_LAMBDA {
                        index const i = this->first_of_pair(n), k = this->second_of_pair(n);
                        Accumulate const b = B(i), e = B(k), f = C(i), g = C(k);
                        give(i, cosine * b - sine * e, cosine * f - sine * g);
                        give(k, sine * b + cosine * e, sine * f + cosine * g);
                      });
      this->for_other_rows([&](index i) { give(i, B(i), C(i)); });
    }
    for (index r = 0; r < R; ++r)
      for (index j = 0; j < P; ++j) {
        Accumulate& before = state(0, S + R * N + r * P + j);
        write(3 * R * N + r * P + j, before);
        before = static_cast<Accumulate>(in().x.read(this->of_rank(at, r), j));
      }
  }

  // From the gradients of the leads of a walk and of what else its tokens gave to the memory, and
  // of the final state, to those of the inputs and of the initial state. Where these two states
  // are one, the gradient of the initial state takes the place of the other.
  void give(walk const& w, sequence_view<Accumulate> const& leads,
            typename mamba3_substeps<Io, Gate, Accumulate>::gradients const& by, auto const& final,
            auto const& initial, auto const& to) const {
    index const R = this->rank(), N = this->rows(), P = this->columns(), S = this->angles();
    index const numbers = S + R * (N + P);
    // By the angles, turned B and x that a token leaves to the next.
    std::vector<Accumulate> left(static_cast<std::size_t>(numbers)),
        own(static_cast<std::size_t>(2 * R * N));
    Accumulate *const by_angle = left.data(), *const by_left = by_angle + S,
                      *const by_b = own.data(), *const by_c = by_b + R * N;
    for (index n = 0; final.data && n < numbers; ++n)
      by_angle[n] = static_cast<Accumulate>(final(w.sequence, w.head, 0, n));
    for (index k = w.count - 1; k >= 0; --k) {
      place<> const at = w.token(k);
      for (index n = 0; n < R * N; ++n) {
        by_b[n] = by.rows.read(at, R * N + n) + by_left[n],
        by_c[n] = by.rows.read(at, 2 * R * N + n);
        by_left[n] = by.rows.read(at, n);
      }
      // Turns the gradients of a pair back. `turned` begins the leads that the pair turned into.
      auto const turn_back = [&](index turned, Accumulate* of, index i, index j, Accumulate c,
                                 Accumulate s) {
        Accumulate const a = of[i], b = of[j];
        of[i] = c * a + s * b, of[j] = c * b - s * a;
        return b * leads.read(at, turned + i) - a * leads.read(at, turned + j);
      };
      this->for_turns([&](index n) { return leads.read(at, R * (3 * N + P) + n); },
                      [&](index n, Accumulate c, Accumulate s) {
                        index const i = this->first_of_pair(n), j = this->second_of_pair(n);
                        for (index o = 0; o < R * N; o += N)
                          by_angle[n] += turn_back(R * N, by_b, o + i, o + j, c, s) +
                                         turn_back(2 * R * N, by_c, o + i, o + j, c, s);
                      });
      for (index n = 0; n < S; ++n) to.angle.write(at, n, by_angle[n]);
      for (index r = 0; r < R; ++r) {
        place<> const head = this->of_rank(at, r);
        for (index i = 0; i < N; ++i) {
          Accumulate const b = by_b[r * N + i], c = by_c[r * N + i];
          to.B.write(head, i, b), to.B_bias.parts.write(head, i, b);
          to.C.write(head, i, c), to.C_bias.parts.write(head, i, c);
        }
        for (index j = 0; j < P; ++j) {
          Accumulate& before = by_left[R * N + r * P + j];
          Accumulate x = before + by.columns.read(at, (R + r) * P + j);
          if (R > 1) x += by.columns.read(at, (2 * R + r) * P + j);
          to.x.write(head, j, x);
          before = by.columns.read(at, r * P + j);
        }
      }
      give_numbers(at, by.numbers, to);
    }
    for (index n = 0; initial.data && n < numbers; ++n)
      initial(w.sequence, w.head, 0, n) =
          static_cast<std::remove_cvref_t<decltype(*initial.data)>>(by_angle[n]);
  }

 private:
  mamba3_inputs<Io> const& in() const { return this->in_; }

  void give_numbers(place<> at, sequence_view<Accumulate> const& by, auto const& to) const {
    index const R = this->rank(), n = this->substeps();
    Accumulate before(0), own(0), skip(0);
    for (index s = 0; s < R; ++s)
      before += by.read(at, s), own += by.read(at, R + s), skip += by.read(at, 2 * n - R + s);
    Accumulate const part = this->trapezoid(at);
    to.delta.write(at, (1 - part) * before + part * own);
    to.trapezoid.write(at, this->delta(at) * (own - before));
    to.D.parts.write(at, skip), to.log_decay.write(at, by.read(at, 2 * n));
  }

  static Accumulate wrapped(Accumulate angle) {
    using exact = std::common_type_t<Accumulate, double>;
    constexpr exact turn = 2 * std::numbers::pi_v<exact>;
    exact const x = static_cast<exact>(angle);
    return static_cast<Accumulate>(x - std::nearbyint(x / turn) * turn);
  }
};

// The memory over tokens. See wane/core/recurrence/substeps.hpp.
template <class Io, class Gate, class Accumulate>
class mamba3_memory : public mamba3_tokens<Io, Gate, Accumulate> {
  using base = mamba3_tokens<Io, Gate, Accumulate>;
  using steps = mamba3_substeps<Io, Gate, Accumulate>;

 public:
  using gradients = typename steps::gradients;

  mamba3_memory(base const& of, sequence_view<Accumulate const> const& leads)
      : base(of), leads_(leads) {}

  index reading_substeps() const { return this->rank(); }
  steps in_substeps(bool backward) const { return {*this, leads_, backward}; }
  gradients in_substeps(gradients const& to, bool) const { return to; }

 private:
  sequence_view<Accumulate const> leads_;
};

}  // namespace wane::impl
