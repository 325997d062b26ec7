// Views of DLPack tensors, and DLPack tensors of views. Needs no header of DLPack, PyTorch or JAX.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "wane/core/recurrence/view.hpp"

namespace wane {

// The structs of DLPack 1.x by their layout, for programs without its header: each may be
// reinterpreted as DLTensor and DLManagedTensorVersioned. Every function below also takes those.
struct dlpack_tensor {
  void* data;
  struct {
    std::int32_t device_type, device_id;
  } device;
  std::int32_t ndim;
  struct {
    std::uint8_t code, bits;
    std::uint16_t lanes;
  } dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major, without gaps
  std::uint64_t byte_offset;
};
struct dlpack_managed_tensor {
  struct {
    std::uint32_t major, minor;
  } version;
  void* manager_ctx;
  void (*deleter)(dlpack_managed_tensor* self);
  std::uint64_t flags;
  dlpack_tensor dl_tensor;
};

// Where the memory of a tensor must be: host takes that of the CPU, pinned or managed; cuda that of
// a CUDA device, managed or pinned.
enum class dlpack_memory { host, cuda };

}  // namespace wane

namespace wane::impl {

enum dlpack_device : std::int32_t {
  dlpack_cpu = 1,
  dlpack_cuda = 2,
  dlpack_cuda_pinned = 3,
  dlpack_rocm_pinned = 11,
  dlpack_cuda_managed = 13
};
inline constexpr std::uint64_t dlpack_read_only = 1;

// A type in DLPack's code and bits.
struct dlpack_type {
  int code, bits;
  friend bool operator==(dlpack_type const&, dlpack_type const&) = default;
};
template <class T>
constexpr dlpack_type dlpack_type_of() {
  constexpr int bits = 8 * static_cast<int>(sizeof(T));
  if constexpr (std::is_same_v<T, bfloat16>) return {4, bits};
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, float16>)
    return {2, bits};
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return {5, bits};
  if constexpr (std::is_same_v<T, bool>) return {6, bits};
  if constexpr (std::is_integral_v<T>) return {std::is_signed_v<T> ? 0 : 1, bits};
  return {-1, 0};
}

// "float32", and "code 9 of 8 bits" for a type without a name.
inline std::string name_of(dlpack_type type) {
  char const* const names[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  std::string const bits = std::to_string(type.bits);
  if (type.code < 0 || type.code > 6)
    return "code " + std::to_string(type.code) + " of " + bits + " bits";
  return type.code == 6 ? "bool" : names[type.code] + bits;
}
inline std::string name_of_device(std::int32_t type, std::int32_t id) {
  if (type == dlpack_cpu) return "cpu";
  std::string text = type == dlpack_cuda ? "cuda" : "device type " + std::to_string(type);
  return text.append(":").append(std::to_string(id));
}

inline bool may_be_read(std::int32_t device, dlpack_memory from) {
  if (device == dlpack_cuda_pinned || device == dlpack_cuda_managed) return true;
  if (from == dlpack_memory::cuda) return device == dlpack_cuda;
  return device == dlpack_cpu || device == dlpack_rocm_pinned;
}

template <class Tensor>
concept managed_by_dlpack = requires(Tensor const& x) {
  x.dl_tensor;
};
template <class Tensor>
bool is_read_only(Tensor const& x) {
  if constexpr (requires { x.flags; })
    return (x.flags & dlpack_read_only) != 0;
  else
    return false;
}

}  // namespace wane::impl

