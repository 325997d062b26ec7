// Calls of gated_delta_net and rwkv7, which erase: whole, in pieces, by tokens, wrong.
// SPDX-License-Identifier: MIT
#include "fuzz/keyed_case.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/rwkv7.hpp"

namespace {

using fuzz::index, fuzz::row;

struct gated_delta_net_case : fuzz::keyed_case {
  fuzz::tensor<float, 4> strength;

  explicit gated_delta_net_case(fuzz::input& in)
      : keyed_case(in, fuzz::decays::of_heads),
        strength(in, {size.batch, size.time, size.heads, 1}, false) {
    strength.fill(in, fuzz::range::parts);
    inputs.push_back({strength.values.extent, 3});
  }

  auto op(index begin, index end) const {
    return wane::gated_delta_net<float>({.query = query.read(begin, end),
                                         .key = key.read(begin, end),
                                         .value = value.read(begin, end),
                                         .strength = fuzz::by_head(strength.read(begin, end))},
                                        fuzz::by_head(decay.read(begin, end)), options);
  }
  // S <- (I - beta k k^T) e^g S + beta k v^T, y = scale S^T q
  fuzz::terms at(index b, index t, index h, index) const {
    double const beta = row_of(strength, b, t, h)[0];
    row const k = direction(key, b, t, h);
    return {fade(b, t, h),          fuzz::times(beta, k),
            row_of(value, b, t, h), fuzz::times(scale(), direction(query, b, t, h)),
            fuzz::times(-beta, k),  k};
  }
};

struct rwkv7_case : fuzz::keyed_case {
  fuzz::tensor<float, 4> removal, rate;
  fuzz::tensor<float, 2> bonus;

  explicit rwkv7_case(fuzz::input& in)
      : keyed_case(in, fuzz::decays::of_rows),
        removal(in, {size.batch, size.time, groups, size.rows}, false),
        rate(in, {size.batch, size.time, groups, size.rows}, false),
        bonus(in, {size.heads, size.rows}, false) {
    removal.fill(in, fuzz::range::reals), rate.fill(in, fuzz::range::parts);
    bonus.fill(in, fuzz::range::reals);
    if (in.flag()) bonus.values.data = nullptr;
    if (options.scale == 0) options.scale = 3;
    inputs.push_back({removal.values.extent, 4}), inputs.push_back({rate.values.extent, 4});
    if (bonus.values.data) inputs.push_back({bonus.values.extent, 2});
  }

  auto op(index begin, index end) const {
    return wane::rwkv7<float>({.query = query.read(begin, end),
                               .key = key.read(begin, end),
                               .value = value.read(begin, end),
                               .removal = removal.read(begin, end),
                               .rate = rate.read(begin, end),
                               .bonus = wane::view<float const, 2>(bonus.values)},
                              decay.read(begin, end), options);
  }
  // S <- (diag(w) - (a o c) c^T) S + k v^T, y = scale S^T r + (r . (rho o k)) v
  fuzz::terms at(index b, index t, index h, index) const {
    row const r = of_group(query, b, t, h), k = of_group(key, b, t, h), a = of_group(rate, b, t, h),
              c = direction(removal, b, t, h);
    fuzz::terms x{
        fade(b, t, h), k, row_of(value, b, t, h), fuzz::times(options.scale.value_or(1), r), c, c,
        false};
    for (std::size_t i = 0; i < c.size(); ++i) {
      x.erase_write[i] *= -a[i];
      double const rho =
          bonus.values.data ? static_cast<double>(bonus.values(h, static_cast<index>(i))) : 0;
      x.direct += r[i] * k[i] * rho, x.direct_size += std::abs(r[i] * k[i] * rho);
    }
    if (!bonus.values.data) x.direct = x.direct_size = 0;
    return x;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::input in(data, size);
  if (in.flag())
    fuzz::call<gated_delta_net_case>(in);
  else
    fuzz::call<rwkv7_case>(in);
  return 0;
}
