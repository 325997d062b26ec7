// GATED_LINEAR_ATTN, RWKV_WKV7, GATED_DELTA_NET and SSM_SCAN: ggml's tensors as wane's views.
// SPDX-License-Identifier: MIT
#include <cmath>

#include "ggml/naive.hpp"
#include "ggml/operation.hpp"
#include "ggml/operators.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/kimi_delta_attention.hpp"
#include "wane/operators/mamba1.hpp"
#include "wane/operators/mamba2.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {

float* operation::short_rows(index count, index width) {
  double const most = 1 / std::sqrt(static_cast<double>(width));
  return filled(count * width, -most, most);
}

namespace {

std::vector<double> row(float const* from, index width) { return {from, from + width}; }

// Tensors {D, H, T} in ggml's notation, the first extent fastest, are wane's [T, H, D].
class with_heads : public operation {
 protected:
  explicit with_heads(ggml_shape const& s)
      : operation(s),
        query_(short_rows(s.heads * s.tokens, s.size)),
        key_(short_rows(s.heads * s.tokens, s.size)),
        value_(filled(s.heads * s.tokens * s.size, -1, 1)) {
    make_room(s.heads * s.tokens * s.size, s.heads * s.size * s.size);
  }
  float* rows_in(double low, double high) {
    return filled(shape_.heads * shape_.tokens * shape_.size, low, high);
  }
  template <class T>
  sequence_view<T> all(T* x) const {
    return {x, 1, shape_.tokens, shape_.heads, shape_.size};
  }
  sequence_view<float const> read(float const* x) const { return all(x); }
  // States {V, K, H}: the value channels fastest. Or {K, V, H}: the keys.
  template <class T>
  state_view<T> states(T* x, bool keys_fastest) const {
    index const d = shape_.size, heads = shape_.heads;
    return {
        {x, {1, heads, d, d}, {heads * d * d, d * d, keys_fastest ? 1 : d, keys_fastest ? d : 1}}};
  }
  template <class Op>
  void run_on(Op const& op, bool keys_fastest, int threads) {
    run(op, all(dst_),
        run_options<float>{.initial = states<float const>(state_, keys_fastest),
                           .final = states(dst_ + outputs_, keys_fastest),
                           .threads = threads});
  }

  // own(x, at) adds what an operation has of its own to token x, whose rows begin at `at`.
  template <class Own>
  std::vector<double> by_loop(bool keys_fastest, double scale, Own const& own) const {
    auto const [heads, d, tokens] = shape_;
    std::vector<double> all = expected_room();
    for (index h = 0; h < heads; ++h)
      naive_head(
          tokens,
          [&, d = d, heads = heads](index t) {
            index const token = t * heads + h, at = token * d;
            naive_token x{row(query_ + at, d), row(key_ + at, d), row(value_ + at, d), {}, {}, {}};
            for (double& q : x.query) q *= scale;
            own(x, token);
            return x;
          },
          all.data() + outputs_ + h * d * d,
          [&, d = d](index i, index j) { return keys_fastest ? j * d + i : i * d + j; },
          [&, d = d, heads = heads](index t, index j, double y) {
            all[static_cast<std::size_t>((t * heads + h) * d + j)] = y;
          });
    return all;
  }

  float *query_, *key_, *value_;
};

// k, v, q, g {D, H, T}, g a factor; state {D of v, D of k, H}.
class gated_linear_attn : public with_heads {
 public:
  explicit gated_linear_attn(ggml_shape const& s) : with_heads(s), factor_(rows_in(0.9, 1)) {}
  void take(int threads) override {
    run_on(ggml_gla{{read(query_), read(key_), read(value_), read(factor_), scale()}}, false,
           threads);
  }
  std::vector<double> expected() const override {
    return by_loop(false, scale(), [&](naive_token& x, index token) {
      x.decay = row(factor_ + token * shape_.size, shape_.size);
    });
  }

 private:
  float scale() const { return 1 / std::sqrt(static_cast<float>(shape_.size)); }
  float* factor_;
};

// r, w, k, v, a, b {D, H, T}, w a factor; state {D of k, D of v, H}.
class rwkv_wkv7 : public with_heads {
 public:
  explicit rwkv_wkv7(ggml_shape const& s)
      : with_heads(s),
        factor_(rows_in(0.9, 1)),
        a_(short_rows(s.heads * s.tokens, s.size)),
        b_(rows_in(0.1, 0.9)) {
    for (index i = 0; i < outputs_; ++i) b_[i] *= -a_[i];
  }
  void take(int threads) override {
    run_on(ggml_wkv7{{read(query_), read(key_), read(value_), read(factor_)}, read(a_), read(b_)},
           true, threads);
  }
  std::vector<double> expected() const override {
    return by_loop(true, 1, [&](naive_token& x, index token) {
      index const d = shape_.size, at = token * d;
      x.decay = row(factor_ + at, d), x.a = row(a_ + at, d), x.b = row(b_ + at, d);
    });
  }

