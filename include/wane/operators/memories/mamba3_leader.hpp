// mamba3_leader: the recurrence that leads mamba3's memory, its turns and delays, and its adjoint.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "wane/core/state/walk.hpp"
#include "wane/operators/memories/mamba3_memory.hpp"

namespace wane::impl {

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
      Accumulate const *const lead = leads.element(at, 0), *const rows = by.rows.element(at, 0),
                              *const columns = by.columns.element(at, 0);
      for (index n = 0; n < R * N; ++n) {
        by_b[n] = rows[R * N + n] + by_left[n], by_c[n] = rows[2 * R * N + n];
        by_left[n] = rows[n];
      }
      // Turns the gradients of a pair back. `turned` begins the leads that the pair turned into.
      auto const turn_back = [&](index turned, Accumulate* of, index i, index j, Accumulate c,
                                 Accumulate s) {
        Accumulate const a = of[i], b = of[j];
        of[i] = c * a + s * b, of[j] = c * b - s * a;
        return b * lead[turned + i] - a * lead[turned + j];
      };
      this->for_turns([&](index n) { return lead[R * (3 * N + P) + n]; },
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
          Accumulate x = before + columns[(R + r) * P + j];
          if (R > 1) x += columns[(2 * R + r) * P + j];
          to.x.write(head, j, x);
          before = columns[r * P + j];
        }
      }
      give_numbers(at, by.numbers, to);
    }
    for (index n = 0; initial.data && n < numbers; ++n)
      initial(w.sequence, w.head, 0, n) =
          static_cast<std::remove_cvref_t<decltype(*initial.data)>>(by_angle[n]);
  }

 private:
  mamba3_tensors<Io> const& in() const { return this->in_; }

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

}  // namespace wane::impl
