// wane/dlpack.hpp: views of DLPack tensors and back, with all that does not fit refused.
// SPDX-License-Identifier: MIT
#include "wane/dlpack.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "wane/operators/gla.hpp"
#include "wane/run/run.hpp"

namespace {

// The structs as the header of DLPack 1.1 declares them.
enum DeviceType : std::int32_t { cpu = 1, cuda = 2, pinned = 3, metal = 8, managed = 13 };
struct Device {
  DeviceType device_type;
  std::int32_t device_id;
};
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct Managed {  // before 1.0
  Tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(Managed*);
};
struct Versioned {
  std::uint32_t version[2];
  void* manager_ctx;
  void (*deleter)(Versioned*);
  std::uint64_t flags;
  Tensor dl_tensor;
};
static_assert(sizeof(wane::dlpack_tensor) == sizeof(Tensor));
static_assert(offsetof(wane::dlpack_tensor, byte_offset) == offsetof(Tensor, byte_offset));
static_assert(sizeof(wane::dlpack_managed_tensor) == sizeof(Versioned));
static_assert(offsetof(wane::dlpack_managed_tensor, dl_tensor) == offsetof(Versioned, dl_tensor));

struct Floats : testing::Test {
  std::vector<float> numbers = std::vector<float>(24);
  std::int64_t shape[3] = {2, 3, 4}, strides[3] = {1, 2, 6};
  Tensor tensor{numbers.data(), {cpu, 0}, 3, {2, 32, 1}, shape, strides, 0};

