// Tensors of Python as DLPack tells of them, held while wane reads and writes them.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <deque>
#include <string>
#include <wane/dlpack.hpp>

namespace wane_python {

// DLPack 1.3's functions of a framework, by their layout; PyTorch has them from 2.10 on. They take
// a tenth of the time of a call of __dlpack__.
struct exchange_functions {
  struct {
    std::uint32_t major, minor;
  } version;
  void *older, *allocate, *managed_from_object, *object_from_managed;
  int (*tensor_from_object)(void* object, wane::dlpack_tensor* tensor);
};

// Those of an object's type, or null. Asks a type once, most often; the last type is kept alive, so
// that no other can have its address.
inline exchange_functions const* exchange_functions_of(nanobind::handle object) {
  static PyTypeObject* type = nullptr;
  static exchange_functions const* functions = nullptr;
  if (Py_TYPE(object.ptr()) == type) return functions;
  nanobind::object const found =
      nanobind::getattr(object.type(), "__dlpack_c_exchange_api__", nanobind::none());
  Py_XDECREF(reinterpret_cast<PyObject*>(type));
  type = Py_TYPE(object.ptr()), functions = nullptr;
  Py_INCREF(reinterpret_cast<PyObject*>(type));
  if (PyCapsule_IsValid(found.ptr(), "dlpack_exchange_api")) {
    auto const* all = static_cast<exchange_functions const*>(
        PyCapsule_GetPointer(found.ptr(), "dlpack_exchange_api"));
    if (all->version.major == 1 && all->tensor_from_object) functions = all;
  }
  return functions;
}

class held_tensors {
 public:
  // Absent where it is None.
  wane::dlpack_tensor take(char const* name, nanobind::handle of) { return taken(name, of, read_); }
  wane::dlpack_tensor take_to_write(char const* name, nanobind::handle of) {
    return taken(name, of, written_);
  }

 private:
  template <class Array>
  static wane::dlpack_tensor taken(char const* name, nanobind::handle of, std::deque<Array>& held) {
    wane::dlpack_tensor tensor{};
    if (of.is_none()) return tensor;
    if (auto const* functions = exchange_functions_of(of)) {
      bool const is_given = functions->tensor_from_object(of.ptr(), &tensor) == 0;
      if (!is_given && PyErr_Occurred()) throw nanobind::python_error();
      wane::require(is_given, name, " cannot be read; it must be an array on the CPU");
      return tensor;
    }
    try {
      return tensor_of(held.emplace_back(nanobind::cast<Array>(of)));
    } catch (nanobind::cast_error const&) {
      throw wane::error(std::string(name) + " is a " + Py_TYPE(of.ptr())->tp_name +
                        " that cannot be read; it must be an array of numbers on the CPU");
    }
  }

  template <class Array>
  static wane::dlpack_tensor tensor_of(Array const& x) {
    auto const type = x.dtype();
    return {const_cast<void*>(static_cast<void const*>(x.data())),
            {x.device_type(), x.device_id()},
            static_cast<std::int32_t>(x.ndim()),
            {type.code, type.bits, type.lanes},
            const_cast<std::int64_t*>(x.shape_ptr()),
            const_cast<std::int64_t*>(x.stride_ptr()),
            0};
  }

  // Deques, because the shapes that tensors point to lie in their elements.
  std::deque<nanobind::ndarray<nanobind::ro>> read_;
  std::deque<nanobind::ndarray<>> written_;
};

}  // namespace wane_python
