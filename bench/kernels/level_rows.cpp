// The rows of memories whose past lies in levels, over gated linear attention and the delta rule.
// SPDX-License-Identifier: MIT
#include <array>
#include <bit>

#include "kernels/substep_problem.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/log_linear.hpp"
#include "wane/operators/log_linear_of.hpp"

namespace wane::bench {
namespace {

void add_log_linear() {
  add_row("log_linear/forward/H:4/D:64/n:10/T:512/threads:1", [] {
    static constexpr index levels = 10;
    auto const p = std::make_shared<substep_problem>(512, 4, 1, 1);
    float* const scale = p->some(p->time * p->heads * levels, 0, 1);
    auto const loop = [p, scale]<class T>(T, auto const& give) {
      for (index h = 0; h < p->heads; ++h) {
        std::vector<matrix_of<T>> s(levels, matrix_of<T>::Zero(p->size, p->size));
        for (index t = 0; t < p->time; ++t) {
          index const n = t * p->heads + h;
          T const w = std::exp(static_cast<T>(p->decay[n]));
          auto const k = p->row<T>(p->key, n), q = p->row<T>(p->query, n),
                     v = p->row<T>(p->value, n);
          vector_of<T> y = static_cast<T>(scale[n * levels]) * q.dot(k) * v;
          for (index l = 1; l < levels; ++l) {
            auto& of = s[static_cast<std::size_t>(l)];
            of *= t % (index(1) << l) == 0 ? T(0) : w;
            if (t >> (l - 1) & 1)
              y.noalias() += static_cast<T>(scale[n * levels + l]) * (of.transpose() * q);
            else
              of.noalias() += k * v.transpose();
          }
          give(n, y);
        }
      }
    };
    auto c = p->with(
        [p, scale] {
          timed_run(
              log_linear({.query = {p->query, 1, p->time, p->heads, p->size},
                          .key = {p->key, 1, p->time, p->heads, p->size},
                          .value = {p->value, 1, p->time, p->heads, p->size},
                          .level_scale = {scale, 1, p->time, p->heads, levels}},
                         token_view<float const>(p->decay, 1, p->time, p->heads), {.scale = 1}),
              p->output(), run_options<float>{.threads = 1});
        },
        2.5 * (levels - 1));
    c.rivals = {{"vs_sequential", in_float(p, loop)}};
    c.error = [p, loop] { return error_of(*p, loop); };
    return c;
  });
}

// A token of one head of the gated delta net, in T.
template <class T>
struct delta_token {
  vector_of<T> query, key, value;
  T strength, w;

  delta_token(substep_problem const& p, index n)
      : query(p.row<T>(p.query, n)),
        key(p.row<T>(p.key, n)),
        value(p.row<T>(p.value, n)),
        strength(static_cast<T>(p.strength[n])),
        w(std::exp(static_cast<T>(p.decay[n]))) {}

  // S <- e^g S + beta k (v - e^g S^T k)^T, with v or without.
  void advance(matrix_of<T>& s, bool writes) const {
    s *= w;
    vector_of<T> u = -(s.transpose() * key);
    if (writes) u += value;
    s.noalias() += strength * key * u.transpose();
  }
};

constexpr index levels = 10, width = substep_problem::size;

struct level_problem : substep_problem {
  float* const scale = some(time * heads * levels, 0, 1);
  float* const dy = rows(time * heads);
  // Gradients of query, key, value, strength, decay, scale, and their numbers a token and head.
  static constexpr std::array<index, 6> counts{width, width, width, 1, 1, levels};
  std::array<float*, 6> to;

  level_problem() : substep_problem(512, 4, 1, 1) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = memory.add<float>(time * heads * counts[i]);
  }
  template <class T>
  T scale_of(index n, index l) const {
    return static_cast<T>(scale[n * levels + l]);
  }
  auto op() const {
    gated_delta_net const delta({.query = {query, 1, time, heads, size},
                                 .key = {key, 1, time, heads, size},
                                 .value = {value, 1, time, heads, size},
                                 .strength = {strength, 1, time, heads}},
                                token_view<float const>(decay, 1, time, heads), {.scale = 1});
    return log_linear_of(delta, {scale, 1, time, heads, levels});
  }

