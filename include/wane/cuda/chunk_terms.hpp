// The terms of a chunk in shared memory, and what decays make of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/cuda/chunk_plan.hpp"

namespace wane::cuda {

// One thread of a block: brings what tokens read, and scales it by decays.
template <class Config, class Precision, machine M, class Arguments>
class chunk_terms {
 protected:
  using Op = decltype(Arguments::op);
  using Token = token_of<Op>;
  using products = unit_products<Precision, M>;
  using tile = typename products::tile;
  using stored = typename Precision::stored;
  static constexpr int tokens = chunk_tokens;
  static constexpr bool fades = fading_of<Token> != fading::none;
  static constexpr bool by_row = fading_of<Token> == fading::row;
  static constexpr bool in_logs = decays_in_logs<Token>;
  static constexpr bool erases = has_erase<Token>, general = has_erase_write<Token>;

  WANE_HOST_DEVICE chunk_terms(M& machine, Arguments const& a)
      : machine_(machine), a_(a), at_(a.layout), products_(machine) {}

  template <class T>
  WANE_HOST_DEVICE T* shared(std::size_t at) const {
    return reinterpret_cast<T*>(machine_.shared() + at);
  }
  template <class T>
  WANE_HOST_DEVICE T get(std::size_t array, int i) const {
    return machine_.read_shared(shared<T const>(array) + i);
  }
  template <class T, class X>
  WANE_HOST_DEVICE void put(std::size_t array, int i, X x) const {
    machine_.write_shared(shared<T>(array) + i, T(x));
  }

  // A token of this thread, and every lanes-th row or column of it from lane() on.
  static constexpr int lanes = Config::threads / tokens;
  WANE_HOST_DEVICE int token() const { return machine_.thread() / lanes; }
  WANE_HOST_DEVICE int lane() const { return machine_.thread() % lanes; }

  // What a token is like: whether it resets, and has no number that is none.
  struct sight {
    bool resets = false;
    float zero = 0;  // 0 times each of its numbers
    WANE_HOST_DEVICE bool finite() const { return zero == 0.f; }
  };

  // Brings the terms of the token at `where`, if there is one.
  WANE_HOST_DEVICE sight bring_terms(place<> where, bool present) const {
    sight seen;
    if (present)
      bring_rows(a_.op.at(where), seen);
    else
      bring_rows(nothing{}, seen);
    return seen;
  }
  // The same with the columns from `first` on.
  WANE_HOST_DEVICE sight bring(place<> where, bool present, index first) const {
    sight seen;
    if (present) {
      auto const x = a_.op.at(where);
      bring_rows(x, seen);
      for_columns([&](int j) {
        note(seen, at_.value, value_at(token(), j),
             first + j < a_.shape.columns ? x.value(first + j) : 0.f);
      });
      if constexpr (has_direct<Token>)
        if (lane() == 0) note(seen, at_.direct, token(), x.direct());
    } else {
      bring_rows(nothing{}, seen);
      for_columns([&](int j) { put<float>(at_.value, value_at(token(), j), 0.f); });
      if constexpr (has_direct<Token>)
        if (lane() == 0) put<float>(at_.direct, token(), 0.f);
    }
    return seen;
  }
  // body(j) for the columns of this thread.
  template <class Body>
  WANE_HOST_DEVICE void for_columns(Body const& body) const {
    for (int j = lane(); j < Config::columns; j += lanes) body(j);
  }

  // What is done about decays of 0: `resets` where there is one; `alone` where the chunk is one
  // token with such a decay, and what is read of the state has faded already.
  struct resetting {
    bool resets, alone;
  };

  // Row i of what reads the state before the chunk, and of what goes into the one after it.
  WANE_HOST_DEVICE void scale_row(int i, resetting how) const {
    float w[tokens], p = 1.f;
    if constexpr (by_row) take_factors(i, i, at_.stride, how.resets, w);
    for (int t = 0; t < tokens; ++t) {
      int const from = t * at_.stride + i;
      if constexpr (erases) put<stored>(at_.reads[1], from, get<float>(at_.read, from) * p);
      if constexpr (by_row)
        if (!how.alone) p *= w[t];
      put<stored>(at_.reads[0], from, get<float>(at_.query, from) * p);
    }
    p = 1.f;
    for (int t = tokens - 1; t >= 0; --t) {
      int const from = t * at_.stride + i, to = i * chunk_stride + t;
      put<stored>(at_.writes[0], to, get<float>(at_.key, from) * p);
      if constexpr (general) put<stored>(at_.writes[1], to, get<float>(at_.write, from) * p);
      if constexpr (by_row) p *= w[t];
    }
  }
  // The same for a head: factors of token t.
  WANE_HOST_DEVICE void scale_token(int t, resetting how) const {
    if constexpr (fades) {
      float before = 1.f, end = 1.f;
      for (int u = 0; u < tokens; ++u) {
        float const w = factor(get<float>(at_.decay, u));
        if (u < t) before *= w;
        if (u > t) end *= w;
      }
      float const own = how.alone ? 1.f : factor(get<float>(at_.decay, t));
      put<float>(at_.to_token, t, before * own), put<float>(at_.before_token, t, before);
      put<float>(at_.to_end, t, end);
      float w[tokens];
      if (t == 0) take_factors(0, 0, 1, how.resets, w);
    }
  }

