// Gradients of parameters on a GPU: memory for their parts, and the kernel that adds them up.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "wane/core/numbers/wider.hpp"
#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/cuda/call/workspace.hpp"
#include "wane/cuda/machine/kernel.hpp"

namespace wane::cuda::impl {

// A thread adds up 64 parts of one number. Its sum is a part of the next launch, until one is left.
inline constexpr index parts_of_a_sum = 64;
inline index sums_of_parts(index parts) {
  return at_least(index{1}, (parts + parts_of_a_sum - 1) / parts_of_a_sum);
}

// from: `parts` parts of `numbers` numbers. To is a view of the numbers, or a pointer to sums.
template <class From, class To>
struct parameter_sum_arguments {
  recurrence_shape shape;
  From const* from;
  index parts, numbers;
  To to;

  index sums() const { return sums_of_parts(parts) * numbers; }
};

struct parameter_sum_kernel {
  template <class Config>
  static constexpr int threads = 256;
  template <class Config, class Arguments>
  static constexpr int resident = 1;
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const&) {
    return 0;
  }
  template <class Config, machine M, class From, class To>
  WANE_HOST_DEVICE static void run(M& machine, parameter_sum_arguments<From, To> const& a,
                                   index block) {
    index const sum = block * M::threads + machine.thread();
    index const first = sum / a.numbers * parts_of_a_sum, number = sum % a.numbers;
    if (first > 0 && first >= a.parts) return;
    index const end = at_most(first + parts_of_a_sum, a.parts);
    using wide = wider<From>;
    wide total(0);
    for (index n = first; n < end; ++n) total += static_cast<wide>(a.from[n * a.numbers + number]);
    if constexpr (std::is_pointer_v<To>)
      a.to[sum] = total;
    else
      element_of_number(a.to, number) =
          static_cast<typename std::remove_cvref_t<To>::value_type>(total);
  }
};

// Where a workspace holds the parts of a parameter, and two rounds of their sums, in bytes.
template <class Parameter>
struct parts_in_workspace {
  using part = typename Parameter::part;
  using wide = wider<part>;
  index numbers, count;
  std::size_t parts, sums, sums_of_sums;

  parts_in_workspace(room& at, recurrence_shape const& shape, index sequences, auto... extents) {
    auto const all = Parameter::parts_in(nullptr, shape, sequences, extents...);
    numbers = (index{1} * ... * extents);
    count = numbers == 0 ? 0 : numbers_in(all) / numbers;
    index const left = sums_of_parts(count);
    parts = at.take(numbers * count, sizeof(part));
    sums = at.take(numbers * left, sizeof(wide));
    sums_of_sums = at.take(numbers * sums_of_parts(left), sizeof(wide));
  }
};

// The bytes of workspace for the parts of all parameters.
template <class Gradients>
std::size_t bytes_of_parts(recurrence_shape const& shape, index sequences) {
  room bytes;
  if constexpr (has_parameters<Gradients>) {
    Gradients all;
    Gradients::each_parameter(all, shape, [&]<class Parameter>(Parameter&, auto... extents) {
      parts_in_workspace<Parameter>(bytes, shape, sequences, extents...);
    });
  }
  return bytes.bytes;
}

template <class Queue, class From, class To>
void queue_sums_of_parts(Queue const& queue, parameter_sum_arguments<From, To> const& a) {
  constexpr index threads = parameter_sum_kernel::threads<no_config>;
  queue.template run_blocks<parameter_sum_kernel, no_config>(a, (a.sums() + threads - 1) / threads);
}

// Adds up the parts of one parameter: sums of 64 parts, of 64 of these sums, and so on.
template <class Queue, class Parameter>
void queue_parameter(Queue const& queue, Parameter const& to,
                     parts_in_workspace<Parameter> const& its, recurrence_shape const& shape,
                     std::byte* memory) {
  using wide = typename parts_in_workspace<Parameter>::wide;
  using View = typename Parameter::sums;
  wide *sums = reinterpret_cast<wide*>(memory + its.sums),
       *next = reinterpret_cast<wide*>(memory + its.sums_of_sums);
  index const numbers = its.numbers;
  index left = sums_of_parts(its.count);
  if (left == 1)
    return queue_sums_of_parts(queue, parameter_sum_arguments<typename Parameter::part, View>{
                                          shape, to.parts.data, its.count, numbers, to});
  queue_sums_of_parts(queue, parameter_sum_arguments<typename Parameter::part, wide*>{
                                 shape, to.parts.data, its.count, numbers, sums});
  for (; left > parts_of_a_sum; left = sums_of_parts(left), std::swap(sums, next))
    queue_sums_of_parts(queue,
                        parameter_sum_arguments<wide, wide*>{shape, sums, left, numbers, next});
  queue_sums_of_parts(queue, parameter_sum_arguments<wide, View>{shape, sums, left, numbers, to});
}

// Queues adjoint(gradients, its memory), whose kernels need `own` bytes of the workspace, with
// memory for the parts of the parameters that are present; then their sums.
template <class Queue, class Gradients, class Adjoint>
void queue_with_parts(Queue const& queue, Gradients const& to, recurrence_shape const& shape,
                      index sequences, std::size_t own, workspace const& memory,
                      Adjoint const& adjoint) {
  auto* const start = static_cast<std::byte*>(memory.data);
  auto const each = [&](Gradients& of, auto const& visit) {
    room bytes{rounded_up(own)};
    Gradients::each_parameter(of, shape, [&]<class Parameter>(Parameter& x, auto... extents) {
      if (x.data)
        visit(x, parts_in_workspace<Parameter>(bytes, shape, sequences, extents...), extents...);
    });
    return bytes.bytes;
  };
  Gradients lent = to;
  check_workspace(memory, each(lent, [](auto const&...) {}), "adjoint_workspace_bytes_for");
  each(lent, [&](auto& x, auto const& its, auto... extents) {
    using part = typename std::remove_cvref_t<decltype(x)>::part;
    auto* const parts = reinterpret_cast<part*>(start + its.parts);
    x.parts = x.parts_in(parts, shape, sequences, extents...);
    queue.zero(parts, static_cast<std::size_t>(its.numbers * its.count) * sizeof(part));
  });
  adjoint(lent);
  each(lent,
       [&](auto& x, auto const& its, auto...) { queue_parameter(queue, x, its, shape, start); });
}

}  // namespace wane::cuda::impl
