// chunk_gradients: one thread of the kernel that makes sums over columns gradients of tokens.
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

// A block takes a chunk of a head: nothing that it needs waits for another.
template <class Config, class Precision, machine M, class Arguments>
class chunk_gradients : chunk_terms<Config, Precision, M, Arguments> {
  using base = chunk_terms<Config, Precision, M, Arguments>;
  using base::a_, base::at_, base::machine_;
  using base::tokens, base::by_row, base::fades, base::rows, base::stride;
  using typename base::Op, typename base::Token, typename base::row_terms;
  using of = term_gradients<chunk_form<Token>, base::in_logs>;
  using Sink = sink_of<decltype(Arguments::gradients), Op>;

 public:
  WANE_HOST_DEVICE chunk_gradients(M& machine, Arguments const& a, index block)
      : base(machine, a),
        head_(block % a.shape.heads),
        number_(block / a.shape.heads),
        sequence_(sequence_of_chunk(a.sequences, number_)),
        first_((number_ - first_chunk(a.sequences, sequence_)) * tokens),
        sums_(a.sums + block * a.pieces * parts_.size()) {}

  WANE_INLINE void operator()() {
    sequence_tokens const of_sequence(a_.sequences, sequence_);
    if (first_ >= of_sequence.count) return;
    auto const place_of = [&](int t) { return of_sequence.at(first_ + t, head_); };
    int const present = static_cast<int>(at_most(index{tokens}, of_sequence.count - first_));
    bring(place_of(at_most(this->token(), present - 1)), this->token() < present,
          present == tokens);
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
    typename base::sight seen;
    Token const x = this->token_at(where);
    this->whole_or_not(all, [&](auto whole) WANE_INLINE_LAMBDA {
      auto const put = [&](int i, row_terms const& r) WANE_INLINE_LAMBDA {
        int const to = this->token() * stride + i;
        this->template put<float>(at_.query, to, r.query);
        this->template put<float>(at_.key, to, r.key);
        this->template put<float>(at_.read, to, r.read);
        this->template put<float>(at_.write, to, r.write);
        if constexpr (by_row) this->template put<float>(at_.decay, to, r.decay);
      };
      this->bring_rows(x, present, whole, seen, put);
    });
  }
  // A number summed over the pieces of the head, in their order.
  WANE_INLINE float sum(index number) const {
    float total = 0;
    for (index p = 0; p < a_.pieces; ++p)
      total += static_cast<float>(sums_[p * parts_.size() + number]);
    return total;
  }
  // What a token reads before it writes is no pair.
  WANE_INLINE void add_pairs() const {
    for (int n = machine_.thread(); n < 4 * pairs; n += Config::threads) {
      int const kind = n / pairs, t = n % pairs / tokens, s = n % tokens;
      bool const there = kind == 0 || (kind == 1 && base::erases) || base::general;
      bool const counts = there && (s < t || (s == t && !strictly_causal<Token>));
      this->template put<float>(at_.pair_gradients, n,
                                counts ? sum(parts_.of_pair(kind, t, s)) : 0.f);
    }
  }

  // Gradients of row i of every token take the place of its terms.
  WANE_INLINE void take_row(int i) const {
    std::size_t const terms[] = {at_.key, at_.query, at_.read, at_.write};
    std::size_t const gradients[] = {at_.decay_gradient, at_.key, at_.query, at_.read, at_.write};
    of::take(
        [&](int kind, int t) WANE_INLINE_LAMBDA {
          int const from = t * stride + i;
          return kind < 4 ? this->template get<float>(terms[kind], from)
                          : this->factor(this->template get<float>(at_.decay, by_row ? from : t));
        },
        [&](int n) WANE_INLINE_LAMBDA { return sum(parts_.of_row(n, i)); },
        [&](int kind, int t, int s) WANE_INLINE_LAMBDA {
          return this->template get<float>(at_.pair_gradients, kind * pairs + t * tokens + s);
        },
        [&](int kind, int t, float x)
            WANE_INLINE_LAMBDA { this->template put<float>(gradients[kind], t * stride + i, x); });
  }

  WANE_INLINE void give(place<> where, int t) const {
    auto const row_of = [&](std::size_t array) {
      return this->template shared<float>(array) + t * stride;
    };
    float* const decay = row_of(at_.decay_gradient);
    double of_head = 0;
    for (int i = 0; i < a_.shape.rows; ++i)
      of_head += static_cast<double>(machine_.read_shared(static_cast<float const*>(decay + i)));
    float direct = 0;
    if constexpr (has_direct<Token>) direct = sum(parts_.of_direct(t));
    give_token(sink_at(a_.gradients, a_.op, where),
               all_gradients<float>{a_.shape.rows,
                                    false,
                                    decay,
                                    row_of(at_.key),
                                    row_of(at_.query),
                                    row_of(at_.read),
                                    row_of(at_.write),
                                    {static_cast<float>(of_head), direct}});
  }

  chunk_sums<Token> const parts_{whole_rows(a_.shape.rows)};
  index const head_, number_, sequence_, first_;
  typename Precision::stored const* const sums_;
};

}  // namespace wane::cuda::impl