  WANE_HOST_DEVICE static float factor(float stated) {
    if constexpr (in_logs)
      return factor_of(decay_from_log(stated));
    else
      return stated;
  }

  WANE_HOST_DEVICE static int value_at(int token, int column) {
    return token * column_stride<Config> + column;
  }

  M& machine_;
  Arguments const& a_;
  chunk_layout const& at_;
  products products_;

 private:
  // A token that is not there neither reads, writes, nor fades.
  struct nothing {};

  WANE_HOST_DEVICE void note(sight& seen, std::size_t array, int i, float x) const {
    seen.zero = multiply_add(x, 0.f, seen.zero);
    put<float>(array, i, x);
  }
  template <class X>
  WANE_HOST_DEVICE void note_decay(sight& seen, int place, X const& x, index i) const {
    float stated = in_logs ? 0.f : 1.f;
    if constexpr (has_row_log_decay<X>)
      stated = x.log_decay(i);
    else if constexpr (has_log_decay<X>)
      stated = x.log_decay();
    else if constexpr (has_row_plain_decay<X>)
      stated = x.decay(i);
    else if constexpr (has_plain_decay<X>)
      stated = x.decay();
    seen.resets = seen.resets || factor(stated) == 0.f;
    put<float>(at_.decay, place, stated);
  }
  // The rows of a token; zeros where there are none.
  template <class X>
  WANE_HOST_DEVICE void bring_rows(X const& x, sight& seen) const {
    int const line = token() * at_.stride;
    for (int i = lane(); i < at_.rows; i += lanes)
      if (i < a_.shape.rows)
        bring_row(x, seen, line + i, i);
      else
        bring_row(nothing{}, seen, line + i, i);
    if constexpr (fades && !by_row)
      if (lane() == 0) note_decay(seen, token(), x, 0);
  }
  template <class X>
  WANE_HOST_DEVICE void bring_row(X const& x, sight& seen, int to, index i) const {
    constexpr bool there = std::is_same_v<X, Token>;
    float query = 0, key = 0, read = 0, write = 0;
    if constexpr (there) query = x.query(i), key = x.key(i);
    if constexpr (there && erases) read = x.erase_read(i);
    if constexpr (there && general) write = x.erase_write(i);
    note(seen, at_.query, to, query), note(seen, at_.key, to, key);
    if constexpr (erases) note(seen, at_.read, to, read);
    if constexpr (general) note(seen, at_.write, to, write);
    if constexpr (by_row) note_decay(seen, to, x, i);
  }

  // The decays of a row (or of the head) become factors; that of the whole chunk is put down.
  WANE_HOST_DEVICE void take_factors(int i, int first, int stride, bool resets,
                                     float (&w)[tokens]) const {
    float whole = in_logs ? 0.f : 1.f;
    for (int t = 0; t < tokens; ++t) {
      float const stated = get<float>(at_.decay, first + t * stride);
      whole = in_logs ? whole + stated : whole * stated;
      w[t] = factor(stated);
      if constexpr (by_row) put<float>(at_.decay, first + t * stride, w[t]);
    }
    split_decay<float> p = {whole, 0.f};
    if constexpr (in_logs)
      p = decay_from_log(whole);
    else if (whole >= near_one<float>)
      p = {1.f, whole - 1.f};
    // What fades so far that float has no number for it is not reset: a NaN stays.
    if (!resets && factor_of(p) == 0.f) p = {std::numeric_limits<float>::min(), 0.f};
    // Rows that pad the state keep nothing, not even 0 times what is no number.
    if (by_row && i >= a_.shape.rows) p = {0.f, 0.f};
    put<float>(at_.whole, i, p.whole), put<float>(at_.rest, i, p.rest);
  }
};

}  // namespace wane::cuda