 private:
  float *factor_, *a_, *b_;
};

// q, k, v {D, H, T}, g {1 or D, H, T}, a logarithm, beta {1, H, T}; state {D of k, D of v, H}.
template <bool ByRow>
class gated_delta : public with_heads {
 public:
  explicit gated_delta(ggml_shape const& s)
      : with_heads(s),
        width_(ByRow ? s.size : 1),
        log_decay_(filled(s.heads * s.tokens * width_, -0.1, -0.001)),
        strength_(filled(s.heads * s.tokens, 0.1, 0.9)) {}
  void take(int threads) override {
    delta_inputs<float> const in{.query = read(query_),
                                 .key = read(key_),
                                 .value = read(value_),
                                 .strength = {strength_, 1, shape_.tokens, shape_.heads}};
    keyed_options const options{.groups = head_groups::tiled};
    if constexpr (ByRow)
      run_on(kimi_delta_attention(in, read(log_decay_), options), true, threads);
    else
      run_on(gated_delta_net<float>(in, {log_decay_, 1, shape_.tokens, shape_.heads}, options),
             true, threads);
  }
  std::vector<double> expected() const override {
    double const scale = 1 / std::sqrt(static_cast<double>(shape_.size));
    return by_loop(true, scale, [&](naive_token& x, index token) {
      for (index i = 0; i < shape_.size; ++i)
        x.decay.push_back(std::exp(double(log_decay_[token * width_ + (ByRow ? i : 0)])));
      x.corrects = true, x.strength = strength_[token];
    });
  }

 private:
  index width_;
  float *log_decay_, *strength_;
};

// x {P, H, T}, dt {H, T}, A {1, H} or {N, H}, B and C {N, 1, T}; state {N, P, H}; softplus of dt.
// Mamba-1 is P = 1 with a head for each of its channels.
template <bool Mamba2>
class ssm_scan : public operation {
 public:
  explicit ssm_scan(ggml_shape const& s)
      : operation(s),
        channels_(Mamba2 ? s.size : 1),
        heads_(Mamba2 ? s.heads : s.heads * s.size),
        x_(filled(s.tokens * heads_ * channels_, -1, 1)),
        dt_(filled(s.tokens * heads_, -4.5, -2)),
        rates_(filled(heads_ * rates_a_head, -16, -0.1)),
        B_(filled(s.tokens * states, -1, 1)),
        C_(filled(s.tokens * states, -1, 1)) {
    make_room(s.tokens * heads_ * channels_, heads_ * channels_ * states);
  }
  void take(int threads) override {
    index const tokens = shape_.tokens, wide = heads_ * channels_;
    sequence_view<float const> const B(B_, 1, tokens, 1, states), C(C_, 1, tokens, 1, states);
    if constexpr (Mamba2) {
      mamba2<float> const op({.x = {x_, 1, tokens, heads_, channels_},
                              .dt = {dt_, 1, tokens, heads_},
                              .A = {rates_, heads_},
                              .B = B,
                              .C = C},
                             {.dt_softplus = true});
      run(op, sequence_view<float>(dst_, 1, tokens, heads_, channels_), options(threads));
    } else {
      mamba1<float> const op({.x = {x_, 1, tokens, 1, wide},
                              .dt = {dt_, 1, tokens, 1, wide},
                              .A = {rates_, 1, wide, states},
                              .B = B,
                              .C = C},
                             {.dt_softplus = true});
      run(op, sequence_view<float>(dst_, 1, tokens, 1, wide), options(threads));
    }
  }
  std::vector<double> expected() const override {
    std::vector<double> all = expected_room();
    for (index h = 0; h < heads_; ++h)
      naive_head(
          shape_.tokens,
          [&](index t) {
            index const token = t * heads_ + h;
            double const delta = std::log1p(std::exp(double(dt_[token])));
            naive_token x{row(C_ + t * states, states),
                          row(B_ + t * states, states),
                          row(x_ + token * channels_, channels_),
                          {},
                          {},
                          {}};
            for (double& value : x.value) value *= delta;
            for (index n = 0; n < states; ++n)
              x.decay.push_back(
                  std::exp(delta * double(rates_[Mamba2 ? h : h * rates_a_head + n])));
            return x;
          },
          all.data() + outputs_ + h * channels_ * states,
          [&](index n, index p) { return p * states + n; },
          [&](index t, index p, double y) {
            all[static_cast<std::size_t>((t * heads_ + h) * channels_ + p)] = y;
          });
    return all;
  }

 private:
  static constexpr index states = Mamba2 ? 128 : 16, rates_a_head = Mamba2 ? 1 : states;

  // wane has the N states as rows; the channels of Mamba-1 are the columns of one head.
  template <class T>
  state_view<T> states_at(T* x) const {
    index const heads = Mamba2 ? heads_ : 1, columns = Mamba2 ? channels_ : heads_;
    return {
        {x, {1, heads, states, columns}, {heads * columns * states, columns * states, 1, states}}};
  }
  run_options<float> options(int threads) const {
    return {.initial = states_at<float const>(state_),
            .final = states_at(dst_ + outputs_),
            .threads = threads};
  }

  index channels_, heads_;
  float *x_, *dt_, *rates_, *B_, *C_;
};

template <class Operation>
std::unique_ptr<operation> made(ggml_shape const& shape) {
  return std::make_unique<Operation>(shape);
}

}  // namespace

std::vector<named_operation> const& operations() {
  static std::vector<named_operation> const all{
      {"GATED_LINEAR_ATTN", made<gated_linear_attn>},
      {"RWKV_WKV7", made<rwkv_wkv7>},
      {"GATED_DELTA_NET", made<gated_delta<false>>},
      {"GATED_DELTA_NET/gate:channel", made<gated_delta<true>>},
      {"SSM_SCAN/mamba:2/N:128", made<ssm_scan<true>>},
      {"SSM_SCAN/mamba:1/N:16", made<ssm_scan<false>>}};
  return all;
}

}  // namespace wane::bench