  // Each level resets where it begins, and is written or read by every token.
  template <class T>
  void forward(auto const& give) const {
    for (index h = 0; h < heads; ++h) {
      std::vector<matrix_of<T>> s(levels, matrix_of<T>::Zero(size, size));
      for (index t = 0; t < time; ++t) {
        index const n = t * heads + h;
        delta_token<T> const x(*this, n);
        vector_of<T> sum = scale_of<T>(n, 0) * x.strength * x.query.dot(x.key) * x.value;
        for (index l = 1; l < levels; ++l) {
          auto& of = s[static_cast<std::size_t>(l)];
          if (t % (index(1) << l) == 0) of.setZero();
          bool const reads = t >> (l - 1) & 1;
          x.advance(of, !reads);
          if (reads) sum.noalias() += scale_of<T>(n, l) * (of.transpose() * x.query);
        }
        give(n, sum);
      }
    }
  }
  // The paper's: a token merges the levels below the one that it begins to read, so that half of
  // the levels are empty.
  template <class T>
  void forward_merging(auto const& give) const {
    for (index h = 0; h < heads; ++h) {
      std::vector<matrix_of<T>> s(levels, matrix_of<T>::Zero(size, size));
      for (index t = 0; t < time; ++t) {
        index const n = t * heads + h;
        if (t > 0) {
          delta_token<T> const last(*this, n - heads);
          auto const l = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(t)) + 1);
          s[l].noalias() = last.strength * last.key * last.value.transpose();
          for (std::size_t below = 1; below < l; ++below) s[l] += s[below];
        }
        delta_token<T> const x(*this, n);
        vector_of<T> sum = scale_of<T>(n, 0) * x.strength * x.query.dot(x.key) * x.value;
        for (index l = 1; l < levels; ++l)
          if (t >> (l - 1) & 1) {
            auto& of = s[static_cast<std::size_t>(l)];
            x.advance(of, false);
            sum.noalias() += scale_of<T>(n, l) * (of.transpose() * x.query);
          }
        give(n, sum);
      }
    }
  }
  // give(n, gradients) for every token; the states of all tokens of a head and level are kept.
  template <class T>
  void backward(auto const& give) const {
    using vector = vector_of<T>;
    matrix_of<T> const none = matrix_of<T>::Zero(size, size);
    std::vector<matrix_of<T>> kept(static_cast<std::size_t>(time) + 1, none);
    for (index h = 0; h < heads; ++h) {
      std::vector<std::array<vector, 6>> d(static_cast<std::size_t>(time));
      for (index t = 0; t < time; ++t) {
        auto& to_token = d[static_cast<std::size_t>(t)];
        for (std::size_t i = 0; i < counts.size(); ++i) to_token[i] = vector::Zero(counts[i]);
        index const n = t * heads + h;
        delta_token<T> const x(*this, n);
        vector const g = row<T>(dy, n);
        T const match = x.query.dot(x.key), along = g.dot(x.value), own = scale_of<T>(n, 0);
        auto& [of_query, of_key, of_value, of_strength, of_decay, of_scale] = to_token;
        of_query = own * x.strength * along * x.key, of_key = own * x.strength * along * x.query;
        of_value = own * x.strength * match * g, of_strength[0] = own * match * along;
        of_scale[0] = x.strength * match * along;
      }
      for (index l = 1; l < levels; ++l) {
        auto const begins = [&](index t) { return t % (index(1) << l) == 0; };
        auto const reads = [&](index t) { return (t >> (l - 1) & 1) != 0; };
        auto const before = [&](index t) -> matrix_of<T> const& {
          return begins(t) ? none : kept[static_cast<std::size_t>(t)];
        };
        for (index t = 0; t < time; ++t) {
          auto& after = kept[static_cast<std::size_t>(t) + 1];
          after = before(t);
          delta_token<T>(*this, t * heads + h).advance(after, !reads(t));
        }
        matrix_of<T> g = none;
        for (index t = time; t-- > 0;) {
          index const n = t * heads + h;
          delta_token<T> const x(*this, n);
          auto& [of_query, of_key, of_value, of_strength, of_decay, of_scale] =
              d[static_cast<std::size_t>(t)];
          if (reads(t)) {
            vector const of_y = row<T>(dy, n), asked = kept[static_cast<std::size_t>(t) + 1] * of_y;
            of_query += scale_of<T>(n, l) * asked, of_scale[l] = asked.dot(x.query);
            g.noalias() += scale_of<T>(n, l) * x.query * of_y.transpose();
          }
          vector u = -x.w * (before(t).transpose() * x.key);
          if (!reads(t)) u += x.value;
          vector const of_write = g * u, of_u = x.strength * (g.transpose() * x.key);
          of_strength[0] += x.key.dot(of_write);
          of_key += x.strength * of_write - x.w * (before(t) * of_u);
          if (!reads(t)) of_value += of_u;
          g.noalias() -= x.key * of_u.transpose();
          g *= x.w;
          of_decay[0] += before(t).cwiseProduct(g).sum();
          if (begins(t)) g.setZero();
        }
      }
      for (index t = 0; t < time; ++t) give(t * heads + h, d[static_cast<std::size_t>(t)]);
    }
  }
};

