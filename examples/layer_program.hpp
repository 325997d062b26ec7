// The program that every layer in this folder is: weights from a file, and the check of its passes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>

#include "layer_parts.hpp"

namespace layers {

// A file of weights has the floats of all of them, in the order in which each() names them, and
// nothing else. Throws wane::error when its size is another.
void read_weights(std::istream& from, auto& weights, std::string const& file) {
  std::string const bytes{std::istreambuf_iterator<char>(from), {}};
  std::ostringstream shapes;
  std::size_t needed = 0;
  weights.each([&](char const* name, auto const& x) {
    shapes << (needed ? ", " : " ") << name << " [" << x.rows() << ", " << x.cols() << "]";
    needed += sizeof(float) * static_cast<std::size_t>(x.size());
  });
  wane::require(bytes.size() == needed, file, " has ", bytes.size(), " bytes; it must have ",
                needed, ", the float32 numbers of", shapes.str());
  char const* next = bytes.data();
  weights.each([&](char const*, auto& x) {
    matrix<float> values(x.rows(), x.cols());
    std::memcpy(values.data(), next, sizeof(float) * static_cast<std::size_t>(values.size()));
    next += sizeof(float) * static_cast<std::size_t>(values.size());
    x = values.template cast<typename std::remove_cvref_t<decltype(x)>::Scalar>();
  });
}
// A matrix as float32 numbers, row by row.
void write(std::ostream& to, auto const& x) {
  matrix<float> const values = x.template cast<float>();
  to.write(reinterpret_cast<char const*>(values.data()),
           static_cast<std::streamsize>(sizeof(float)) * values.size());
}
void write_weights(std::ostream& to, auto& weights) {
  weights.each([&](char const*, auto const& x) { write(to, x); });
}

// The tokens cuts[0] <= t < cuts[1], cuts[1] <= t < cuts[2], ... of u, one piece after the other,
// from the carried state, which each piece updates for the next.
template <class T, class Layer>
void in_pieces(Layer const& layer, matrix<T> const& u, std::vector<index> const& cuts,
               typename Layer::state& carried, matrix<T>& y) {
  index const batch = std::ssize(carried.memory.positions()), time = u.rows() / batch;
  for (std::size_t n = 1; n < cuts.size(); ++n) {
    index const first = cuts[n - 1], length = cuts[n] - first;
    matrix<T> piece(batch * length, u.cols());
    for (index b = 0; b < batch; ++b)
      piece.middleRows(b * length, length) = u.middleRows(b * time + first, length);
    piece = layer(piece, carried);
    for (index b = 0; b < batch; ++b)
      y.middleRows(b * time + first, length) = piece.middleRows(b * length, length);
  }
}

// How far a layer in float is from the same in double, relative to the norm, when it goes
// through all tokens at once, in pieces or one by one; returns whether that is 1e-6 at most. A
// state that is carried without its position must give a larger error. The inputs and the
// outputs of the layer in double go to `outputs`.
// Throws wane::error if all outputs are zero, or one is not finite.
template <template <class> class Layer>
bool passes_agree(Layer<float> const& layer, Layer<double> const& exact, std::ostream& outputs) {
  constexpr index batch = 2, time = 200, half = time / 2;
  matrix<float> const u = initial_weights{}.random<float>(batch * time, layer.width, 1);
  typename Layer<double>::state start(batch);
  matrix<double> const wanted = exact(u.cast<double>(), start);
  wane::require(wanted.norm() > 0 && std::isfinite(wanted.norm()), "the outputs have the norm ",
                wanted.norm(), "; with weights that make a layer it is finite and not 0");
  write(outputs, u), write(outputs, wanted);
  std::vector<index> each(time + 1);
  std::iota(each.begin(), each.end(), index{0});

  std::printf("[%d, %d, %d] in float, from a full pass in double (1e-6 at most, last over 1e-3):\n",
              int{batch}, int{time}, static_cast<int>(u.cols()));
  auto const distance = [&](char const* what, auto const& go) {
    typename Layer<float>::state carried(batch);
    matrix<float> y = matrix<float>::Constant(u.rows(), u.cols(), NAN);
    go(carried, y);
    double const error = (y.cast<double>() - wanted).norm() / wanted.norm();
    std::printf("  %-32s %.1e\n", what, error);
    return error;
  };
  auto const cut = [&](std::vector<index> const& cuts) {
    return [&, cuts](auto& carried, auto& y) { in_pieces(layer, u, cuts, carried, y); };
  };
  bool const whole = distance("a full pass", cut({0, time})) <= 1e-6;
  bool const pieces = distance("in pieces of 1, 66, 133", cut({0, 1, 67, time})) <= 1e-6;
  bool const tokens = distance("token by token", cut(each)) <= 1e-6;
  double const lost = distance("resumed without its position", [&](auto& carried, auto& y) {
    in_pieces(layer, u, {0, half}, carried, y);
    carried.memory.positions().assign(batch, 0);
    in_pieces(layer, u, {half, time}, carried, y);
  });
  return whole && pieces && tokens && lost > 1e-3;
}

// Writes the output of `to_stream` to a file. Throws wane::error if that fails.
void write_file(std::string const& file, auto const& to_stream) {
  std::ofstream to(file, std::ios::binary);
  wane::require(to.good(), file, " cannot be opened");
  to_stream(to);
  wane::require(to.flush().good(), file, " cannot be written");
}

// LAYER [--weights FILE] [--save FILE] [--outputs FILE]: reads weights, writes those it has, checks
// them, and writes the inputs of the check, [2, 200, width], and then the outputs.
// Returns 0 if the passes agree, 1 if not, and 2 for wrong arguments or a file that does not fit.
template <template <class> class Layer>
int program(int count, char** arguments) try {
  typename Layer<float>::weights weights(1);
  std::string outputs;
  for (int n = 1; n < count; n += 2) {
    std::string const option = arguments[n], file = n + 1 < count ? arguments[n + 1] : "";
    wane::require(
        (option == "--weights" || option == "--save" || option == "--outputs") && !file.empty(),
        "the argument is ", option, "; it must be --weights FILE, --save FILE or --outputs FILE");
    if (option == "--weights") {
      std::ifstream from(file, std::ios::binary);
      wane::require(from.good(), file, " cannot be opened");
      read_weights(from, weights, file);
    } else if (option == "--save") {
      write_file(file, [&](std::ostream& to) { write_weights(to, weights); });
    } else {
      outputs = file;
    }
  }
  // The reference begins with other weights, and reads these.
  typename Layer<double>::weights exact(2);
  std::stringstream copy, made;
  write_weights(copy, weights), read_weights(copy, exact, "the copy");
  bool const agree = passes_agree<Layer>(Layer<float>(weights), Layer<double>(exact), made);
  if (!outputs.empty()) write_file(outputs, [&](std::ostream& to) { to << made.rdbuf(); });
  return agree ? 0 : 1;
} catch (std::exception const& wrong) {
  std::fprintf(stderr, "%s\n", wrong.what());
  return 2;
}

}  // namespace layers
