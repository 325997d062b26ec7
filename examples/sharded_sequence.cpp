// A text over many ranks: a layer of two memories, its loss and the gradient of its embeddings.
//   mpirun -n 4 example-sharded_sequence kjv.txt
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>
#include <wane/ranks.hpp>
#include <wane/spectra/orders/order_weights.hpp>
#include <wane/testing/thread_ranks.hpp>
#include <wane/wane.hpp>
#if __has_include(<mpi.h>)
#include <wane/mpi.hpp>
#endif

namespace {

using wane::index;
constexpr index D = 16, letters = 256;
using table = std::vector<float>;  // [letters, D]

struct outcome {
  double loss = 0;
  table gradient = table(letters * D);
};

wane::spectra::order_weights<double> const& weights() {
  static wane::spectra::order_weights<double> const all(wane::spectra::shared_rates(12, 1 << 20));
  return all;
}

// Bytes begin <= t < end of a text, as the rows of a table. `after`: how far behind or ahead.
std::vector<float> rows_of(table const& of, std::string const& text, index begin, index end,
                           index after) {
  std::vector<float> rows;
  for (index t = begin; t < end; ++t) {
    index const at = std::min(std::max<index>(t + after, 0), std::ssize(text) - 1);
    auto const letter = static_cast<unsigned char>(text[static_cast<std::size_t>(at)]);
    rows.insert(rows.end(), of.begin() + letter * D, of.begin() + (letter + 1) * D);
  }
  return rows;
}

// y_t = retention(x)_t + gated delta rule of (x_t, x_{t-1}, x_t), where x_t is the embedding of
// byte t. The loss is the mean of |y_t - x_{t+1}|^2 / 2. This rank has bytes begin to end. The
// targets x_{t+1} are constants.
template <wane::rank_group Ranks>
outcome pass(Ranks const& ranks, std::string const& text, index begin, index end,
             table const& embedding) {
  index const T = end - begin;
  auto const x = rows_of(embedding, text, begin, end, 0),
             before = rows_of(embedding, text, begin, end, -1),
             target = rows_of(embedding, text, begin, end, 1);
  std::vector<float> const alpha(static_cast<std::size_t>(T), 0.5f),
      beta = alpha, g(static_cast<std::size_t>(T), -0.01f);
  std::vector<float> y(x.size()), z(x.size()), dx(x.size()), dq(x.size()), dk(x.size());
  auto const rows = [&](auto& of) {
    return wane::view<std::remove_pointer_t<decltype(of.data())>, 4>(of.data(), 1, T, 1, D);
  };
  auto const numbers = [&](std::vector<float> const& of) {
    return wane::token_view<float const>(of.data(), 1, T, 1);
  };
  wane::retention<float, double> const fading({.value = rows(x), .alpha = numbers(alpha)},
                                              weights().table());
  wane::gated_delta_net<float> const erasing(
      {.query = rows(x), .key = rows(before), .value = rows(x), .strength = numbers(beta)},
      numbers(g), {.normalise = true});
  // Of double, because this memory adds up over millions of tokens.
  wane::recurrent_state<double> start_of_fading(fading);
  wane::recurrent_state<float> start_of_erasing(erasing);
  wane::sharding<double> const of_fading{.start = start_of_fading};
  wane::sharding<float> const of_erasing{.start = start_of_erasing};
  wane::sharded_run(ranks, fading, rows(y), {}, of_fading);
  wane::sharded_run(ranks, erasing, rows(z), {}, of_erasing);

  outcome found;
  double const over = 1 / static_cast<double>(std::ssize(text));
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const off =
        static_cast<double>(y[i]) + static_cast<double>(z[i]) - static_cast<double>(target[i]);
    found.loss += over * off * off / 2;
    y[i] = static_cast<float>(over * off);  // dL/dy
  }
  wane::sharded_adjoint(ranks, fading, rows(y), {.value = rows(dx)}, {}, of_fading);
  wane::sharded_adjoint(ranks, erasing, rows(y),
                        {.query = rows(dq), .key = rows(dk), .value = rows(z)}, {}, of_erasing);
  std::vector<double> gradient(found.gradient.size());
  for (index t = begin; t < end; ++t)
    for (index j = 0; j < D; ++j) {
      auto const letter = [&](index at) {
        return static_cast<unsigned char>(text[static_cast<std::size_t>(std::max<index>(at, 0))]);
      };
      auto const i = static_cast<std::size_t>((t - begin) * D + j);
      gradient[static_cast<std::size_t>(letter(t) * D + j)] +=
          static_cast<double>(dx[i]) + static_cast<double>(dq[i]) + static_cast<double>(z[i]);
      gradient[static_cast<std::size_t>(letter(t - 1) * D + j)] += static_cast<double>(dk[i]);
    }
  wane::sum_over_ranks(ranks, std::span(gradient));
  wane::sum_over_ranks(ranks, std::span(&found.loss, 1));
  for (std::size_t i = 0; i < gradient.size(); ++i)
    found.gradient[i] = static_cast<float>(gradient[i]);
  return found;
}

