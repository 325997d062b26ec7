// The program of a layer of a checkpoint: weights by name from a safetensors file, and its check.
// SPDX-License-Identifier: MIT
#pragma once

#include <wane/files.hpp>

#include "layer_program.hpp"

namespace layers {

using shape = std::vector<index>;

// A Layer<T> has `sizes`, made from the shapes in a file by sizes_in(file, prefix), and `drawn`,
// those of drawn weights; prefix_of(layer), with which the names of its tensors begin; and
// each(visit), which calls visit(name, shape, matrix) for its tensors.

// The numbers of a matrix in memory.
auto all_of(auto& x) { return std::span(x.data(), static_cast<std::size_t>(x.size())); }

// Extent `which` of a tensor, for the sizes of a layer. Throws wane::error if it is none or 0.
inline index extent_of(wane::safetensors const& file, std::string const& name, std::size_t which) {
  shape const& s = file.at(name).shape;
  wane::require(which < s.size() && s[which] > 0, "tensor ", name, " has ", s.size(),
                " extents; it must have more, and none of them 0");
  return s[which];
}

// Matrices have the first extent as rows and the last as columns; a tensor of one extent is a row.
// Throws wane::error where the file lacks a tensor or has one of another shape.
void read_tensors(wane::safetensors const& file, std::string const& prefix, auto& layer) {
  layer.each([&](char const* name, shape const& s, auto& x) {
    x.resize(s.size() > 1 ? s.front() : 1, s.back());
    file.copy(prefix + name, s, all_of(x));
  });
}
// The same numbers in float and in double.
template <class T>
void draw_tensors(auto& layer) {
  initial_weights start;
  layer.each([&](char const*, shape const& s, auto& x) {
    x = s.size() > 1 ? start.linear<T>(s.front(), s.back()) : start.random<T>(1, s.back(), 1);
  });
}
void save_tensors(std::string const& path, std::string const& prefix, auto& layer) {
  std::vector<wane::stored_tensor> all;
  layer.each([&](char const* name, shape const& s, auto const& x) {
    all.push_back(wane::stored_tensor::of(prefix + name, s, all_of(x)));
  });
  wane::write_safetensors(path, all, {{"format", "pt"}});
}

// Prints how far the layer in float, whole and in pieces, is from a full pass in double; returns
// whether that is 1e-5 of the norm at most, which leaves sums over wide layers room to round. The
// inputs and the outputs in double go to `outputs`.
template <template <class> class Layer>
bool agrees_with_double(Layer<float> const& layer, Layer<double> const& exact,
                        std::ostream& outputs) {
  constexpr index batch = 2, time = 70;
  matrix<float> const u = initial_weights{}.random<float>(batch * time, layer.size.width, 1);
  auto start = exact.start(batch);
  matrix<double> const wanted = exact(u.cast<double>(), start);
  write(outputs, u), write(outputs, wanted);
  std::vector<index> each(time + 1);
  std::iota(each.begin(), each.end(), index{0});
  bool agree = true;
  for (auto const& cuts : {std::vector<index>{0, time}, {0, 1, 33, time}, each}) {
    auto carried = layer.start(batch);
    matrix<float> y = matrix<float>::Constant(u.rows(), u.cols(), NAN);
    in_pieces(layer, u, cuts, carried, y);
    double const error = (y.cast<double>() - wanted).norm() / wanted.norm();
    std::printf("[%d, %d, %d] in %d pieces: %.1e from a full pass in double (1e-5 at most)\n",
                int{batch}, int{time}, static_cast<int>(u.cols()),
                static_cast<int>(cuts.size()) - 1, error);
    agree = agree && error <= 1e-5;
  }
  return agree;
}

// LAYER [--weights FILE [--layer N]] [--save FILE] [--outputs FILE]: reads the weights of layer N
// (0), or draws some; writes those it has, checks them, and writes the inputs of the check,
// [2, 70, width], and then the outputs, as float32.
// Returns 0 if the passes agree, 1 if not, and 2 for wrong arguments or a file that does not fit.
template <template <class> class Layer>
int checkpoint_program(int count, char** arguments) try {
  std::string weights, save, outputs, number = "0";
  for (int n = 1; n < count; n += 2) {
    std::string const option = arguments[n], value = n + 1 < count ? arguments[n + 1] : "";
    std::string* const to = option == "--weights"   ? &weights
                            : option == "--layer"   ? &number
                            : option == "--save"    ? &save
                            : option == "--outputs" ? &outputs
                                                    : nullptr;
    wane::require(to != nullptr && !value.empty(), "the argument is ", option,
                  "; it must be --weights FILE, --layer N, --save FILE or --outputs FILE");
    *to = value;
  }
  Layer<float> layer;
  Layer<double> exact;
  std::string const prefix = Layer<float>::prefix_of(number);
  if (weights.empty()) {
    draw_tensors<float>(layer), draw_tensors<double>(exact);
  } else {
    wane::safetensors const file(weights);
    layer.size = exact.size = Layer<float>::sizes_in(file, prefix);
    read_tensors(file, prefix, layer), read_tensors(file, prefix, exact);
  }
  if (!save.empty()) save_tensors(save, prefix, layer);
  std::ostringstream made;
  bool const agree = agrees_with_double(layer, exact, made);
  if (!outputs.empty()) write_file(outputs, [&](std::ostream& to) { to << made.str(); });
  return agree ? 0 : 1;
} catch (std::exception const& wrong) {
  std::fprintf(stderr, "%s\n", wrong.what());
  return 2;
}

}  // namespace layers