void add_log_linear_of() {
  std::string const size = "/H:4/D:64/n:10/T:512/threads:1";
  add_row("log_linear_of/forward" + size, [] {
    auto const p = std::make_shared<level_problem>();
    auto const loop = [p]<class T>(T, auto const& give) { p->template forward<T>(give); };
    auto const merging = [p]<class T>(T, auto const& give) {
      p->template forward_merging<T>(give);
    };
    auto c = p->with([p] { timed_run(p->op(), p->output(), run_options<float>{.threads = 1}); },
                     6 * (levels - 1));
    c.rivals = {{"vs_sequential", in_float(p, loop)}, {"vs_merging", in_float(p, merging)}};
    c.error = [p, loop] { return error_of(*p, loop); };
    return c;
  });
  add_row("log_linear_of/backward" + size, [] {
    auto const p = std::make_shared<level_problem>();
    auto c = p->with(
        [p] {
          index const T = p->time, H = p->heads, D = width;
          auto const& [query, key, value, strength, decay, scale] = p->to;
          timed_adjoint(p->op(), sequence_view<float const>(p->dy, 1, T, H, D),
                        decltype(p->op())::gradients{.memory = {.query = {query, 1, T, H, D},
                                                                .key = {key, 1, T, H, D},
                                                                .value = {value, 1, T, H, D},
                                                                .strength = {strength, 1, T, H},
                                                                .log_decay = {decay, 1, T, H}},
                                                     .level_scale = {scale, 1, T, H, levels}},
                        adjoint_options<float>{.threads = 1});
        },
        2.5 * 6 * (levels - 1));
    c.outputs.clear();
    for (std::size_t i = 0; i < p->to.size(); ++i)
      c.outputs.emplace_back(p->to[i], static_cast<std::size_t>(p->time * p->heads * p->counts[i]));
    auto const at = [p](std::size_t i, index n) {
      return Eigen::Map<vector_of<float>>(p->to[i] + n * p->counts[i], p->counts[i]);
    };
    c.rivals = {{"vs_sequential", [p, at] {
                   p->template backward<float>([&](index n, auto const& d) {
                     for (std::size_t i = 0; i < d.size(); ++i) at(i, n) = d[i];
                   });
                 }}};
    c.error = [p, at] {
      std::array<double, 6> largest{}, apart{};
      p->template backward<double>([&](index n, auto const& d) {
        for (std::size_t i = 0; i < d.size(); ++i) {
          largest[i] = larger(largest[i], d[i].cwiseAbs().maxCoeff());
          apart[i] =
              larger(apart[i], (at(i, n).template cast<double>() - d[i]).cwiseAbs().maxCoeff());
        }
      });
      double worst = 0;
      for (std::size_t i = 0; i < apart.size(); ++i) worst = larger(worst, apart[i] / largest[i]);
      return worst;
    };
    return c;
  });
}

}  // namespace

void add_level_rows() { add_log_linear(), add_log_linear_of(); }

}  // namespace wane::bench
