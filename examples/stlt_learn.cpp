// Learning Laplace nodes: gradient descent finds rates, frequencies and the window behind a signal.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <complex>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <random>
#include <string>
#include <vector>
#include <wane/wane.hpp>

namespace {

constexpr wane::index tokens = 1500, nodes = 3;
using memory = wane::laplace<double, wane::spectra::window_shape::hann>;
using numbers = std::vector<double>;

// The learnt parameters, in one row: log sigma, omega and the complex read-out of each node, and
// log W. Logarithms keep rates and the width above 0.
struct parameters {
  numbers sigma, omega;
  std::vector<std::complex<double>> read_out;
  double width;

  explicit parameters(numbers const& row) : width(std::exp(row.back())) {
    for (std::size_t k = 0; k < nodes; ++k) {
      double const* p = row.data() + 4 * k;
      sigma.push_back(std::exp(p[0])), omega.push_back(p[1]), read_out.emplace_back(p[2], p[3]);
    }
  }
  // T is double for the gradients, which are of the same shape.
  template <class T>
  wane::laplace_parameters<T> view(auto& self) const {
    return {.sigma = {self.sigma.data(), 1, nodes},
            .omega = {self.omega.data(), 1, nodes},
            .read_out = {self.read_out.data(), 1, nodes, 1},
            .width = {&self.width, 1}};
  }
  memory over(numbers const& x) const {
    return {{.value = {x.data(), 1, tokens, 1, 1}}, view<double const>(*this)};
  }
};

numbers row_of(parameters const& p) {
  numbers row;
  for (std::size_t k = 0; k < nodes; ++k)
    for (double number :
         {std::log(p.sigma[k]), p.omega[k], p.read_out[k].real(), p.read_out[k].imag()})
      row.push_back(number);
  row.push_back(std::log(p.width));
  return row;
}

numbers signal_of(parameters const& p, numbers const& x) {
  numbers y(tokens);
  wane::run(p.over(x), {y.data(), 1, tokens, 1, 1});
  return y;
}

// The mean square of the error, relative to the signal, and its gradient by the row.
double loss_of(numbers const& row, numbers const& x, numbers const& target, numbers& slope) {
  parameters const p(row);
  parameters to = p;
  numbers gap = signal_of(p, x);
  double size = 0, loss = 0;
  for (double const y : target) size += y * y;
  for (std::size_t t = 0; t < gap.size(); ++t) gap[t] -= target[t], loss += gap[t] * gap[t] / size;
  for (double& g : gap) g *= 2 / size;
  wane::adjoint(p.over(x), {gap.data(), 1, tokens, 1, 1}, {.nodes = p.view<double>(to)});
  slope.clear();
  for (std::size_t k = 0; k < nodes; ++k)
    for (double g :
         {to.sigma[k] * p.sigma[k], to.omega[k], to.read_out[k].real(), to.read_out[k].imag()})
      slope.push_back(g);
  slope.push_back(to.width * p.width);
  return loss;
}

// Adam (Kingma and Ba 2015); its step falls to 0 along a cosine.
numbers learn(numbers row, numbers const& x, numbers const& target, auto const& look) {
  constexpr int steps = 1500;
  numbers slope, mean(row.size(), 0.), square = mean;
  for (int n = 1; n <= steps; ++n) {
    look(n - 1, row, loss_of(row, x, target, slope));
    double const rate = 0.01 * (1 + std::cos(std::numbers::pi * n / steps));
    for (std::size_t i = 0; i < row.size(); ++i) {
      mean[i] += 0.1 * (slope[i] - mean[i]), square[i] += 0.01 * (slope[i] * slope[i] - square[i]);
      row[i] -= rate * mean[i] / (1 - std::pow(0.9, n)) /
                (std::sqrt(square[i] / (1 - std::pow(0.99, n))) + 1e-12);
    }
  }
  look(steps, row, loss_of(row, x, target, slope));
  return row;
}

void print(char const* what, parameters const& p) {
  std::printf("  %-8s window %6.2f  ", what, p.width);
  for (std::size_t k = 0; k < nodes; ++k)
    std::printf("  half-life %6.2f period %6.2f", std::numbers::ln2 / p.sigma[k],
                2 * std::numbers::pi / p.omega[k]);
  std::printf("\n");
}

// The paths of the poles e^{-sigma - i omega} in the complex plane; false without gnuplot.
bool draw(std::string const& name, parameters const& truth) {
  std::signal(SIGPIPE, SIG_IGN);  // raised where gnuplot is missing
  std::FILE* const gnuplot = popen("gnuplot 2>/dev/null", "w");
  if (!gnuplot) return false;
  std::fprintf(gnuplot,
               "set terminal svg size 900,700 background rgb 'white'\nset output '%s.svg'\n"
               "set datafile separator ','\nset key autotitle columnhead outside\n"
               "set xlabel 'half-life, tokens'\nset ylabel 'period, tokens'\nset logscale xy\n",
               name.c_str());
  for (std::size_t k = 0; k < nodes; ++k)
    std::fprintf(gnuplot, "set label %d '' at %g,%g point pt 2 ps 2\n", int(k) + 1,
                 std::numbers::ln2 / truth.sigma[k], 2 * std::numbers::pi / truth.omega[k]);
  std::fprintf(gnuplot,
               "plot for [k=1:%d] '%s.csv' using (column(2*k+1)):(column(2*k+2)) with "
               "lines lw 2 title sprintf('node %%d', k)\n",
               int(nodes), name.c_str());
  return pclose(gnuplot) == 0;
}

}  // namespace

