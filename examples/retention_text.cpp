// How long a token of a text stays readable: memories that fade as power laws, and exponentials.
// SPDX-License-Identifier: MIT
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <random>
#include <wane/spectra/orders/order_weights.hpp>
#include <wane/wane.hpp>

#include "curves.hpp"

namespace reading {

// Abraham Lincoln at Gettysburg, used if no text is given.
constexpr char passage[] =
    "Four score and seven years ago our fathers brought forth on this continent, a new nation, "
    "conceived in Liberty, and dedicated to the proposition that all men are created equal. Now we "
    "are engaged in a great civil war, testing whether that nation, or any nation so conceived and "
    "so dedicated, can long endure. We are met on a great battle-field of that war. We have come "
    "to dedicate a portion of that field, as a final resting place for those who here gave their "
    "lives that that nation might live. It is altogether fitting and proper that we should do "
    "this.";

// The order of one token, which is marked, and of the text around it: a head for each pair.
constexpr double of_mark[] = {0.3, 0.5, 0.7, 0.9, 0.9}, of_text[] = {0.3, 0.5, 0.7, 0.9, 0.3};
constexpr index H = std::ssize(of_mark), V = 64, piece = 1024, longest = 1'000'000;
using matrix = Eigen::Matrix<double, Eigen::Dynamic, V, Eigen::RowMajor>;

// Tokens are bytes. The value of each is a random vector of length 1 less the mean over the text,
// which has no information. A token a tenth into the text is marked: it has its own vector, u.
// Two copies are read side by side, the first with 0 in place of u. The signal is the second
// memory less the first, projected on u; the noise is what the first projects on a random vector,
// root mean square.
struct marked_text {
  std::string bytes;
  index mark = std::ssize(bytes) / 10;
  std::vector<index> lags = {};
  matrix vectors = matrix(257, V);  // of each byte, and u

  explicit marked_text(std::string text) : bytes(std::move(text)) {
    for (index ten = 1; ten <= longest; ten *= 10)
      for (index lag : {ten, 2 * ten, 5 * ten})
        if (lag <= longest && mark + lag < std::ssize(bytes)) lags.push_back(lag);
    std::mt19937 bits(1);
    std::normal_distribution<double> normal;
    for (double& x : vectors.reshaped()) x = normal(bits);
    vectors.rowwise().normalize();
    Eigen::RowVectorXd count = Eigen::RowVectorXd::Zero(256);
    for (char byte : bytes) ++count(static_cast<unsigned char>(byte));
    Eigen::RowVectorXd const mean = count / count.sum() * vectors.topRows(256);
    vectors.topRows(256).rowwise() -= mean;
  }

  // values [2, T, 1, V] and orders [2, T, H] of T tokens from `first` on.
  void fill(index first, wane::sequence_view<float> values, wane::token_view<float> orders) const {
    for (index copy : {0, 1})
      for (index t = 0; t < values.extent[1]; ++t) {
        bool const marked = first + t == mark;
        auto const byte = static_cast<unsigned char>(bytes[static_cast<std::size_t>(first + t)]);
        double const times = marked && copy == 0 ? 0 : 1;
        for (index j = 0; j < V; ++j)
          values(copy, t, 0, j) = static_cast<float>(times * vectors(marked ? 256 : byte, j));
        for (index h = 0; h < H; ++h)
          orders(copy, t, h) = static_cast<float>(marked ? of_mark[h] : of_text[h]);
      }
  }

  // The reads at each lag by the heads of a memory. `make` gives the operator on the values and
  // orders of a piece of the text; its state is carried to the next piece.
  std::vector<curve> through(auto const& make) const {
    std::vector<float> values(2 * piece * V), orders(2 * piece * H), outputs(2 * piece * H * V);
    std::vector<curve> curves(H);
    std::optional<wane::recurrent_state<float>> state;
    for (index first = 0; first <= mark + lags.back(); first += piece) {
      index const T = std::min(piece, std::ssize(bytes) - first);
      // All heads read the same values, so the stride of heads is 0.
      wane::sequence_view<float> const v(values.data(), {2, T, H, V}, {T * V, V, 0, 1});
      wane::sequence_view<float> const y(outputs.data(), 2, T, H, V);
      wane::token_view<float> const alpha(orders.data(), 2, T, H);
      fill(first, v, alpha);
      auto const memory = make(v, alpha);
      if (!state) state.emplace(memory);
      wane::run(memory, y, {.initial = *state, .final = *state});
      for (index lag : lags)
        if (index const t = mark + lag - first; 0 <= t && t < T)
          for (index h = 0; h < H; ++h) {
            using numbers = Eigen::Map<Eigen::RowVectorXf const>;
            Eigen::RowVectorXd const without = numbers(&y(0, t, h, 0), V).cast<double>();
            Eigen::RowVectorXd const with = numbers(&y(1, t, h, 0), V).cast<double>();
            curve& c = curves[static_cast<std::size_t>(h)];
            c.signal.push_back((with - without).dot(vectors.row(256)));
            c.noise.push_back(without.norm() / std::sqrt(double{V}));
          }
    }
    return curves;
  }
};

// One exponential for each order of the mark: the power law at lags 0 and 1, and half of its value
// at lag 1 at the lag where the power law has fallen to half.
struct exponentials {
  std::vector<index> halved;
  std::vector<float> log_decay, key, query = std::vector<float>(H, 1.f), direct;

