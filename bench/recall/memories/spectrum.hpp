// spectrum: the log rates of heads or of rows, free or by PoST's map, with PoST's taper.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "recall/memories/memory.hpp"
#include "wane/spectra/rates/post_initial.hpp"
#include "wane/spectra/rates/post_map.hpp"
#include "wane/spectra/rates/taper.hpp"

namespace wane::recall {

template <class T>
matrix<T> row_of(std::vector<double> const& numbers) {
  return Eigen::Map<Eigen::RowVectorXd const>(numbers.data(), std::ssize(numbers))
      .template cast<T>();
}

// As published, log rates are parameters, at first logs of numbers even in [1, 16]. With PoST they
// are log_rates(theta, delta), slowest first, and adaptive_taper makes the exponents from them, for
// the length trained at.
template <class T>
class spectrum {
 public:
  struct values {
    tensor log_rate;              // [1, H], or [1, H K]
    std::optional<tensor> taper;  // of the same shape

    // Numbers of T or T const as a parameter of a gate of `heads` heads.
    static auto parameter_of(auto& x, index heads) {
      using parameter = gate_parameter<std::remove_pointer_t<decltype(x.data())>>;
      if (x.size() == heads) return parameter(x.data(), heads);
      return parameter(x.data(), heads, x.size() / heads);
    }
    wane::taper<T> taper_of(tape<T> const& of, index heads) const {
      if (!taper) return {};
      return {parameter_of(of[*taper], heads)};
    }
    gate_parameter<T> gradient_of_taper(matrix<T>& exponents, index heads) const {
      if (!taper) return {};
      return parameter_of(exponents, heads);
    }
    void give(tape<T>& back, matrix<T> const& rates, matrix<T> const& exponents) const {
      back.give(log_rate, rates);
      if (taper) back.give(*taper, exponents);
    }
  };

  spectrum(parameters<T>& model, std::string const& name, index heads)
      : slowest_(
            model.given(name + ".A_log",
                        (T(8.5) + T(7.5) * model.even(name + ".A_log", 1, heads).array()).log())) {}
  spectrum(parameters<T>& model, std::string const& name, std::vector<double> const& initial,
           index trained_at)
      : log_length_(std::log(static_cast<double>(trained_at))) {
    auto const from = spectra::parameters_of(initial);
    slowest_ = model.filled(name + ".theta", 1, 1, from.slowest);
    gaps_ = model.given(name + ".delta", row_of<T>(from.gaps));
  }

  values operator()(tape<T>& on) const {
    if (!gaps_) return {learned(on, slowest_), {}};
    tensor const rates = mapped(on);
    return {rates, tapered(on, rates)};
  }

  // The two parts of PoST's values.
  tensor mapped(tape<T>& on) const {
    return on.record(
        row_of<T>(spectra::log_rates(post(on))), [*this](tape<T>& back, tensor result) {
          auto const g = spectra::log_rates_adjoint(post(back), numbers(back.gradient(result)));
          back.weight_gradient(slowest_)(0) += T(g.slowest);
          if (!g.gaps.empty()) back.weight_gradient(*gaps_) += row_of<T>(g.gaps);
        });
  }
  tensor tapered(tape<T>& on, tensor rates) const {
    auto const taper = [length = log_length_](matrix<T> const& p) {
      return spectra::adaptive_taper(numbers(p), length);
    };
    return on.record(row_of<T>(taper(on[rates]).values()),
                     [taper, rates](tape<T>& back, tensor result) {
                       auto const g = numbers(back.gradient(result));
                       back.give(rates, row_of<T>(taper(back[rates]).adjoint(g)));
                     });
  }

 private:
  static std::vector<double> numbers(matrix<T> const& row) {
    return {row.data(), row.data() + row.size()};
  }
  spectra::post_parameters post(tape<T> const& of) const {
    return {static_cast<double>(of.weight(slowest_)(0)), numbers(of.weight(*gaps_))};
  }

  std::size_t slowest_ = 0;  // theta, or without PoST all log rates
  std::optional<std::size_t> gaps_;
  double log_length_ = 0;
};

// Biases whose softplus is spread evenly, in the logarithm, over [0.001, 0.1], as dt is at first in
// Mamba-2 and Gated DeltaNet.
template <class T>
std::size_t time_step_bias(parameters<T>& model, std::string const& name, index heads) {
  matrix<T> bias = model.even(name, 1, heads);
  for (T& b : bias.reshaped())
    b = T(spectra::inverse_softplus(0.01 * std::pow(10., static_cast<double>(b))));
  return model.given(name, bias);
}

}  // namespace wane::recall
