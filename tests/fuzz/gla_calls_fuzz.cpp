// Calls of gla, by row and by head: whole, in pieces, by tokens, packed, padded, reversed, wrong.
// SPDX-License-Identifier: MIT
#include "fuzz/keyed_case.hpp"
#include "wane/operators/gla.hpp"

namespace {

using fuzz::index;

template <fuzz::decays By>
struct gla_case : fuzz::keyed_case {
  explicit gla_case(fuzz::input& in) : keyed_case(in, By) {}

  auto op(index begin, index end) const {
    wane::keyed_inputs<float> const tensors{.query = query.read(begin, end),
                                            .key = key.read(begin, end),
                                            .value = value.read(begin, end)};
    if constexpr (By == fuzz::decays::of_rows)
      return wane::gla<float>(tensors, decay.read(begin, end), options);
    else
      return wane::gla(tensors, fuzz::by_head(decay.read(begin, end)), options);
  }
  // S <- diag(e^g) S + k v^T, y = scale S^T q
  fuzz::terms at(index b, index t, index h, index) const {
    return {fade(b, t, h), direction(key, b, t, h), row_of(value, b, t, h),
            fuzz::times(scale(), direction(query, b, t, h))};
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::input in(data, size);
  if (in.flag())
    fuzz::call<gla_case<fuzz::decays::of_rows>>(in);
  else
    fuzz::call<gla_case<fuzz::decays::of_heads>>(in);
  return 0;
}
