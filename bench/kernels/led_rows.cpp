// The rows of memories that another recurrence leads; MesaNet beside conjugate gradients.
// SPDX-License-Identifier: MIT
#include "kernels/substep_problem.hpp"
#include "wane/operators/mamba3.hpp"
#include "wane/operators/mesa_net.hpp"
#include "wane/operators/mlstm.hpp"
#include "wane/operators/preconditioned_delta_net.hpp"

namespace wane::bench {
namespace {

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

// Half of the rows of B and C turn, as in Mamba-3's default. Ranks have B, C and x of their own.
void add_mamba3(int ranks) {
  std::string const of_ranks = ranks > 1 ? "_mimo" : "";
  add_row("mamba3" + of_ranks + "/forward/H:16/D:64/T:512/threads:1", [ranks] {
    auto const p = std::make_shared<substep_problem>(512, 16, ranks, ranks);
    index const angles = p->size / 4;
    float* const angle = p->some(p->time * p->heads * angles, -0.3, 0.3);
    float* const delta = p->some(p->time * p->heads, 1, 1);
    auto const loop = [p, ranks, angles, angle]<class T>(T, auto const& give) {
      for (index h = 0; h < p->heads; ++h) {
        matrix_of<T> s = matrix_of<T>::Zero(p->size, p->size),
                     b = matrix_of<T>::Zero(p->size, ranks), x = b, c = b;
        vector_of<T> phi = vector_of<T>::Zero(angles);
        for (index t = 0; t < p->time; ++t) {
          index const n = t * p->heads + h;
          T const lambda = static_cast<T>(p->strength[n]),
                  w = std::exp(static_cast<T>(p->decay[n]));
          s.noalias() += (T(1) - lambda) * b * x.transpose();
          for (index r = 0; r < ranks; ++r) {
            b.col(r) = p->row<T>(p->key, n * ranks + r);
            c.col(r) = p->row<T>(p->query, n * ranks + r);
            x.col(r) = p->row<T>(p->value, n * ranks + r);
          }
          for (index i = 0; i < angles; ++i) {
            phi[i] += static_cast<T>(angle[n * angles + i]);
            T const cosine = std::cos(phi[i]), sine = std::sin(phi[i]);
            for (auto* of : {&b, &c})
              for (index r = 0; r < ranks; ++r) {
                T const first = (*of)(2 * i, r), second = (*of)(2 * i + 1, r);
                (*of)(2 * i, r) = cosine * first - sine * second;
                (*of)(2 * i + 1, r) = sine * first + cosine * second;
              }
          }
          s *= w;
          s.noalias() += lambda * b * x.transpose();
          for (index r = 0; r < ranks; ++r)
            give(n * ranks + r, vector_of<T>(s.transpose() * c.col(r)));
        }
      }
    };
    auto c = p->with(
        [p, ranks, angles, angle, delta] {
          index const T = p->time, H = p->heads, D = p->size;
          timed_run(mamba3({.x = {p->value, 1, T, H * ranks, D},
                            .B = {p->key, 1, T, H * ranks, D},
                            .C = {p->query, 1, T, H * ranks, D},
                            .delta = {delta, 1, T, H},
                            .trapezoid = {p->strength, 1, T, H},
                            .angle = {angle, 1, T, H, angles}},
                           token_view<float const>(p->decay, 1, T, H)),
                    p->output(), run_options<float>{.threads = 1});
        },
        // A decay, 2 writes and a read for each rank.
        1 + 6. * ranks);
    c.rivals = {{"vs_sequential", in_float(p, loop)}};
    c.error = [p, loop] { return error_of(*p, loop); };
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
                                              .curvature_log_decay = decay},
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

void add_led_rows() {
  add_mamba3(1), add_mamba3(4);
  add_mesa_net(), add_mlstm(), add_preconditioned();
}

}  // namespace wane::bench
