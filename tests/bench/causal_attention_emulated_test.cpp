// The softmax attention that VLA is measured beside, on an emulated GPU: as attend() in double.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/causal_attention.hpp"
#include "support/faulty_barrier.hpp"
#include "support/random_values.hpp"
#include "wane/operators/softmax_attention.hpp"
#include "wane/run/attention/attend.hpp"
#include "wane/testing/emulated_gpu.hpp"

namespace {

using wane::bfloat16;
using wane::index;
using wane::bench::causal_attention;

constexpr int threads = 64;
constexpr index batch = 2, heads = 3, time_ = 96;

template <int Width>
struct attention_case {
  static constexpr std::size_t numbers = std::size_t{batch * heads * time_ * Width};
  // Scores of some size, so that the softmax is not flat, and that the largest comes late.
  std::vector<bfloat16> query = rounded(1, 3), key = rounded(2, 1), value = rounded(3, 1),
                        output = std::vector<bfloat16>(numbers, bfloat16(NAN));

  static std::vector<bfloat16> rounded(std::uint64_t seed, double size) {
    support::random_values random(seed);
    std::vector<bfloat16> all(numbers);
    for (auto& x : all) x = static_cast<bfloat16>(static_cast<float>(random.uniform(-size, size)));
    return all;
  }

  template <class Body>
  void run(Body const& body, unsigned seed = 1) {
    using machine = wane::testing::impl::emulated_thread<threads>;
    using attention = causal_attention<machine, Width>;
    wane::bench::attention_arguments const a{heads,      time_,        query.data(),
                                             key.data(), value.data(), output.data()};
    for (index block = 0; block < attention::blocks(batch, a); ++block)
      wane::testing::impl::emulated_grid<threads>({.blocks = 1, .seed = seed},
                                                  attention::shared_bytes)
          .run([&](machine& m) { body(m, a, block); });
  }

  double error() const {
    auto const in_double = [](std::vector<bfloat16> const& x) {
      std::vector<double> all;
      for (bfloat16 each : x) all.push_back(static_cast<float>(each));
      return all;
    };
    auto const of = [](std::vector<double>& x) {
      return wane::sequence_view<double>(x.data(), batch, time_, heads, Width);
    };
    auto q = in_double(query), k = in_double(key), v = in_double(value);
    std::vector<double> y(numbers);
    wane::attend(wane::softmax_attention<double>({.query = of(q), .key = of(k), .value = of(v)}),
                 of(y));
    double worst = 0;
    for (std::size_t i = 0; i < numbers; ++i) {
      double const off = std::abs(y[i] - static_cast<double>(static_cast<float>(output[i])));
      if (!(off <= worst)) worst = std::isnan(off) ? HUGE_VAL : off;
    }
    return worst;
  }
};

auto const attend_by_tiles = []<class M>(M& m, wane::bench::attention_arguments const& a,
                                         index block) {
  causal_attention<M, 64>{m, a}(block);
};

// Weights and outputs are rounded to 8 bits; values are up to 1.
TEST(CausalAttention, IsSoftmaxAttention) {
  attention_case<64> narrow;
  narrow.run(attend_by_tiles);
  EXPECT_LE(narrow.error(), 0x1p-8);
  attention_case<128> wide;
  wide.run([]<class M>(M& m, auto const& a, index block) {
    causal_attention<M, 128>{m, a}(block);
  });
  EXPECT_LE(wide.error(), 0x1p-8);
}

// A missing barrier is a race that the machine refuses, or a NaN read before its copy.
TEST(CausalAttention, NeedsItsBarriers) {
  for (int missing = 0; missing < 3; ++missing) {
    attention_case<64> x;
    auto const run = [&] {
      x.run([&]<class M>(M& m, auto const& a, index block) {
        support::faulty_barrier<threads> faulty(m, missing);
        causal_attention<support::faulty_barrier<threads>, 64>{faulty, a}(block);
      });
      return x.error();
    };
    double error = HUGE_VAL;
    try {
      error = run();
    } catch (wane::testing::machine_fault const&) {
    }
    EXPECT_GT(error, 0.1) << "barrier " << missing;
  }
}

}  // namespace
