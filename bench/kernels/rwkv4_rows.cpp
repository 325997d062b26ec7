// The rows of rwkv4: H heads of D channels.
// SPDX-License-Identifier: MIT
#include <memory>

#include "kernels/buffers.hpp"
#include "kernels/passes.hpp"
#include "kernels/row.hpp"
#include "kernels/rwkv4_loops.hpp"
#include "shared/larger.hpp"
#include "wane/operators/rwkv4.hpp"

namespace wane::bench {
namespace {

struct rwkv4_problem {
  index tokens, heads, size, channels = heads * size;
  buffers memory;
  numbers next;
  rwkv4_arrays<float> p{tokens,
                        channels,
                        some(tokens* channels, -2, 2),
                        some(tokens* channels, -1, 1),
                        some(channels, -1, -0.001),
                        some(channels, -1, 1),
                        memory.add<float>(tokens* channels),
                        some(tokens* channels, -1, 1),
                        memory.add<float>(tokens* channels),
                        memory.add<float>(tokens* channels),
                        memory.add<float>(channels),
                        memory.add<float>(channels)};
  recurrent_state<float> state{1, heads, 3, size};

  rwkv4_problem(index of_heads, index of_size, index of_tokens)
      : tokens(of_tokens), heads(of_heads), size(of_size) {}

  float* some(index count, double low, double high) {
    float* const x = memory.add<float>(count);
    for (index i = 0; i < count; ++i) x[i] = static_cast<float>(next(low, high));
    return x;
  }
  template <class T>
  sequence_view<T> all(T* x) const {
    return {x, 1, tokens, heads, size};
  }
  template <class T>
  view<T, 2> parameter(T* x) const {
    return {x, heads, size};
  }
  rwkv4<float> make(index begin, index end) const {
    return rwkv4<float>({.key = all(p.key).tokens(begin, end),
                         .value = all(p.value).tokens(begin, end),
                         .log_decay = parameter(p.log_decay),
                         .bonus = parameter(p.bonus)});
  }
  void forward() { timed_run(make(0, tokens), all(p.y), run_options<float>{.threads = 1}); }
  void step_by_step() {
    for (index t = 0; t < tokens; ++t)
      timed_step(make(t, t + 1), all(p.y).tokens(t, t + 1), state_view<float>(state));
  }
  void backward() {
    timed_adjoint(make(0, tokens), all(p.dy),
                  rwkv4<float>::gradients{.key = all(p.to_key),
                                          .value = all(p.to_value),
                                          .log_decay = parameter(p.to_log_decay),
                                          .bonus = parameter(p.to_bonus)},
                  adjoint_options<float>{.threads = 1});
  }
  std::vector<std::span<float>> outputs(pass what) const {
    auto const n = static_cast<std::size_t>(tokens * channels);
    auto const c = static_cast<std::size_t>(channels);
    if (what != pass::backward) return {{p.y, n}};
    return {{p.to_key, n}, {p.to_value, n}, {p.to_log_decay, c}, {p.to_bonus, c}};
  }
  // The largest difference of an output from the plain loop in double, over its largest number.
  double error(pass what) const {
    auto const n = static_cast<std::size_t>(tokens * channels);
    auto const c = static_cast<std::size_t>(channels);
    auto const wide = [](float const* x, std::size_t count) {
      return std::vector<double>(x, x + count);
    };
    auto const key = wide(p.key, n), value = wide(p.value, n), decay = wide(p.log_decay, c),
               bonus = wide(p.bonus, c), dy = wide(p.dy, n);
    std::vector<double> y(n), to_key(n), to_value(n), to_decay(c), to_bonus(c);
    rwkv4_arrays<double> const x{tokens,        channels,        key.data(),      value.data(),
                                 decay.data(),  bonus.data(),    y.data(),        dy.data(),
                                 to_key.data(), to_value.data(), to_decay.data(), to_bonus.data()};
    std::vector<std::vector<double> const*> exact{&y};
    if (what == pass::backward) {
      plain_backward(x);
      exact = {&to_key, &to_value, &to_decay, &to_bonus};
    } else {
      plain_forward(x);
    }
    double worst = 0;
    for (std::size_t k = 0; k < exact.size(); ++k) {
      double apart = 0, largest = 0;
      for (std::size_t i = 0; i < exact[k]->size(); ++i) {
        largest = larger(largest, std::abs((*exact[k])[i]));
        apart = larger(apart, std::abs(static_cast<double>(outputs(what)[k][i]) - (*exact[k])[i]));
      }
      worst = larger(worst, apart / largest);
    }
    return worst;
  }
};

void add(pass what, index heads, index size, index tokens) {
  add_row("rwkv4" + name_of(what) + "/H:" + std::to_string(heads) + "/D:" + std::to_string(size) +
              "/T:" + std::to_string(tokens) + "/threads:1",
          [=] {
            auto const p = std::make_shared<rwkv4_problem>(heads, size, tokens);
            contest c;
            c.tokens = static_cast<double>(tokens);
            // Of the equations: 11 forward and 21 back, without exponentials.
            c.flops =
                (what == pass::backward ? 21. : 11.) * static_cast<double>(tokens * p->channels);
            c.outputs = p->outputs(what);
            c.error = [p, what] { return p->error(what); };
            if (what == pass::backward) {
              c.ours = [p] { p->backward(); };
              c.rivals = {{"vs_naive", [p] { eigen_backward(p->p); }},
                          {"vs_sequential", [p] { plain_backward(p->p); }}};
              return c;
            }
            c.ours = [p, what] {
              if (what == pass::forward) return p->forward();
              std::fill(p->state.values().begin(), p->state.values().end(), 0.f);
              p->step_by_step();
            };
            c.rivals = {{"vs_naive", [p] { eigen_forward(p->p); }},
                        {"vs_sequential", [p] { plain_forward(p->p); }}};
            return c;
          });
}

}  // namespace

void add_rwkv4_rows() {
  for (pass const what : {pass::forward, pass::step, pass::backward}) add(what, 16, 64, 512);
  for (pass const what : {pass::forward, pass::backward}) add(what, 1, 768, 1024);
}

}  // namespace wane::bench
