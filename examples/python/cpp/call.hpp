// One call from Python: tensors and options by name, whichever framework they are of.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <wane/dlpack.hpp>
#include <wane/wane.hpp>

namespace wane_python {

using wane::index;

// A tensor that is absent has a dtype of no bits.
inline bool is_present(wane::dlpack_tensor const& x) { return x.dtype.bits != 0; }

// Where packed sequences begin, and the end of the last, from a tensor of whole numbers; empty
// where it is absent.
inline std::vector<index> starts_of(wane::dlpack_tensor const& of) {
  std::vector<index> starts;
  if (!is_present(of)) return starts;
  auto const read = [&](auto zero) {
    auto const x = wane::view_of_dlpack<decltype(zero) const, 1>("cu_seqlens", of);
    wane::require(x.extent[0] > 0, "cu_seqlens is empty; it must begin with 0");
    for (index n = 0; n < x.extent[0]; ++n) starts.push_back(x(n));
  };
  of.dtype.bits == 32 ? read(std::int32_t()) : read(std::int64_t());
  return starts;
}

// The numbers that a function names: those of its tensors, or those of its options.
template <class T>
struct named_values {
  std::span<char const* const> names;
  std::span<T const> values;

  T const& at(std::string_view name) const {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) return values[i];
    throw wane::error("this memory has no tensor or option " + std::string(name));
  }
};

// The arguments of a run (output, initial, final), or of an adjoint, where `output` is dL/dy and
// `final` is dL/d(final state), and gradients are written.
class call {
 public:
  named_values<wane::dlpack_tensor> inputs, gradients;
  named_values<double> options;
  wane::dlpack_tensor output{}, initial{}, final{}, initial_gradient{};
  std::span<index const> starts;
  bool is_adjoint = false, is_reverse = false;
  int threads = 0;

  bool has(std::string_view name) const { return is_present(inputs.at(name)); }
  double option(std::string_view name) const { return options.at(name); }
  bool is_set(std::string_view name) const { return option(name) != 0; }

  // The tensor of that name; without data where it is absent.
  template <class T, int Rank>
  wane::view<T const, Rank> input(char const* name) const {
    return viewed<T const, Rank>(name, inputs.at(name));
  }
  // Where the gradient of that tensor goes; without data where it is not wanted.
  template <class T, int Rank>
  wane::view<T, Rank> gradient(char const* name) const {
    return is_adjoint ? viewed<T, Rank>(name, gradients.at(name)) : wane::view<T, Rank>();
  }

  // Runs the memory, or finds its gradients where `gradients()` says. Outputs are of type T.
  template <class T, class Memory, class Gradients>
  void carry_out(Memory const& memory, Gradients const& gradients) const {
    using state = wane::accumulate_type<Memory>;
    auto const direction = is_reverse ? wane::direction::reverse : wane::direction::forward;
    wane::packed_sequences const packed{starts};
    wane::state_view<state const> const before{viewed<state const, 4>("initial_state", initial)};
    if (is_adjoint)
      wane::adjoint(
          memory, viewed<T const, 4>("the gradient of the output", output), gradients(),
          {.initial = before,
           .final_gradient = {viewed<state const, 4>("the gradient of the final state", final)},
           .initial_gradient = {viewed<state, 4>("the gradient of initial_state",
                                                 initial_gradient)},
           .packed = packed,
           .direction = direction,
           .threads = threads});
    else
      wane::run(memory, viewed<T, 4>("the output", output),
                wane::run_options<state>{.initial = before,
                                         .final = {viewed<state, 4>("the final state", final)},
                                         .packed = packed,
                                         .direction = direction,
                                         .threads = threads});
  }

 private:
  template <class T, int Rank>
  static wane::view<T, Rank> viewed(char const* name, wane::dlpack_tensor x) {
    if (!is_present(x)) return {};
    // A tensor without numbers is present, though it may have no memory.
    alignas(16) static std::array<std::byte, 16> nothing;
    if (!x.data && std::find(x.shape, x.shape + x.ndim, 0) != x.shape + x.ndim)
      x.data = nothing.data();
    return wane::view_of_dlpack<T, Rank>(name, x);
  }
};

// The gradient of a tensor [B, T, G, K] that H heads share. The memory writes [B, T, H, K].
template <class T>
class grouped_gradient {
 public:
  grouped_gradient(call const& at, char const* name, index heads)
      : to_(at.gradient<T, 4>(name)), of_heads_(to_) {
    if (!to_.data || to_.extent[2] == heads) return;
    auto const& e = to_.extent;
    numbers_.resize(static_cast<std::size_t>(e[0] * e[1] * heads * e[3]));
    of_heads_ = {numbers_.data(), e[0], e[1], heads, e[3]};
  }

  wane::sequence_view<T> const& of_heads() const { return of_heads_; }
  void add_up() const {
    if (!numbers_.empty()) wane::sum_over_groups<T>(of_heads_, to_);
  }

 private:
  wane::sequence_view<T> to_, of_heads_;
  std::vector<T> numbers_;
};

// A memory, for float and for double, with the names of its tensors and options in order.
struct memory {
  char const* name;
  std::vector<char const*> inputs, options;
  void (*of_float)(call const&);
  void (*of_double)(call const&);

  // The output has the type of all tensors.
  void carry_out(call const& at) const { (at.output.dtype.bits == 64 ? of_double : of_float)(at); }
};
template <template <class> class Memory>
memory memory_of(char const* name, std::vector<char const*> inputs,
                 std::vector<char const*> options) {
  return {name, std::move(inputs), std::move(options), Memory<float>::carry_out,
          Memory<double>::carry_out};
}

}  // namespace wane_python