// A vector for each byte, less their mean over the text, which would add up without end.
table embedding_of(std::string const& text) {
  table of(letters * D);
  for (std::size_t i = 0; i < of.size(); ++i)
    of[i] = static_cast<float>(std::sin(static_cast<double>(i * i + 1)));
  std::vector<double> mean(D);
  for (char const letter : text)
    for (index j = 0; j < D; ++j)
      mean[static_cast<std::size_t>(j)] +=
          static_cast<double>(
              of[static_cast<std::size_t>(static_cast<unsigned char>(letter) * D + j)]) /
          static_cast<double>(std::ssize(text));
  for (std::size_t i = 0; i < of.size(); ++i) of[i] -= static_cast<float>(mean[i % D]);
  return of;
}

// Every rank has its part of the text; the first one then reads it alone. Returns whether both
// agree.
template <wane::rank_group Ranks>
bool compare(Ranks const& ranks, std::string const& text) {
  table const embedding = embedding_of(text);
  index const T = std::ssize(text), r = ranks.rank(), P = ranks.size();
  outcome const many = pass(ranks, text, T * r / P, T * (r + 1) / P, embedding);
  if (r > 0) return true;
  outcome const one = pass(wane::one_rank(), text, 0, T, embedding);
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < one.gradient.size(); ++i) {
    apart += std::pow(static_cast<double>(many.gradient[i] - one.gradient[i]), 2);
    size += std::pow(static_cast<double>(one.gradient[i]), 2);
  }
  double const error = std::sqrt(apart / size), of_loss = std::abs(many.loss / one.loss - 1);
  std::printf("%lld bytes on %lld ranks: loss %.9f, alone %.9f; gradient differs by %.1e\n",
              static_cast<long long>(T), static_cast<long long>(P), many.loss, one.loss, error);
  return error < 1e-5 && of_loss < 1e-6;
}

std::string text_of(int count, char** words) {
  if (count > 1) {
    std::ifstream file(words[1], std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string text;
  while (std::ssize(text) < 20'000) text += "Four score and " + std::to_string(text.size()) + ' ';
  return text;
}

}  // namespace

int main(int count, char** words) {
  std::string const text = text_of(count, words);
  if (text.empty()) return std::fprintf(stderr, "%s holds no text\n", words[1]), 2;
#if __has_include(<mpi.h>)
  MPI_Init(&count, &words);
  bool good;
  {
    wane::mpi_ranks const ranks(MPI_COMM_WORLD);
    good = compare(ranks, text);
  }
  MPI_Finalize();
  return good ? 0 : 1;
#else
  bool good = true;
  wane::testing::on_ranks(4, [&](auto const& ranks) {
    if (!compare(ranks, text)) good = false;
  });
  return good ? 0 : 1;
#endif
}