  Floats() { std::iota(numbers.begin(), numbers.end(), 0.f); }
  void expect(std::string const& words) const {
    support::expect_error({words}, [&] { wane::view_of_dlpack<float, 3>("query", tensor); });
  }
};

TEST_F(Floats, AreSeenWithTheirStrides) {
  auto const x = wane::view_of_dlpack<float const, 3>("query", tensor);
  EXPECT_EQ(x(1, 2, 3), numbers[1 + 2 * 2 + 3 * 6]);
  EXPECT_EQ(x.extent[1], 3);
  wane::view_of_dlpack<float, 3>("query", tensor)(0, 0, 1) = 100;
  EXPECT_EQ(numbers[6], 100);
}
TEST_F(Floats, WithoutStridesAreRowMajor) {
  tensor.strides = nullptr;
  EXPECT_EQ((wane::view_of_dlpack<float, 3>("query", tensor)(1, 2, 3)), 23);
}
TEST_F(Floats, MayRunBackward) {
  std::int64_t const back[] = {-12, -4, -1};
  std::copy_n(back, 3, strides);
  tensor.byte_offset = 23 * sizeof(float);
  auto const x = wane::view_of_dlpack<float const, 3>("query", tensor);
  EXPECT_EQ(x(0, 0, 0), 23);
  EXPECT_EQ(x(1, 2, 3), 0);
}
TEST_F(Floats, BeginAtTheirOffset) {
  shape[0] = 1, tensor.byte_offset = 8;
  EXPECT_EQ((wane::view_of_dlpack<float, 3>("query", tensor)(0, 0, 0)), 2);
  tensor.byte_offset = 2;
  expect("query begins at an address that is no multiple of 4 bytes");
}
TEST_F(Floats, OfAnotherTypeAreRefused) {
  tensor.dtype = {2, 64, 1};
  expect("query has type float64; it must be float32");
  tensor.dtype = {4, 16, 1};
  expect("query has type bfloat16; it must be float32");
  tensor.dtype = {2, 32, 4};
  expect("query has type float32 in vectors; it must be float32");
  tensor.dtype = {9, 8, 1};
  expect("query has type code 9 of 8 bits; it must be float32");
}
TEST_F(Floats, OfAnotherRankOrShapeAreRefused) {
  tensor.ndim = 2;
  expect("query has 2 dimensions; it must have 3");
  tensor.ndim = 3, shape[1] = -1;
  expect("query has extent -1 along dimension 1; it must be 0 or more");
}
TEST_F(Floats, OnADeviceAreRefusedUnlessAsked) {
  tensor.device = {cuda, 1};
  expect("query is on cuda:1; it must be on the CPU");
  EXPECT_EQ((wane::view_of_dlpack<float, 3>("query", tensor, wane::dlpack_memory::cuda).data),
            numbers.data());
  tensor.device = {metal, 0};
  expect("query is on device type 8:0; it must be on the CPU");
  for (DeviceType either : {pinned, managed}) {
    tensor.device = {either, 0};
    EXPECT_NO_THROW((wane::view_of_dlpack<float, 3>("query", tensor)));
    EXPECT_NO_THROW((wane::view_of_dlpack<float, 3>("query", tensor, wane::dlpack_memory::cuda)));
  }
  tensor.device = {cpu, 0};
  support::expect_error({"query is on cpu; it must be on a CUDA device"}, [&] {
    wane::view_of_dlpack<float, 3>("query", tensor, wane::dlpack_memory::cuda);
  });
}
TEST_F(Floats, WithoutDataMustBeEmpty) {
  tensor.data = nullptr;
  expect("query has no data");
  shape[1] = 0;
  auto const x = wane::view_of_dlpack<float, 3>("query", tensor);
  EXPECT_EQ(x.data, nullptr);
  EXPECT_EQ(x.extent[0], 2);
}
TEST_F(Floats, ThatMayOnlyBeReadAreConstants) {
  Versioned managed{{1, 0}, nullptr, nullptr, 1, tensor};
  EXPECT_EQ((wane::view_of_dlpack<float const, 3>("query", managed)(1, 0, 0)), 1);
  support::expect_error({"query may only be read; it must be writable"},
                        [&] { wane::view_of_dlpack<float, 3>("query", managed); });
  managed.flags = 2;  // a copy
  EXPECT_NO_THROW((wane::view_of_dlpack<float, 3>("query", managed)));
  Managed const old{tensor, nullptr, nullptr};
  EXPECT_NO_THROW((wane::view_of_dlpack<float, 3>("query", old)));
}

template <class T>
struct Types : testing::Test {};
using types = testing::Types<float, double, wane::bfloat16, wane::float16, std::complex<float>,
                             std::complex<double>, std::int64_t>;
TYPED_TEST_SUITE(Types, types);
TYPED_TEST(Types, GoThereAndBack) {
  std::vector<TypeParam> numbers(12, TypeParam(3));
  wane::view<TypeParam, 2> const x(numbers.data(), {2, 3}, {6, 2});
  wane::dlpack_tensor const tensor = wane::dlpack_of_view(x);
  EXPECT_EQ(tensor.dtype.bits, 8 * sizeof(TypeParam));
  auto const back = wane::view_of_dlpack<TypeParam, 2>("x", tensor);
  EXPECT_EQ(back.data, x.data);
  for (int i : {0, 1}) {
    EXPECT_EQ(back.extent[i], x.extent[i]);
    EXPECT_EQ(back.stride[i], x.stride[i]);
  }
}

// A tensor that shares its values keeps them until its deleter is called.
TEST(SharedTensor, KeepsItsValues) {
  auto values = std::make_shared<std::vector<float>>(24, 5.f);
  std::weak_ptr<std::vector<float>> const watch = values;
  wane::sequence_view<float const> const x(values->data(), 1, 6, 2, 2);
  wane::dlpack_managed_tensor* const tensor = wane::share_as_dlpack(x, std::move(values));
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(tensor->version.major, 1u);
  EXPECT_EQ(tensor->flags, 1u);
  EXPECT_EQ((wane::view_of_dlpack<float const, 4>("x", *tensor)(0, 5, 1, 1)), 5);
  support::expect_error({"x may only be read"},
                        [&] { wane::view_of_dlpack<float, 4>("x", *tensor); });
  tensor->deleter(tensor);
  EXPECT_TRUE(watch.expired());
}

// A memory reads and writes tensors of others where they lie.
TEST(Dlpack, RunsAMemory) {
  std::vector<float> q(6, 1), k(6, 1), v{1, 2, 3, 4, 5, 6}, g(6, 0), y(6);
  std::int64_t shape[] = {1, 6, 1, 1};
  auto const of = [&](std::vector<float>& x) {
    return Tensor{x.data(), {cpu, 0}, 4, {2, 32, 1}, shape, nullptr, 0};
  };
  wane::gla<float> const memory({.query = wane::view_of_dlpack<float const, 4>("query", of(q)),
                                 .key = wane::view_of_dlpack<float const, 4>("key", of(k)),
                                 .value = wane::view_of_dlpack<float const, 4>("value", of(v))},
                                wane::view_of_dlpack<float const, 4>("log_decay", of(g)),
                                {.scale = 1});
  wane::run(memory, wane::view_of_dlpack<float, 4>("output", of(y)));
  EXPECT_EQ(y, (std::vector<float>{1, 3, 6, 10, 15, 21}));
}

}  // namespace
