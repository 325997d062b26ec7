// The rows of tokens in several substeps, and of memories that another recurrence leads.
// SPDX-License-Identifier: MIT
#include <memory>

#include "kernels/buffers.hpp"
#include "kernels/eigen.hpp"
#include "kernels/passes.hpp"
#include "kernels/row.hpp"
#include "shared/larger.hpp"
#include "wane/operators/delta_product.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/grouped_queries.hpp"
#include "wane/operators/mesa_net.hpp"
#include "wane/operators/mlstm.hpp"
#include "wane/operators/preconditioned_delta_net.hpp"

namespace wane::bench {
namespace {

template <class T>
using vector_of = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using matrix_of = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A sequence of heads with states of 64 x 64: [T, heads, 64] tensors of unit rows, and numbers of
// each token and head.
struct substep_problem {
  static constexpr index size = 64;
  index time, heads, queries, writes;  // query heads a head, writes a token
  buffers memory;
  numbers next;
  float *query, *key, *value, *strength, *decay, *lambda, *y;

  substep_problem(index tokens, index of_heads, index of_queries, index of_writes)
      : time(tokens), heads(of_heads), queries(of_queries), writes(of_writes) {
    query = rows(time * heads * queries), key = rows(time * writes * heads);
    value = rows(time * writes * heads);
    strength = some(time * writes * heads, 0.1, 0.9), decay = some(time * heads, -0.1, -0.001);
    lambda = some(heads * size, 0.25, 1);
    y = memory.add<float>(time * heads * queries * size);
  }
  float* some(index count, double low, double high) {
    float* const x = memory.add<float>(count);
    for (index i = 0; i < count; ++i) x[i] = static_cast<float>(next(low, high));
    return x;
  }
  float* rows(index count) {
    float* const x = some(count * size, -1, 1);
    for (index i = 0; i < count; ++i) Eigen::Map<vector_of<float>>(x + i * size, size).normalize();
    return x;
  }
  template <class T>
  vector_of<T> row(float const* x, index n) const {
    return Eigen::Map<vector_of<float> const>(x + n * size, size).template cast<T>();
  }
  sequence_view<float> output() const { return {y, 1, time, heads * queries, size}; }

