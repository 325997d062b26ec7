// The rows of softmax_attention: H:16 heads of D:64, every query after all tokens before it.
// SPDX-License-Identifier: MIT
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/attention_loops.hpp"
#include "kernels/buffers.hpp"
#include "kernels/linear_recurrence_loops.hpp"
#include "kernels/row.hpp"
#include "shared/larger.hpp"
#include "wane/operators/softmax_attention.hpp"
#include "wane/run/attention/attend_adjoint.hpp"

namespace wane::bench {
namespace {

constexpr index heads = 16, size = 64;

struct attention_row {
  bool backward;
  index tokens;
  int threads = 1;

  std::string name() const {
    return std::string("softmax_attention/") + (backward ? "backward" : "forward") +
           "/H:" + std::to_string(heads) + "/D:" + std::to_string(size) +
           "/T:" + std::to_string(tokens) + "/threads:" + std::to_string(threads);
  }
};

// Queries, keys and values uniform in [-1, 1): scores of a fifth or so.
struct attention_problem {
  attention_row row;
  buffers memory;
  numbers next;
  float *query, *key, *value, *output, *output_gradient;
  float* gradients[3];  // of query, key and value

  explicit attention_problem(attention_row const& r)
      : row(r),
        query(filled()),
        key(filled()),
        value(filled()),
        output(filled()),
        output_gradient(filled()),
        gradients{filled(), filled(), filled()} {}

  index count() const { return row.tokens * heads * size; }
  float* filled() {
    float* const x = memory.add<float>(count());
    for (index i = 0; i < count(); ++i) x[i] = static_cast<float>(next(-1, 1));
    return x;
  }
  sequence_view<float> all(float* x) const { return {x, 1, row.tokens, heads, size}; }

  void ours() const {
    softmax_attention<float> const op({.query = all(query), .key = all(key), .value = all(value)});
    attend_options const options{.threads = row.threads};
    if (row.backward)
      attend_adjoint(
          op, all(output_gradient),
          {.query = all(gradients[0]), .key = all(gradients[1]), .value = all(gradients[2])},
          options);
    else
      attend(op, all(output), options);
  }

  // Head h of a tensor, [T, D].
  auto of_head(float* x, index h) const {
    return Eigen::Map<attention_matrix<float>, 0, Eigen::OuterStride<>>(
        x + h * size, row.tokens, size, Eigen::OuterStride<>(heads * size));
  }
  static constexpr double scale = 0.125;  // 1/sqrt(D)
  template <class T>
  attention_head<T> head(index h) const {
    return {of_head(query, h).cast<T>() * T(scale), of_head(key, h).cast<T>(),
            of_head(value, h).cast<T>()};
  }
  template <class T>
  attention_head<T> gradients_of_head(index h) const {
    attention_head<T> to;
    attention_matrix<T> const dy = of_head(output_gradient, h).cast<T>();
    attention_backward(head<T>(h), dy, to);
    to.query *= T(scale);
    return to;
  }
  void loop() const {
    for (index h = 0; h < heads; ++h) {
      auto y = of_head(output, h);
      if (row.backward) {
        attention_head<float> const d = gradients_of_head<float>(h);
        of_head(gradients[0], h) = d.query;
        of_head(gradients[1], h) = d.key;
        of_head(gradients[2], h) = d.value;
      } else {
        attention_forward(head<float>(h), [&](index t, auto const& of_t) { y.row(t) = of_t; });
      }
    }
  }
  // Compares two heads; returns the largest error of the results.
  double error() const {
    difference of[4];
    auto const compare = [](attention_matrix<double> const& is, auto const& must_be,
                            difference& found) {
      for (index i = 0; i < is.size(); ++i) found.add(is.data()[i], must_be.data()[i]);
    };
    for (index const h : {index{0}, heads - 1})
      if (row.backward) {
        attention_head<double> const d = gradients_of_head<double>(h);
        compare(of_head(gradients[0], h).cast<double>(), d.query, of[0]);
        compare(of_head(gradients[1], h).cast<double>(), d.key, of[1]);
        compare(of_head(gradients[2], h).cast<double>(), d.value, of[2]);
      } else {
        attention_matrix<double> y(row.tokens, size);
        attention_forward(head<double>(h), [&](index t, auto const& of_t) { y.row(t) = of_t; });
        compare(of_head(output, h).cast<double>(), y, of[3]);
      }
    if (!row.backward) return of[3].relative();
    double largest = 0;
    for (int i = 0; i < 3; ++i) largest = larger(largest, of[i].relative());
    return largest;
  }
  std::vector<std::span<float>> outputs() const {
    auto const whole = [&](float* x) { return std::span(x, static_cast<std::size_t>(count())); };
    if (!row.backward) return {whole(output)};
    return {whole(gradients[0]), whole(gradients[1]), whole(gradients[2])};
  }
};

void add(attention_row const& row) {
  add_row(row.name(), [row] {
    auto const problem = std::make_shared<attention_problem>(row);
    contest c;
    c.ours = [problem] { problem->ours(); };
    c.by_runners = false;
    c.rivals = {{"vs_sequential", [problem] { problem->loop(); }}};
    c.tokens = static_cast<double>(row.tokens);
    // Two products for T (T + 1) / 2 pairs, backward five.
    c.flops = static_cast<double>((row.backward ? 10 : 4) * heads * size * row.tokens *
                                  (row.tokens + 1) / 2);
    c.moved.threads = row.threads;
    c.outputs = problem->outputs();
    c.error = [problem] { return problem->error(); };
    return c;
  });
}

}  // namespace

void add_attention_rows() {
  add({false, 512});
  add({false, 2048});
  add({false, 2048, 2});
  add({true, 512});
}

}  // namespace wane::bench
