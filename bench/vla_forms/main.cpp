// wane-vla-forms: the cost of VLA's recurrence in each of its forms, and the error of float.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

#include "vla_forms/forms.hpp"
#include "wane/operators/vla.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {
namespace {

constexpr char const* purpose =
    "wane-vla-forms: VLA with the rule rls, one sequence and head of D x D, one thread, in every\n"
    "form: by token (Sherman-Morrison), in chunks that hold A or the factor R of its inverse (all\n"
    "three in Eigen), and wane's run and step, which hold R. Nanoseconds a token, the least of\n"
    "five; errors of float are the largest difference from R in double over the largest output:\n"
    "of normal keys, and of 8 words, asked for by themselves and by queries that are none of them.";

using tokens_of_float = token_matrices<float>;
using matrix = dense<float>;

// Keys and queries are normal, or one of 8 words each.
tokens_of_float tokens_of(index count, index size, bool words) {
  std::mt19937 bits(7);
  std::normal_distribution<float> normal;
  auto const some = [&](index columns) {
    return matrix(matrix::NullaryExpr(size, columns, [&] { return normal(bits); }));
  };
  matrix const dictionary = some(8);
  auto const rows = [&] {
    matrix x = some(count);
    if (words)
      for (index t = 0; t < count; ++t) x.col(t) = dictionary.col(static_cast<index>(bits() % 8));
    x.colwise().normalize();
    return x;
  };
  matrix const query = rows(), key = rows();
  return {query, key, some(count)};
}

matrix by_wane(tokens_of_float const& x, float lambda, bool in_steps) {
  index const count = x.count(), size = x.rows();
  matrix y(size, count);
  auto const rows = [&](matrix const& of) {
    return sequence_view<float const>(of.data(), 1, count, 1, size);
  };
  vla<float> const op({.query = rows(x.query), .key = rows(x.key), .value = rows(x.value)},
                      {.lambda = double(lambda), .normalise = false});
  sequence_view<float> const to(y.data(), 1, count, 1, size);
  recurrent_state<float> state(op, 1);
  if (in_steps)
    step(op, to, state_view<float>(state));
  else
    run(op, to, run_options<float>{.threads = 1});
  return y;
}

struct form {
  char const* held;
  index chunk;
  std::function<matrix(tokens_of_float const&, float lambda)> run;
};

std::vector<form> forms() {
  std::vector<form> all{
      {"wane run, R", 16, [](auto& x, float lambda) { return by_wane(x, lambda, false); }},
      {"wane step, R", 1, [](auto& x, float lambda) { return by_wane(x, lambda, true); }},
      {"A", 1, [](auto& x, float lambda) { return by_token(x, lambda); }}};
  for (index const chunk : {4, 16, 32, 64, 128}) {
    all.push_back(
        {"A", chunk, [=](auto& x, float l) { return by_chunk<inverse_held>(x, l, chunk); }});
    all.push_back({"R", chunk, [=](auto& x, float l) { return by_chunk<root_held>(x, l, chunk); }});
  }
  return all;
}

double nanoseconds(form const& of, tokens_of_float const& x) {
  double least = HUGE_VAL;
  for (int n = 0; n < 5; ++n) {
    auto const begin = std::chrono::steady_clock::now();
    volatile float const seen = of.run(x, 0.1f)(0, x.count() - 1);
    (void)seen;
    std::chrono::duration<double, std::nano> const time = std::chrono::steady_clock::now() - begin;
    least = std::min(least, time.count() / static_cast<double>(x.count()));
  }
  return least;
}

double error(form const& of, tokens_of_float const& x, float lambda) {
  Eigen::MatrixXd const right = by_chunk<root_held>(x.in<double>(), double(lambda), 16),
                        y = of.run(x, lambda).cast<double>();
  return (y - right).cwiseAbs().maxCoeff() / right.cwiseAbs().maxCoeff();
}

void table(index size, index count) {
  tokens_of_float const normal = tokens_of(count, size, false),
                        words = tokens_of(count, size, true);
  tokens_of_float const elsewhere{normal.query, words.key, words.value};
  std::printf("D %lld, T %lld, lambda\n%-13s %6s %9s %11s %11s %11s %11s %11s\n",
              static_cast<long long>(size), static_cast<long long>(count), "held", "chunk",
              "ns/token", "normal 0.1", "1e-3", "words 0.1", "1e-3", "beside 1e-3");
  for (form const& of : forms()) {
    std::printf("%-13s %6lld %9.0f %11.1e %11.1e %11.1e %11.1e %11.1e\n", of.held,
                static_cast<long long>(of.chunk), nanoseconds(of, normal), error(of, normal, 0.1f),
                error(of, normal, 1e-3f), error(of, words, 0.1f), error(of, words, 1e-3f),
                error(of, elsewhere, 1e-3f));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace wane::bench

int main(int count, char** words) {
  CLI::App app(wane::bench::purpose);
  wane::index tokens = 16384;
  app.add_option("--tokens", tokens, "how many tokens")->check(CLI::Range(16, 10'000'000));
  CLI11_PARSE(app, count, words);
  for (wane::index const size : {64, 128}) wane::bench::table(size, tokens);
}