  contest with(std::function<void()> ours, double flops_of_number) const {
    contest c;
    c.ours = std::move(ours);
    c.tokens = static_cast<double>(time);
    c.flops = flops_of_number * static_cast<double>(time * heads * size * size);
    c.outputs = {{y, static_cast<std::size_t>(time * heads * queries * size)}};
    return c;
  }
};

// The largest difference of our outputs from `loop`, called with a double and give(n, y).
double error_of(substep_problem const& p, auto const& loop) {
  double largest = 0, apart = 0;
  loop(double{}, [&](index n, auto const& y) {
    auto const ours = p.row<double>(p.y, n);
    largest = larger(largest, y.cwiseAbs().maxCoeff());
    apart = larger(apart, (ours - y).cwiseAbs().maxCoeff());
  });
  return apart / largest;
}
// The same loop in float, into the outputs.
std::function<void()> in_float(std::shared_ptr<substep_problem> p, auto loop) {
  return [p, loop] {
    loop(float{}, [&](index n, auto const& y) {
      Eigen::Map<vector_of<float>>(p->y + n * p->size, p->size) = y;
    });
  };
}

void add_delta_product() {
  add_row("delta_product/forward/H:16/D:64/n:2/T:1024/threads:1", [] {
    auto const p = std::make_shared<substep_problem>(1024, 16, 1, 2);
    auto const loop = [p]<class T>(T, auto const& give) {
      for (index h = 0; h < p->heads; ++h) {
        matrix_of<T> s = matrix_of<T>::Zero(p->size, p->size);
        for (index t = 0; t < p->time; ++t) {
          for (index j = t * p->writes; j < (t + 1) * p->writes; ++j) {
            auto const k = p->row<T>(p->key, j * p->heads + h);
            vector_of<T> const v = static_cast<T>(p->strength[j * p->heads + h]) *
                                   (p->row<T>(p->value, j * p->heads + h) - s.transpose() * k);
            s.noalias() += k * v.transpose();
          }
          index const n = t * p->heads + h;
          give(n, vector_of<T>(s.transpose() * p->row<T>(p->query, n)));
        }
      }
    };
    auto c = p->with(
        [p] {
          index const all = p->time * p->writes;
          timed_run(delta_product<float>({.query = {p->query, 1, p->time, p->heads, p->size},
                                          .key = {p->key, 1, all, p->heads, p->size},
                                          .value = {p->value, 1, all, p->heads, p->size},
                                          .strength = {p->strength, 1, all, p->heads}},
                                         {.scale = 1}),
                    p->output(), run_options<float>{.threads = 1});
        },
        10);
    c.rivals = {{"vs_sequential", in_float(p, loop)}};
    c.error = [p, loop] { return error_of(*p, loop); };
    return c;
  });
}

void add_grouped_queries() {
  add_row("grouped_queries/forward/H:4/n:4/D:64/T:1024/threads:1", [] {
    auto const p = std::make_shared<substep_problem>(1024, 4, 4, 1);
    auto const loop = [p]<class T>(T, auto const& give) {
      for (index h = 0; h < p->heads; ++h) {
        matrix_of<T> s = matrix_of<T>::Zero(p->size, p->size);
        for (index t = 0; t < p->time; ++t) {
          index const n = t * p->heads + h;
          s *= std::exp(static_cast<T>(p->decay[n]));
          s.noalias() += p->row<T>(p->key, n) * p->row<T>(p->value, n).transpose();
          for (index q = n * p->queries; q < (n + 1) * p->queries; ++q)
            give(q, vector_of<T>(s.transpose() * p->row<T>(p->query, q)));
        }
      }
    };
    // Keys, values and decays repeated, as separate states need them.
    auto const repeat = [&](float const* from, index width) {
      float* const to = p->memory.add<float>(p->time * p->heads * p->queries * width);
      for (index n = 0; n < p->time * p->heads * p->queries; ++n)
        std::copy_n(from + n / p->queries * width, width, to + n * width);
      return to;
    };
    float *const keys = repeat(p->key, p->size), *const values = repeat(p->value, p->size),
                 *const decays = repeat(p->decay, 1);
    auto c = p->with(
        [p] {
          gla const memory({.query = {p->query, 1, p->time, p->heads * p->queries, p->size},
                            .key = {p->key, 1, p->time, p->heads, p->size},
                            .value = {p->value, 1, p->time, p->heads, p->size}},
                           token_view<float const>(p->decay, 1, p->time, p->heads),
                           {.scale = 1, .queries = p->queries});
          timed_run(grouped_queries(memory), p->output(), run_options<float>{.threads = 1});
        },
        3 + 2 * 4);
    c.rivals = {{"vs_sequential", in_float(p, loop)},
                {"vs_separate", [=] {
                   index const all = p->heads * p->queries;
                   run(gla({.query = {p->query, 1, p->time, all, p->size},
                            .key = {keys, 1, p->time, all, p->size},
                            .value = {values, 1, p->time, all, p->size}},
                           token_view<float const>(decays, 1, p->time, all), {.scale = 1}),
                       p->output(), run_options<float>{.threads = 1});
                 }}};
    c.error = [p, loop] { return error_of(*p, loop); };
    return c;
  });
}

// `steps` of conjugate gradients from q / diag(A), or with 0 the solution by a factor.
template <class T>
vector_of<T> solve(matrix_of<T> const& a, vector_of<T> const& q, int steps) {
  if (steps == 0) return a.llt().solve(q);
  vector_of<T> x = q.cwiseQuotient(a.diagonal()), r = q - a * x, p = r;
  T square = r.squaredNorm();
  for (int n = 0; n < steps && square > 0; ++n) {
    vector_of<T> const ap = a * p;
    T const step = square / p.dot(ap);
    x += step * p, r -= step * ap;
    T const next = r.squaredNorm();
    p = r + next / square * p;
    square = next;
  }
  return x;
}

void add_mesa_net() {
  add_row("mesa_net/forward/H:4/D:64/T:256/threads:1", [] {
    auto const p = std::make_shared<substep_problem>(256, 4, 1, 1);
    auto const loop = [p](int steps) {
      return [p, steps]<class T>(T, auto const& give) {
        for (index h = 0; h < p->heads; ++h) {
          matrix_of<T> s = matrix_of<T>::Zero(p->size, p->size), squares = s;
          for (index t = 0; t < p->time; ++t) {
            index const n = t * p->heads + h;
            T const w = std::exp(static_cast<T>(p->decay[n])),
                    beta = static_cast<T>(p->strength[n]);
            auto const k = p->row<T>(p->key, n);
            s *= w, squares *= w;
            s.noalias() += beta * k * p->row<T>(p->value, n).transpose();
            squares.noalias() += beta * k * k.transpose();
            matrix_of<T> a = squares;
            a.diagonal() += p->row<T>(p->lambda, h);
            give(n, vector_of<T>(s.transpose() * solve<T>(a, p->row<T>(p->query, n), steps)));
          }
        }
      };
    };
    auto c = p->with(
        [p] {
          timed_run(mesa_net({.query = {p->query, 1, p->time, p->heads, p->size},
                              .key = {p->key, 1, p->time, p->heads, p->size},
                              .value = {p->value, 1, p->time, p->heads, p->size},
                              .strength = {p->strength, 1, p->time, p->heads},
                              .lambda = {p->lambda, p->heads, p->size}},
                             token_view<float const>(p->decay, 1, p->time, p->heads)),
                    p->output(), run_options<float>{.threads = 1});
        },
        // The state of 64 x 64 twice, and its factor.
        4.5 * 2 + 64. / 3);
    c.rivals = {{"vs_sequential", in_float(p, loop(0))},
                {"vs_conjugate_gradients", in_float(p, loop(30))}};
    c.error = [p, loop] { return error_of(*p, loop(0)); };
    return c;
  });
}

void add_mlstm() {
  add_row("mlstm/forward/H:16/D:64/T:512/threads:1", [] {
    auto const p = std::make_shared<substep_problem>(512, 16, 1, 1);
    auto const loop = [p]<class T>(T, auto const& give) {
      for (index h = 0; h < p->heads; ++h) {
        matrix_of<T> c = matrix_of<T>::Zero(p->size, p->size);
        vector_of<T> sum = vector_of<T>::Zero(p->size);
        T m(0);
        for (index t = 0; t < p->time; ++t) {
          index const n = t * p->heads + h;
          T const kept = static_cast<T>(p->decay[n]) + m, input = static_cast<T>(p->strength[n]);
          m = kept < input ? input : kept;
          vector_of<T> const k = std::exp(input - m) * p->row<T>(p->key, n);
          c *= std::exp(kept - m), sum *= std::exp(kept - m);
          c.noalias() += k * p->row<T>(p->value, n).transpose(), sum += k;
          auto const q = p->row<T>(p->query, n);
          T const size = std::abs(sum.dot(q)), floor = std::exp(-m);
          give(n, vector_of<T>(c.transpose() * q / (size < floor ? floor : size)));
        }
      }
    };
    auto c = p->with(
        [p] {
          timed_run(mlstm({.query = {p->query, 1, p->time, p->heads, p->size},
                           .key = {p->key, 1, p->time, p->heads, p->size},
                           .value = {p->value, 1, p->time, p->heads, p->size},
                           .input_gate = {p->strength, 1, p->time, p->heads}},
                          token_view<float const>(p->decay, 1, p->time, p->heads), {.scale = 1}),
                    p->output(), run_options<float>{.threads = 1});
        },
        4.5);
    c.rivals = {{"vs_sequential", in_float(p, loop)}};
    c.error = [p, loop] { return error_of(*p, loop); };
    return c;
  });
}

void add_preconditioned() {
  add_row("preconditioned_delta_net/forward/H:16/D:64/T:512/threads:1", [] {
    auto const p = std::make_shared<substep_problem>(512, 16, 1, 1);
    auto const loop = [p]<class T>(T, auto const& give) {
      for (index h = 0; h < p->heads; ++h) {
        matrix_of<T> s = matrix_of<T>::Zero(p->size, p->size);
        vector_of<T> a = vector_of<T>::Zero(p->size);
        for (index t = 0; t < p->time; ++t) {
          index const n = t * p->heads + h;
          T const w = std::exp(static_cast<T>(p->decay[n])), beta = static_cast<T>(p->strength[n]);
          auto const k = p->row<T>(p->key, n);
          a = w * a + beta * k.cwiseAbs2();
          vector_of<T> const r = (a.array() + T(1e-6)).log() + T(0.2);
          vector_of<T> const m = (T(-std::log(1.5)) * r.array() / (T(1) + r.array().abs())).exp();
          s *= w;
          vector_of<T> const v = p->row<T>(p->value, n) - s.transpose() * k;
          s.noalias() += beta * m.cwiseProduct(k) * v.transpose();
          give(n, vector_of<T>(s.transpose() * p->row<T>(p->query, n)));
        }
      }
    };
    auto c = p->with(
        [p] {
          token_view<float const> const decay(p->decay, 1, p->time, p->heads),
              strength(p->strength, 1, p->time, p->heads);
          timed_run(preconditioned_delta_net({.query = {p->query, 1, p->time, p->heads, p->size},
                                              .key = {p->key, 1, p->time, p->heads, p->size},
                                              .value = {p->value, 1, p->time, p->heads, p->size},
                                              .strength = strength,
                                              .curvature_strength = strength,
                                              .curvature_decay = decay},
                                             decay, {.keys = {.scale = 1}}),
                    p->output(), run_options<float>{.threads = 1});
        },
        6);
    c.rivals = {{"vs_sequential", in_float(p, loop)}};
    c.error = [p, loop] { return error_of(*p, loop); };
    return c;
  });
}

}  // namespace

void add_substep_rows() {
  add_delta_product(), add_grouped_queries(), add_mesa_net(), add_mlstm(), add_preconditioned();
}

}  // namespace wane::bench