// example-stlt_learn [--picture NAME]: writes NAME.csv and, with gnuplot, NAME.svg.
int main(int count, char** arguments) {
  std::string const picture =
      count == 3 && std::string(arguments[1]) == "--picture" ? arguments[2] : "";
  parameters const truth(row_of(parameters({std::log(0.02), 0.3, 1, 0.5,     //
                                            std::log(0.05), 0.9, -0.7, 0.8,  //
                                            std::log(0.1), 1.9, 0.9, -0.4,   //
                                            std::log(60.5)})));
  std::ofstream path;
  if (!picture.empty()) path.open(picture + ".csv");
  bool found_all = true;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> unit(-1, 1);
    numbers x(tokens);
    for (double& value : x) value = normal(bits);
    numbers target = signal_of(truth, x);
    double size = 0;
    for (double const y : target) size += y * y / tokens;
    for (double& y : target) y += 0.03 * std::sqrt(size) * normal(bits);  // noise
    // Rates and the width wrong by up to 40 %, frequencies by a few hundredths, read-outs unknown.
    numbers start = row_of(truth);
    for (std::size_t k = 0; k < nodes; ++k) {
      start[4 * k] += 0.4 * unit(bits), start[4 * k + 1] += 0.04 * unit(bits);
      start[4 * k + 2] = 0.5, start[4 * k + 3] = 0;
    }
    start.back() += 0.4 * unit(bits);

    std::printf("seed %u\n", seed);
    print("start", parameters(start));
    double last = 0;
    numbers const end = learn(start, x, target, [&](int n, numbers const& row, double loss) {
      last = loss;
      if (seed != 1 || !path.is_open() || n % 10 != 0) return;
      if (n == 0)
        path << "step,loss,half-life 1,period 1,half-life 2,period 2,half-life 3,period 3,width";
      parameters const p(row);
      path << '\n' << n << ',' << loss;
      for (std::size_t k = 0; k < nodes; ++k)
        path << ',' << std::numbers::ln2 / p.sigma[k] << ',' << 2 * std::numbers::pi / p.omega[k];
      path << ',' << p.width;
    });
    parameters const p(end);
    print("learnt", p);
    double rates = 0, turns = 0;
    for (std::size_t k = 0; k < nodes; ++k) {
      rates = std::max(rates, std::abs(p.sigma[k] / truth.sigma[k] - 1));
      turns = std::max(turns, std::abs(p.omega[k] / truth.omega[k] - 1));
    }
    double const width = std::abs(p.width / truth.width - 1);
    std::printf("  off by   rates %.2g %%, frequencies %.2g %%, width %.2g %%; loss %.2g\n",
                100 * rates, 100 * turns, 100 * width, last);
    found_all = found_all && rates < 0.02 && turns < 0.02 && width < 0.05;
  }
  print("truth", truth);
  path.close();
  if (!picture.empty() && !draw(picture, truth))
    std::fprintf(stderr, "%s.svg is not drawn: gnuplot is missing\n", picture.c_str());
  std::printf("rates and frequencies within 2 %%, the width within 5 %%, all seeds: %s\n",
              found_all ? "yes" : "no");
  return found_all ? 0 : 1;
}