  exponentials() {
    for (double order : of_mark) {
      wane::spectra::gruenwald_letnikov const weight(order);
      index lag = 2;
      while (weight(lag) > weight(1) / 2) ++lag;
      double const rate = std::log(2.) / static_cast<double>(lag - 1);
      halved.push_back(lag), log_decay.push_back(static_cast<float>(-rate));
      key.push_back(static_cast<float>(weight(1) * std::exp(rate)));
      direct.push_back(1 - key.back());
    }
  }
  auto operator()(wane::sequence_view<float const> value, auto const&) const {
    return wane::exponential_bank<float>({.value = value,
                                          .log_decay = {log_decay.data(), H, 1},
                                          .key = {key.data(), H, 1},
                                          .query = {query.data(), H, 1},
                                          .direct = {direct.data(), H}});
  }
};

std::string content_of(std::string const& file) {
  std::ifstream from(file, std::ios::binary);
  wane::require(from.good(), file, " cannot be opened; give a text, or --picture NAME");
  std::ostringstream content;
  content << from.rdbuf();
  wane::require(content.str().size() >= 2, file, " has ", content.str().size(),
                " bytes; it must be a text of 2 or more");
  return content.str();
}

}  // namespace reading

// example-retention_text [FILE] [--picture NAME]: the latter writes NAME.csv, and with gnuplot
// NAME.svg.
int main(int count, char** arguments) try {
  using namespace reading;
  std::string file, picture;
  for (int n = 1; n < count; ++n) {
    bool const draws = std::string(arguments[n]) == "--picture" && n + 1 < count;
    wane::require(draws || file.empty(), arguments[n], " is one file too many");
    (draws ? picture : file) = arguments[draws ? ++n : n];
  }
  std::string const bytes = file.empty() ? passage : content_of(file);
  // An unwritable file is refused before the long work.
  if (!picture.empty()) write_csv(picture + ".csv", {}, {});
  marked_text const text(bytes);
  std::printf("%td bytes, of which that at %td is marked\n", std::ssize(bytes), text.mark);
  wane::spectra::order_weights<float> const weights(wane::spectra::shared_rates(16, longest));
  auto curves = text.through([&](auto const& value, auto const& alpha) {
    return wane::retention<float>({.value = value, .alpha = alpha}, weights.table());
  });
  bool right = true;
  for (std::size_t h = 0; h < curves.size(); ++h) {
    std::ostringstream name;
    name << "order " << of_mark[h];
    if (of_mark[h] != of_text[h]) name << " in a text of " << of_text[h];
    curves[h].name = name.str();
    wane::spectra::gruenwald_letnikov const weight(of_mark[h]);
    for (std::size_t n = 0; n < text.lags.size(); ++n) {
      double const law = weight(text.lags[n]), rounding = 1e-5 * curves[h].noise[n];
      right = right && std::abs(curves[h].signal[n] - law) < 1e-3 * law + rounding;
    }
  }
  exponentials const fading;
  auto others = text.through(fading);
  others.pop_back();  // a second exponential of order 0.9
  for (std::size_t h = 0; h < others.size(); ++h) {
    others[h].name = "exponential halved at " + std::to_string(fading.halved[h]);
    curves.push_back(others[h]);
  }
  print(text.lags, curves);
  if (!picture.empty()) {
    write_csv(picture + ".csv", text.lags, curves);
    if (!draw(picture + ".svg", picture + ".csv", curves.size(), others.size()))
      std::fprintf(stderr, "%s.svg is not drawn: gnuplot is missing\n", picture.c_str());
  }
  return right ? 0 : 1;
} catch (std::exception const& wrong) {
  std::fprintf(stderr, "%s\n", wrong.what());
  return 2;
}
