// chunk_gradients: one thread of the kernel that turns sums over columns into gradients of tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/chunk/term_gradients.hpp"
#include "wane/cuda/chunks/adjoint.hpp"

namespace wane::cuda::impl {

template <class Op, class Out, class Gradients, class State>
struct chunk_gradient_arguments : chunk_adjoint_arguments<Op, Out, Gradients, State> {
  template <class Config>
  static constexpr chunk_layout layout = chunk_layout::of_gradients<Config, token_of<Op>>();
};

// One block for each chunk of a head.
template <class Config, class Precision, machine M, class Arguments>
class chunk_gradients {
  using form = chunk_form<Config, Precision, Arguments>;
  using Op = typename form::Op;
  using Token = typename form::Token;
  using terms = chunk_terms<Config, Precision, M, Arguments>;
  using row_terms = typename terms::row_terms;
  using of = term_gradients<gradient_form<Token>, reading_of<Token>, form::in_logs>;
  using Sink = sink_of<decltype(Arguments::gradients), Op>;

 public:
  WANE_HOST_DEVICE chunk_gradients(M& machine, Arguments const& a, index block)
      : machine_(machine),
        a_(a),
        head_(block % a.shape.heads),
        number_(block / a.shape.heads),
        sequence_(sequence_of_chunk(a.sequences, number_)),
        first_((number_ - first_chunk(a.sequences, sequence_)) * form::tokens),
        sums_(a.sums + block * a.pieces * parts_.size()) {}

  WANE_INLINE void operator()() {
    sequence_tokens const of_sequence(a_.sequences, sequence_);
    if (first_ >= of_sequence.count) return;
    auto const place_of = [&](int t) { return of_sequence.at(first_ + t, head_); };
    int const present = static_cast<int>(at_most(index{form::tokens}, of_sequence.count - first_));
    bring(place_of(at_most(terms_.token(), present - 1)), terms_.token() < present,
          present == form::tokens);
    add_pairs();
    machine_.barrier();
    for (int i = machine_.thread(); i < a_.shape.rows; i += Config::threads) take_row(i);
    machine_.barrier();
    int const t = machine_.thread();
    if (t < present) give(place_of(t), t);
  }

 private:
  static constexpr int pairs = chunk_sums<Token>::pairs;

  WANE_INLINE void bring(place<> where, bool present, bool all) const {
    typename terms::sight seen;
    Token const x = terms_.shared_token(where);
    terms_.whole_or_not(all, [&](auto whole) WANE_INLINE_LAMBDA {
      auto const put = [&](int i, row_terms const& r) WANE_INLINE_LAMBDA {
        int const to = terms_.token() * form::stride + i;
        arrays_.template put<float>(form::at.query, to, r.query);
        arrays_.template put<float>(form::at.key, to, r.key);
        arrays_.template put<float>(form::at.read, to, r.read);
        arrays_.template put<float>(form::at.write, to, r.write);
        if constexpr (form::by_row) arrays_.template put<float>(form::at.decay, to, r.decay);
      };
      terms_.bring_rows(x, present, whole, seen, put);
    });
  }
  // A number summed over the pieces of the head, in their order.
  WANE_INLINE float sum(index number) const {
    float total = 0;
    for (index p = 0; p < a_.pieces; ++p)
      total += static_cast<float>(sums_[p * parts_.size() + number]);
    return total;
  }
  // A token that reads before it writes makes no pair with itself.
  WANE_INLINE void add_pairs() const {
    for (int n = machine_.thread(); n < 4 * pairs; n += Config::threads) {
      int const kind = n / pairs, t = n % pairs / form::tokens, s = n % form::tokens;
      bool const there = kind == 0 || (kind == 1 && form::erases) || form::general;
      bool const counts = there && (s < t || (s == t && !strictly_causal<Token>));
      arrays_.template put<float>(form::at.pair_gradients, n,
                                  counts ? sum(parts_.of_pair(kind, t, s)) : 0.f);
    }
  }

  // For every token the gradients of row i overwrite the terms of row i.
  WANE_INLINE void take_row(int i) const {
    std::size_t const terms_of[] = {form::at.key, form::at.query, form::at.read, form::at.write};
    std::size_t const gradients[] = {form::at.decay_gradient, form::at.key, form::at.query,
                                     form::at.read, form::at.write};
    of::take(
        [&](int kind, int t) WANE_INLINE_LAMBDA {
          int const from = t * form::stride + i;
          return kind < 4 ? arrays_.template get<float>(terms_of[kind], from)
                          : terms_.factor(arrays_.template get<float>(form::at.decay,
                                                                      form::by_row ? from : t));
        },
        [&](int n) WANE_INLINE_LAMBDA { return sum(parts_.of_row(n, i)); },
        [&](int kind, int t, int s) WANE_INLINE_LAMBDA {
          return arrays_.template get<float>(form::at.pair_gradients,
                                             kind * pairs + t * form::tokens + s);
        },
        [&](int kind, int t, float x) WANE_INLINE_LAMBDA {
          arrays_.template put<float>(gradients[kind], t * form::stride + i, x);
        });
  }

  WANE_INLINE void give(place<> where, int t) const {
    auto const row_of = [&](std::size_t array) {
      return arrays_.template shared<float>(array) + t * form::stride;
    };
    float* const decay = row_of(form::at.decay_gradient);
    double of_head = 0;
    for (int i = 0; i < a_.shape.rows; ++i)
      of_head += static_cast<double>(machine_.read_shared(static_cast<float const*>(decay + i)));
    float direct = 0;
    if constexpr (has_direct<Token>) direct = sum(parts_.of_direct(t));
    give_token(sink_at(a_.gradients, a_.op, where),
               all_gradients<float>{a_.shape.rows,
                                    false,
                                    decay,
                                    row_of(form::at.key),
                                    row_of(form::at.query),
                                    row_of(form::at.read),
                                    row_of(form::at.write),
                                    {static_cast<float>(of_head), direct}});
  }

  M& machine_;
  Arguments const& a_;
  shared_arrays<M> const arrays_{machine_};
  terms const terms_{machine_, a_};
  chunk_sums<Token> const parts_{whole_rows(a_.shape.rows)};
  index const head_, number_, sequence_, first_;
  typename Precision::stored const* const sums_;
};

}  // namespace wane::cuda::impl
