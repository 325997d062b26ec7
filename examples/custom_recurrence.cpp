// A recurrence wane does not ship: written as terms, it gets every runner, and the laws check it.
// SPDX-License-Identifier: MIT
#include <array>
#include <cstdio>
#include <random>
#include <span>
#include <vector>
#include <wane/testing/adjoint_laws.hpp>
#include <wane/wane.hpp>

// The minimal gated unit (Feng et al. 2024, "Were RNNs all we needed?"):
//   h_t = (1 - z_t) h_{t-1} + z_t x_t,   z_t = sigmoid(g_t)        g, x, h: [B, T, H, C]
// 1 - z = 1 / (1 + e^g) and z = e^g / (1 + e^g), so that neither loses digits near 0.
template <class T>
struct minimal_gated_unit {
  using accumulate = T;
  static constexpr bool is_channelwise = true;

  wane::sequence_view<T const> gate, input;

  wane::recurrence_shape shape() const {
    return {input.extent[0], input.extent[1], input.extent[2], 1, input.extent[3]};
  }
  wane::layout layout() const { return layout_of(gate, input); }

  // e^g of a number, or of a vector of them.
  static auto grown(auto g) { return wane::factor_of(wane::decay_from_log(g)); }

  template <class Time>
  struct token {
    minimal_gated_unit const& op;
    wane::place<Time> where;

    auto decay(wane::index, auto j) const {
      auto const e = grown(op.gate.read(where, j));
      return decltype(e)(T(1)) / (e + decltype(e)(T(1)));
    }
    auto value(auto j) const {
      return grown(op.gate.read(where, j)) * decay(0, j) * op.input.read(where, j);
    }
  };
  template <class Time>
  token<Time> at(wane::place<Time> where) const {
    return {*this, where};
  }

  struct gradients;
};

// The chain rule from dL/d(1 - z) and dL/d(z x) to the gate and the input.
template <class T>
struct minimal_gated_unit<T>::gradients {
  minimal_gated_unit op;
  wane::sequence_view<T> gate, input;

  wane::layout layout() const { return layout_of(gate, input); }

  struct sink {
    gradients const& to;
    wane::place<> where;

    template <class Column, class V>
    void element(Column j, wane::element_gradient<V> g) const {
      V const x = to.op.input.read(where, j), rest = to.op.at(where).decay(0, j);
      V const z = grown(to.op.gate.read(where, j)) * rest;
      to.input.write(where, j, z * g.value);
      to.gate.write(where, j, z * rest * (x * g.value - g.decay));
    }
  };
  sink at(wane::place<> where) const { return {*this, where}; }
};

static_assert(wane::channelwise<minimal_gated_unit<float>>);
static_assert(wane::reads_lanes<minimal_gated_unit<float>>);

// The problem for the law kit: data, the operator over a piece of it, and gradient buffers.
template <class T>
struct problem {
  wane::recurrence_shape shape;
  std::vector<T> gate, input, gate_gradient, input_gradient;

  explicit problem(wane::recurrence_shape const& of) : shape(of) {
    std::mt19937_64 bits(1);
    auto const count = static_cast<std::size_t>(of.batch * of.time * of.heads * of.columns);
    gate = wane::testing::random_numbers<T>(count, bits);
    input = wane::testing::random_numbers<T>(count, bits);
    gate_gradient = input_gradient = std::vector<T>(count);
  }
  template <class U>
  wane::sequence_view<U> view(U* values) const {
    return {values, shape.batch, shape.time, shape.heads, shape.columns};
  }
  wane::index time() const { return shape.time; }
  minimal_gated_unit<T> make(wane::index begin, wane::index end) const {
    return {view(gate.data()).tokens(begin, end), view(input.data()).tokens(begin, end)};
  }
  std::array<std::span<T>, 2> inputs() { return {gate, input}; }
  std::array<std::span<T>, 2> input_gradients() { return {gate_gradient, input_gradient}; }
  auto gradients() {
    return typename minimal_gated_unit<T>::gradients{make(0, time()), view(gate_gradient.data()),
                                                     view(input_gradient.data())};
  }
};

int main() {
  // Many channels fill vectors with columns, one channel with tokens; the adjoint is for double.
  auto results = wane::testing::check_laws(problem<float>({1, 300, 2, 19}), 1e-6);
  for (auto const& law : wane::testing::check_laws(problem<float>({1, 300, 1, 1}), 1e-6))
    results.push_back(law);
  problem<double> differentiable({2, 100, 2, 9});
  for (auto const& law : wane::testing::check_adjoint_laws(differentiable)) results.push_back(law);
  bool all = true;
  for (auto const& law : results) {
    std::printf("%-36s error %-8.1e bound %-8.1e %s\n", law.law.c_str(), law.error, law.bound,
                law.holds() ? "holds" : "FAILS");
    all = all && law.holds();
  }
  return all ? 0 : 1;
}
