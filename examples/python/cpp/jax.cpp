// Calls of memories from programs that JAX compiles, by XLA's foreign functions.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <exception>

#include "memories.hpp"
#include "xla/ffi/api/ffi.h"

namespace wane_python {
namespace {

namespace ffi = xla::ffi;

// In DLPack's code and bits; float8 stands for all types that no memory has.
struct number_type {
  std::uint8_t code, bits;
};
number_type type_of(ffi::DataType type) {
  switch (type) {
    case ffi::DataType::F32:
      return {2, 32};
    case ffi::DataType::F64:
      return {2, 64};
    case ffi::DataType::C64:
      return {5, 64};
    case ffi::DataType::C128:
      return {5, 128};
    case ffi::DataType::S32:
      return {0, 32};
    case ffi::DataType::S64:
      return {0, 64};
    default:
      return {2, 8};
  }
}

// Entry `number` of a buffer with `leading` dimensions before its own: under vmap there are some.
wane::dlpack_tensor entry_of(ffi::AnyBuffer const& buffer, std::size_t leading, index number) {
  auto const extents = buffer.dimensions();
  auto const type = type_of(buffer.element_type());
  index size = type.bits / 8;
  for (std::size_t i = leading; i < extents.size(); ++i) size *= extents[i];
  return {static_cast<char*>(buffer.untyped_data()) + number * size,
          {1, 0},
          static_cast<std::int32_t>(extents.size() - leading),
          {type.code, type.bits, 1},
          const_cast<std::int64_t*>(extents.begin() + leading),
          nullptr,
          0};
}

// Operands and results lie in the slots that `given` and `wanted` name: those of the inputs, then
// initial, starts, dL/d(output), dL/d(final); of results, output and final, or gradients of the
// inputs and of initial.
ffi::Error carry_out(ffi::RemainingArgs operands, ffi::RemainingRets results, std::string_view name,
                     ffi::Span<double const> options, ffi::Span<std::int64_t const> given,
                     ffi::Span<std::int64_t const> wanted, bool is_adjoint, bool is_reverse,
                     std::int32_t threads) try {
  memory const* of = nullptr;
  for (memory const& each : memories())
    if (each.name == name) of = &each;
  wane::require(of != nullptr, "there is no memory ", std::string(name));
  std::size_t const inputs = of->inputs.size();

  std::vector<ffi::AnyBuffer> read, written;
  for (std::size_t i = 0; i < operands.size(); ++i)
    read.push_back(*operands.get<ffi::AnyBuffer>(i));
  for (std::size_t i = 0; i < results.size(); ++i)
    written.push_back(**results.get<ffi::AnyBuffer>(i));
  // The output, or its gradient, is [B, T, H, V] without vmap.
  auto const by_output =
      std::find(given.begin(), given.end(), static_cast<std::int64_t>(inputs) + 2) - given.begin();
  ffi::AnyBuffer const& output =
      is_adjoint ? read.at(static_cast<std::size_t>(by_output)) : written[0];
  wane::require(output.dimensions().size() >= 4, "the output has ", output.dimensions().size(),
                " dimensions; it must have 4");
  std::size_t const leading = output.dimensions().size() - 4;
  index entries = 1;
  for (std::size_t i = 0; i < leading; ++i) entries *= output.dimensions()[i];

  for (index n = 0; n < entries; ++n) {
    std::vector<wane::dlpack_tensor> from(inputs + 4), to(inputs + 2);
    for (std::size_t i = 0; i < read.size(); ++i)
      from[static_cast<std::size_t>(given[i])] = entry_of(read[i], leading, n);
    for (std::size_t i = 0; i < written.size(); ++i)
      to[static_cast<std::size_t>(wanted[i])] = entry_of(written[i], leading, n);
    std::vector<index> const starts = starts_of(from[inputs + 1]);
    call at;
    at.inputs = {of->inputs, {from.data(), inputs}};
    at.gradients = {of->inputs, {to.data(), inputs}};
    at.options = {of->options, {options.begin(), options.end()}};
    at.initial = from[inputs];
    at.output = is_adjoint ? from[inputs + 2] : to[0];
    at.final = is_adjoint ? from[inputs + 3] : to[1];
    if (is_adjoint) at.initial_gradient = to[inputs];
    at.starts = starts;
    at.is_adjoint = is_adjoint, at.is_reverse = is_reverse, at.threads = threads;
    of->carry_out(at);
  }
  return ffi::Error::Success();
} catch (std::exception const& error) {
  return ffi::Error::InvalidArgument(error.what());
}

XLA_FFI_DEFINE_HANDLER(handler, carry_out,
                       ffi::Ffi::Bind()
                           .RemainingArgs()
                           .RemainingRets()
                           .Attr<std::string_view>("name")
                           .Attr<ffi::Span<double const>>("options")
                           .Attr<ffi::Span<std::int64_t const>>("given")
                           .Attr<ffi::Span<std::int64_t const>>("wanted")
                           .Attr<bool>("is_adjoint")
                           .Attr<bool>("is_reverse")
                           .Attr<std::int32_t>("threads"));

}  // namespace

void* xla_handler() { return reinterpret_cast<void*>(handler); }

}  // namespace wane_python
