// wane/mdspan.hpp: views of mdspans and back. The mdspans are std's where the library has them;
// otherwise a class with the same members.
// SPDX-License-Identifier: MIT
#include "wane/mdspan.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>
#if __has_include(<mdspan>)
#include <mdspan>
#endif

#include "support/expect_error.hpp"

namespace {

#ifdef __cpp_lib_mdspan
using span = std::mdspan<float, std::dextents<std::int64_t, 3>, std::layout_stride>;
using fixed = std::mdspan<float, std::extents<std::int64_t, 2, 3, 4>, std::layout_stride>;
#else
// As much of [mdspan.mdspan] as a view needs, with layout_stride.
template <std::size_t... Fixed>
struct extents_of {
  std::array<std::int64_t, sizeof...(Fixed)> all;
  explicit extents_of(std::array<std::int64_t, sizeof...(Fixed)> const& n) : all(n) {}
};
template <std::size_t... Fixed>
struct mapping_of {
  extents_of<Fixed...> of;
  std::array<std::int64_t, sizeof...(Fixed)> strides;
  mapping_of(extents_of<Fixed...> const& n, std::array<std::int64_t, sizeof...(Fixed)> const& s)
      : of(n), strides(s) {}
};
template <std::size_t... Fixed>
class span_of {
 public:
  using element_type = float;
  using extents_type = extents_of<Fixed...>;
  using mapping_type = mapping_of<Fixed...>;
  using index_type = std::int64_t;
  using rank_type = std::size_t;
  using data_handle_type = float*;

  span_of(float* data, mapping_type const& mapping) : data_(data), mapping_(mapping) {}
  static constexpr rank_type rank() { return sizeof...(Fixed); }
  static constexpr std::size_t static_extent(rank_type i) {
    return std::array<std::size_t, sizeof...(Fixed)>{Fixed...}[i];
  }
  index_type extent(rank_type i) const { return mapping_.of.all[i]; }
  index_type stride(rank_type i) const { return mapping_.strides[i]; }
  bool is_strided() const { return true; }
  float* data_handle() const { return data_; }
  mapping_type const& mapping() const { return mapping_; }

 private:
  float* data_;
  mapping_type mapping_;
};
inline constexpr auto dynamic = static_cast<std::size_t>(-1);
using span = span_of<dynamic, dynamic, dynamic>;
using fixed = span_of<2, 3, 4>;
#endif

TEST(Mdspan, GoesThereAndBack) {
  std::vector<float> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0.f);
  wane::view<float, 3> const x(numbers.data(), {2, 3, 4}, {1, 2, 6});
  auto const back = wane::view_of(wane::mdspan_of<span>(x));
  static_assert(std::is_same_v<decltype(back), wane::view<float, 3> const>);
  EXPECT_EQ(back(1, 2, 3), numbers[1 + 2 * 2 + 3 * 6]);
  for (int i : {0, 1, 2}) {
    EXPECT_EQ(back.extent[i], x.extent[i]);
    EXPECT_EQ(back.stride[i], x.stride[i]);
  }
}
TEST(Mdspan, HasTheExtentsOfItsType) {
  std::vector<float> numbers(24);
  wane::view<float, 3> x(numbers.data(), 2, 3, 4);
  EXPECT_EQ(wane::view_of(wane::mdspan_of<fixed>(x)).stride[0], 12);
  x.extent[1] = 2;
  support::expect_error({"dimension 1 has extent 2; the mdspan has 3"},
                        [&] { wane::mdspan_of<fixed>(x); });
}
TEST(Mdspan, HasPositiveStrides) {
  std::vector<float> numbers(24);
  wane::view<float, 3> const back(numbers.data() + 12, {2, 3, 4}, {-12, 4, 1}),
      shared(numbers.data(), {2, 3, 4}, {12, 0, 1}), one(numbers.data(), {2, 1, 4}, {4, 0, 1});
  support::expect_error({"dimension 0 has stride -12; that of an mdspan must be positive"},
                        [&] { wane::mdspan_of<span>(back); });
  support::expect_error({"dimension 1 has stride 0"}, [&] { wane::mdspan_of<span>(shared); });
  EXPECT_EQ(wane::view_of(wane::mdspan_of<span>(one)).stride[1], 1);
}

}  // namespace
