// tape: the values of a model, in the order in which they are found, and the way back to gradients.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "recall/tasks/task.hpp"
#include "shared/fnv.hpp"
#include "shared/random.hpp"
#include "wane/core/recurrence/place.hpp"
#include "wane/spectra/rates/random.hpp"

namespace wane::recall {

// [B T, channels], the T tokens of a sequence one below the other; weights are [in, out].
template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A matrix that is learned.
template <class T>
struct parameter {
  std::string name;
  matrix<T> value;
  bool decays;  // towards 0 by weight decay: maps and embeddings do, rates, biases and norms do not
};
// The parameters of a model, in the order in which its layers ask for them. Gradients and moments
// are matrices in the same order. A parameter's first numbers follow from the seed and its name:
// models of one seed that share a part begin with the same numbers in it.
template <class T>
class parameters {
 public:
  explicit parameters(unsigned seed) : seed_(seed) {}

  // Numbers evenly spread over [-reach, reach]. Returns the place in the list.
  std::size_t spread(std::string const& name, index rows, index columns, double reach) {
    return add(name, T(reach) * even(name, rows, columns), true);
  }
  // Given numbers, without weight decay: rates, biases, norms.
  std::size_t given(std::string const& name, matrix<T> const& values) {
    return add(name, values, false);
  }
  std::size_t filled(std::string const& name, index rows, index columns, double with) {
    return given(name, matrix<T>::Constant(rows, columns, T(with)));
  }
  // Even numbers in [-1, 1) that belong to the name.
  matrix<T> even(std::string const& name, index rows, index columns) const {
    bench::random_bits bits(bench::fnv_1a(name, seed_));
    auto const next = [&] { return T(2 * spectra::unit_uniform(bits) - 1); };
    return matrix<T>::NullaryExpr(rows, columns, next);
  }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  parameter<T>& operator[](std::size_t i) { return list_[i]; }
  parameter<T> const& operator[](std::size_t i) const { return list_[i]; }
  std::size_t size() const { return list_.size(); }
  std::vector<matrix<T>> zeros() const {
    std::vector<matrix<T>> all;
    for (auto const& p : list_) all.push_back(matrix<T>::Zero(p.value.rows(), p.value.cols()));
    return all;
  }

 private:
  std::size_t add(std::string const& name, matrix<T> value, bool decays) {
    list_.push_back({name, std::move(value), decays});
    return list_.size() - 1;
  }

  unsigned seed_;
  std::deque<parameter<T>> list_;
};

// A value on a tape.
struct tensor {
  std::size_t place;
};

//   tape<float> on(model, gradients);
//   tensor const h = linear(on, x, weight);
//   on.gradient(h) = ...;
//   on.backward();  // adds to the gradients of the parameters
//
// Operations read values, record their result, and say how its gradient reaches the gradients of
// what they read.
template <class T>
class tape {
 public:
  // `gradients` belong to the parameters, in their order. Without them there is no way back.
  explicit tape(parameters<T> const& model, std::vector<matrix<T>>* gradients = nullptr)
      : model_(model), gradients_(gradients) {}

  bool learns() const { return gradients_ != nullptr; }
  matrix<T> const& operator[](tensor x) const { return values_[x.place].value; }
  matrix<T> const& weight(std::size_t i) const { return model_[i].value; }
  matrix<T>& weight_gradient(std::size_t i) { return (*gradients_)[i]; }

  // The gradient of a value, zeros at first.
  matrix<T>& gradient(tensor x) {
    node& of = values_[x.place];
    if (of.gradient.size() == 0) of.gradient.setZero(of.value.rows(), of.value.cols());
    return of.gradient;
  }
  // Adds to the gradient of a value.
  template <class Part>
  void give(tensor x, Part&& part) {
    matrix<T>& to = values_[x.place].gradient;
    if (to.size() == 0)
      to = std::forward<Part>(part);
    else
      to += part;
  }

  // back(result) is called on the way back, where the gradient of the result is whole.
  template <class Back>
  tensor record(matrix<T> value, Back back) {
    tensor const result{values_.size()};
    values_.push_back({std::move(value), {}, {}});
    if (learns()) values_.back().back = [this, result, back] { back(*this, result); };
    return result;
  }

  // Note what a memory carries, for all sequences together.
  void note_state(index bytes) { noted_.bytes += bytes; }
  void note_nodes(double active) { noted_.nodes += active; }
  // [B T, H]; of several layers the last one counts.
  void note_orders(matrix<T> const& alpha) { token_orders_ = alpha.rowwise().mean(); }
  carried const& noted() const { return noted_; }
  // [B T, 1]; empty where no order is learned.
  matrix<T> const& token_orders() const { return token_orders_; }

  void backward() {
    for (std::size_t i = values_.size(); i-- > 0;) {
      node& of = values_[i];
      if (of.back && of.gradient.size() > 0) of.back();
      of.gradient.resize(0, 0);
    }
  }

 private:
  struct node {
    matrix<T> value, gradient;
    std::function<void()> back;
  };

  parameters<T> const& model_;
  std::vector<matrix<T>>* gradients_;
  std::deque<node> values_;
  carried noted_;
  matrix<T> token_orders_;
};

}  // namespace wane::recall
