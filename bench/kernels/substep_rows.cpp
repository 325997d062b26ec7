// The rows of tokens in several substeps.
// SPDX-License-Identifier: MIT
#include "kernels/substep_problem.hpp"
#include "wane/operators/delta_product.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/grouped_queries.hpp"

namespace wane::bench {
namespace {

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

}  // namespace

void add_substep_rows() { add_delta_product(), add_grouped_queries(); }

}  // namespace wane::bench
