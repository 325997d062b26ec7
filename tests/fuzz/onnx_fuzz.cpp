// Any attributes and tensors of ONNX's LinearAttention are run as its formula says, or refused.
// SPDX-License-Identifier: MIT
#include <vector>

#include "fuzz/loop.hpp"
#include "onnx_linear_attention.hpp"

namespace {

using fuzz::index, fuzz::row;

// A tensor [B, T, width] whose memory ends with it.
struct packed_tensor {
  std::vector<float> memory;
  onnx::packed<float> of;

  packed_tensor(index batch, index time, index width)
      : memory(static_cast<std::size_t>(batch * time * width), -12345.f),
        of{memory.data(), batch, time, width} {}
  void fill(fuzz::input& in, fuzz::range numbers) {
    fuzz::numbers from(in.byte());
    auto const how = static_cast<fuzz::kind>(in.below(4));
    for (float& x : memory) x = static_cast<float>(fuzz::number_in(numbers, how, from));
  }
  onnx::packed<float const> read() const { return {of.data, of.batch, of.time, of.width}; }
  bool unwritten() const {
    return std::all_of(memory.begin(), memory.end(), [](float x) { return x == -12345.f; });
  }
  // `count` numbers from channel `first` on.
  row at(index b, index t, index first, index count) const {
    auto const begin = memory.begin() + (b * of.time + t) * of.width + first;
    return row(begin, begin + count);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using fuzz::index;
  fuzz::input in(data, size);
  onnx::attributes const node{static_cast<onnx::update_rule>(in.below(4)), in.below(7) - 1,
                              in.below(4), static_cast<float>(in.below(3) - 1)};
  index batch = 1 + in.below(2), time = in.below(10);
  index const d_k = 1 + in.below(6), d_v = 1 + in.below(6), q = node.q_num_heads,
              kv = node.kv_num_heads;
  // What fits, and in a quarter of inputs a tensor of another width, batch or time.
  auto const tensor = [&](index width) {
    int const other = in.below(32);
    if (width < 0) width = 0;
    return packed_tensor(batch + (other == 1), time + (other == 2), width + (other == 3));
  };
  bool const gated = node.update_rule == onnx::update_rule::gated ||
                     node.update_rule == onnx::update_rule::gated_delta;
  bool const erases = node.update_rule == onnx::update_rule::delta ||
                      node.update_rule == onnx::update_rule::gated_delta;
  bool const by_row = in.flag();
  auto query = tensor(q * d_k), key = tensor(kv * d_k), value = tensor(kv * d_v);
  auto decay = tensor(gated == (in.below(16) > 0) ? (by_row ? kv * d_k : kv) : 0);
  auto beta = tensor(erases == (in.below(16) > 0) ? (in.flag() ? 1 : kv) : 0);
  auto output = tensor(q * d_v);
  // The others fit where they fit the query.
  batch = query.of.batch, time = query.of.time;
  packed_tensor past(batch, kv > 0 ? kv : 1, d_k * d_v), present(batch, kv > 0 ? kv : 1, d_k * d_v);
  query.fill(in, fuzz::range::reals), key.fill(in, fuzz::range::reals);
  value.fill(in, fuzz::range::reals), past.fill(in, fuzz::range::reals);
  decay.fill(in, fuzz::range::log_decays), beta.fill(in, fuzz::range::parts);
  bool const has_past = in.flag();
  // A key or a value whose channels the state does not have would be another state.
  bool const state_fits = kv > 0 && key.of.width == kv * d_k && value.of.width == kv * d_v;
  if (!state_fits) return 0;
  bool const taken = fuzz::takes([&] {
    onnx::linear_attention<float, float>(node, {.query = query.read(),
                                                .key = key.read(),
                                                .value = value.read(),
                                                .past_state = has_past ? past.of.data : nullptr,
                                                .decay = decay.read(),
                                                .beta = beta.read(),
                                                .output = output.of,
                                                .present_state = present.of.data});
  });
  auto const fits = [&](packed_tensor const& x, index width) {
    return x.of.batch == batch && x.of.time == time && x.of.width == width;
  };
  auto const fits_either = [&](packed_tensor const& x, bool wanted, index one, index two) {
    return wanted ? fits(x, one) || fits(x, two) : x.of.width == 0;
  };
  bool const sound = q > 0 && kv > 0 && q % kv == 0 && fits(query, q * d_k) &&
                     fits(key, kv * d_k) && fits(value, kv * d_v) && fits(output, q * d_v) &&
                     fits_either(decay, gated, kv, kv * d_k) && fits_either(beta, erases, 1, kv);
  fuzz::must(taken == sound, sound ? "a sound node is refused" : "a wrong node is taken", q, kv,
             d_k, d_v);
  if (!taken) {
    fuzz::must(output.unwritten() && present.unwritten(), "a refused node writes");
    return 0;
  }
  double const scale =
      node.scale == 0 ? 1 / std::sqrt(static_cast<double>(d_k)) : static_cast<double>(node.scale);
  auto const count = [](index n) { return static_cast<std::size_t>(n); };
  for (index b = 0; b < batch; ++b)
    for (index n = 0; n < q; ++n) {
      index const h = n / (q / kv);
      fuzz::memory one{count(d_k), count(d_v)};
      if (has_past) {
        one.s = past.at(b, h, 0, d_k * d_v);
        for (index i = 0; i < d_k * d_v; ++i)
          if (!(std::abs(one.s[count(i)]) < fuzz::memory::largest)) one.error[count(i % d_v)] = NAN;
      }
      for (index t = 0; t < time; ++t) {
        row fade(count(d_k));
        if (gated && decay.of.width == kv * d_k)
          fade = decay.at(b, t, h * d_k, d_k);
        else if (gated)
          fade.assign(count(d_k), decay.at(b, t, h, 1)[0]);
        row const k = key.at(b, t, h * d_k, d_k);
        double const strength = !erases ? 1 : beta.at(b, t, beta.of.width == 1 ? 0 : h, 1)[0];
        fuzz::terms x{fade, fuzz::times(strength, k), value.at(b, t, h * d_v, d_v),
                      fuzz::times(scale, query.at(b, t, n * d_k, d_k))};
        if (erases) x.erase_write = fuzz::times(-strength, k), x.erase_read = k;
        one.take(x);
        row const y = output.at(b, t, n * d_v, d_v);
        for (index j = 0; j < d_v; ++j)
          fuzz::must(fuzz::near(y[count(j)], one.y[count(j)], one.y_error[count(j)]), "an output",
                     b, t, n, j, y[count(j)], one.y[count(j)], one.y_error[count(j)]);
      }
      row const end = present.at(b, h, 0, d_k * d_v);
      for (index i = 0; i < d_k * d_v; ++i)
        fuzz::must(fuzz::near(end[count(i)], one.s[count(i)],
                              one.error[count(i % d_v)] + fuzz::memory::least),
                   "a state", b, h, i, end[count(i)], one.s[count(i)]);
    }
  return 0;
}
