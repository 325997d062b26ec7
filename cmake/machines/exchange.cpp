// Files that machines exchange: states and tensors of every type, written on one, read on another.
// SPDX-License-Identifier: MIT
//
//   exchange write FOLDER    writes them
//   exchange read FOLDER     ends with code 1 unless each number comes back to the bit
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "wane/core/state/state_file.hpp"
#include "wane/files.hpp"

namespace {

using wane::index;

bool writes = false, right = true;
std::string folder;

// Numbers that every machine makes alike, the same at each call, and those that are special.
template <class T>
std::vector<T> numbers(std::size_t count) {
  std::mt19937_64 bits{count};
  std::vector<T> all(count);
  auto const next = [&] { return std::ldexp(static_cast<double>(bits() >> 40), -20) - 7; };
  for (T& x : all) {
    if constexpr (wane::is_complex<T>)
      x = wane::convert<T>(std::complex<double>{next(), next()});
    else
      x = static_cast<T>(static_cast<wane::widened<T>>(next()));
  }
  using limits = std::numeric_limits<float>;
  all[0] = T(-0.f), all[1] = T(limits::infinity()), all[2] = T(limits::denorm_min());
  return all;
}

void check(bool same, std::string const& what) {
  if (!same) std::printf("%s differs\n", what.c_str());
  right = right && same;
}

// 2 sequences, 3 heads, 2 rows, 5 columns.
template <class T>
void exchange_state(std::string const& name) {
  auto const must_be = numbers<T>(60);
  std::vector<index> const positions{index{1} << 41, -3};
  wane::recurrent_state<T> state(2, 3, 2, 5);
  std::string const path = folder + "/" + name + ".state";
  if (writes) {
    state.values() = must_be, state.positions() = positions;
    wane::save_state(path, "gla", state);
  } else {
    wane::load_state(path, "gla", state);
    check(std::memcmp(state.values().data(), must_be.data(), 60 * sizeof(T)) == 0, path);
    check(state.positions() == positions, "the positions of " + path);
  }
}

template <class T>
void exchange_tensor(std::string const& name) {
  auto const must_be = numbers<T>(70);
  std::string const path = folder + "/" + name + ".safetensors";
  if (writes) {
    wane::write_safetensors(path, {wane::stored_tensor::of(name, {7, 10}, must_be)});
  } else {
    auto const found = wane::safetensors(path).values<T>(name, {7, 10});
    check(std::memcmp(found.data(), must_be.data(), 70 * sizeof(T)) == 0, path);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: exchange write|read FOLDER\n"), 2;
  writes = std::string(argv[1]) == "write", folder = argv[2];
  try {
    exchange_state<float>("float32");
    exchange_state<double>("float64");
    exchange_state<wane::bfloat16>("bfloat16");
    exchange_state<wane::float16>("float16");
    exchange_state<std::complex<float>>("complex64");
    exchange_state<std::complex<double>>("complex128");
    exchange_tensor<float>("F32");
    exchange_tensor<double>("F64");
    exchange_tensor<wane::bfloat16>("BF16");
    exchange_tensor<wane::float16>("F16");
  } catch (std::exception const& problem) {
    std::printf("%s\n", problem.what());
    right = false;
  }
  if (!writes && right) std::printf("10 files of %s come back to the bit\n", folder.c_str());
  return right ? 0 : 1;
}