namespace wane {

//   auto const q = wane::view_of_dlpack<float const, 4>("query", tensor);  // [B, T, H, K]
//
// The view of a DLTensor, DLManagedTensor or DLManagedTensorVersioned, with its strides; nothing is
// copied, and the tensor's owner must outlive the view. Throws wane::error, with `name`, for
// another type, rank or device, for memory that may only be read where T is not const, and for an
// address that is not a multiple of a number's size.
template <class T, int Rank, class Tensor>
view<T, Rank> view_of_dlpack(char const* name, Tensor const& tensor,
                             dlpack_memory memory = dlpack_memory::host) {
  using stored = std::remove_const_t<T>;
  if constexpr (impl::managed_by_dlpack<Tensor>) {
    require(std::is_const_v<T> || !impl::is_read_only(tensor), name,
            " may only be read; it must be writable");
    return view_of_dlpack<T, Rank>(name, tensor.dl_tensor, memory);
  } else {
    constexpr impl::dlpack_type wanted = impl::dlpack_type_of<stored>();
    static_assert(wanted.code >= 0, "wane::view_of_dlpack: DLPack has no such type");
    impl::dlpack_type const type{tensor.dtype.code, tensor.dtype.bits};
    require(type == wanted && tensor.dtype.lanes == 1, name, " has type ",
            impl::name_of(type) + (tensor.dtype.lanes == 1 ? "" : " in vectors"), "; it must be ",
            impl::name_of(wanted));
    auto const device = static_cast<std::int32_t>(tensor.device.device_type);
    require(impl::may_be_read(device, memory), name, " is on ",
            impl::name_of_device(device, tensor.device.device_id), "; it must be on ",
            memory == dlpack_memory::host ? "the CPU" : "a CUDA device");
    require(tensor.ndim == Rank, name, " has ", tensor.ndim, " dimensions; it must have ", Rank);

    view<T, Rank> x;
    index step = 1;
    bool empty = false;
    for (int i = Rank - 1; i >= 0; --i) {
      x.extent[i] = tensor.shape[i];
      require(x.extent[i] >= 0, name, " has extent ", x.extent[i], " along dimension ", i,
              "; it must be 0 or more");
      x.stride[i] = tensor.strides ? tensor.strides[i] : step;
      if (!tensor.strides) step *= x.extent[i];
      empty = empty || x.extent[i] == 0;
    }
    require(tensor.data || empty, name, " has no data; it must point to its values");
    if (!tensor.data) return x;
    char* const begin = static_cast<char*>(tensor.data) + tensor.byte_offset;
    constexpr std::size_t size = std::min(sizeof(stored), alignof(stored));
    require(empty || reinterpret_cast<std::uintptr_t>(begin) % size == 0, name,
            " begins at an address that is no multiple of ", size, " bytes; it must be one");
    x.data = reinterpret_cast<T*>(begin);
    return x;
  }
}

//   wane::dlpack_tensor const t = wane::dlpack_of_view(y);
//
// A tensor of the same memory, on the CPU or on CUDA device `device`. Its shape and strides lie in
// the view, which must outlive it, and so must the values. Nothing in a tensor says that it may
// only be read, so a view of constants is refused at compile time; share_as_dlpack takes it.
template <class T, int Rank>
dlpack_tensor dlpack_of_view(view<T, Rank> const& x, dlpack_memory memory = dlpack_memory::host,
                             int device = 0) {
  static_assert(!std::is_const_v<T>,
                "wane::dlpack_of_view: a DLPack tensor may be written; use share_as_dlpack for a "
                "view of constants");
  constexpr impl::dlpack_type type = impl::dlpack_type_of<T>();
  static_assert(type.code >= 0, "wane::dlpack_of_view: DLPack has no such type");
  return {x.data,
          {memory == dlpack_memory::host ? impl::dlpack_cpu : impl::dlpack_cuda, device},
          Rank,
          {static_cast<std::uint8_t>(type.code), static_cast<std::uint8_t>(type.bits), 1},
          const_cast<std::int64_t*>(x.extent),
          const_cast<std::int64_t*>(x.stride),
          0};
}
template <class T, int Rank>
dlpack_tensor dlpack_of_view(view<T, Rank> const&&, dlpack_memory = dlpack_memory::host,
                             int = 0) = delete;

//   auto values = std::make_shared<std::vector<float>>(B * T * H * V);
//   auto* const t = wane::share_as_dlpack(wane::sequence_view<float>(values->data(), B, T, H, V),
//                                         values);
//
// A managed tensor, of DLPack 1.0, that shares the ownership of the values. Who takes it calls its
// deleter. The tensor of a view of constants may only be read.
template <class T, int Rank, class Owner>
dlpack_managed_tensor* share_as_dlpack(view<T, Rank> const& x, std::shared_ptr<Owner> owner,
                                       dlpack_memory memory = dlpack_memory::host, int device = 0) {
  using stored = std::remove_const_t<T>;
  struct shared {
    dlpack_managed_tensor tensor;
    view<stored, Rank> values;
    std::shared_ptr<Owner> owner;
  };
  auto held = std::make_unique<shared>();
  held->values = {const_cast<stored*>(x.data), x.extent, x.stride};
  held->owner = std::move(owner);
  held->tensor = {
      {1, 0},
      held.get(),
      [](dlpack_managed_tensor* self) { delete static_cast<shared*>(self->manager_ctx); },
      std::is_const_v<T> ? impl::dlpack_read_only : 0,
      dlpack_of_view(held->values, memory, device)};
  return &held.release()->tensor;
}

}  // namespace wane
