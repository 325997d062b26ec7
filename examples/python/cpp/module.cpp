// The module wane._wane: calls of memories on arrays of any framework, and spectra.
// SPDX-License-Identifier: MIT
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <wane/spectra.hpp>
#include <wane/version.hpp>

#include "held_tensors.hpp"
#include "memories.hpp"

namespace nb = nanobind;

namespace wane_python {
namespace {

struct arguments {
  nb::tuple inputs, options;
  nb::object output, initial, final, starts;
  bool is_reverse;
  int threads;
  bool is_adjoint = false;
  nb::tuple gradients = {};
  nb::object initial_gradient = nb::none();
};

void carry_out(memory const& of, arguments const& from) {
  held_tensors held;
  std::vector<wane::dlpack_tensor> inputs, gradients;
  std::vector<double> options;
  wane::require(from.inputs.size() == of.inputs.size() &&
                    from.options.size() == of.options.size() &&
                    from.gradients.size() == (from.is_adjoint ? of.inputs.size() : 0),
                of.name, " takes other inputs or options");
  for (std::size_t i = 0; i < of.inputs.size(); ++i) {
    inputs.push_back(held.take(of.inputs[i], from.inputs[i]));
    if (from.is_adjoint) gradients.push_back(held.take_to_write(of.inputs[i], from.gradients[i]));
  }
  for (nb::handle x : from.options) options.push_back(nb::cast<double>(x));
  std::vector<index> const starts = starts_of(held.take("cu_seqlens", from.starts));
  auto const either = [&](char const* name, nb::handle x) {
    return from.is_adjoint ? held.take(name, x) : held.take_to_write(name, x);
  };

  call at;
  at.inputs = {of.inputs, inputs}, at.gradients = {of.inputs, gradients};
  at.options = {of.options, options};
  at.output = either("the output", from.output), at.final = either("the final state", from.final);
  at.initial = held.take("initial_state", from.initial);
  at.initial_gradient = held.take_to_write("initial_state", from.initial_gradient);
  at.starts = starts;
  at.is_adjoint = from.is_adjoint, at.is_reverse = from.is_reverse, at.threads = from.threads;
  nb::gil_scoped_release const released;
  of.carry_out(at);
}

void add_spectra(nb::module_& to) {
  using namespace wane::spectra;
  to.def("sum_of_terms", [](double beta, index horizon, index terms) {
    exponential_sum const sum = sum_of_terms(power_law(beta), horizon, terms);
    return nb::make_tuple(sum.rates, sum.weights, sum.at_zero, sum.error.max_relative_error);
  });
  to.def("sum_of_accuracy", [](double beta, index horizon, double accuracy) {
    exponential_sum const sum = sum_of_accuracy(power_law(beta), horizon, accuracy);
    return nb::make_tuple(sum.rates, sum.weights, sum.at_zero, sum.error.max_relative_error);
  });
  to.def("post", &post);
  to.def("linear_taper", &linear_taper);
  to.def("adaptive_taper", [](std::vector<double> const& log_rates, double log_reference) {
    return adaptive_taper(log_rates, log_reference).values();
  });
  // Rates [S], and weights and slopes [N, S] of N orders.
  to.def("order_weights", [](index nodes, index horizon, std::vector<double> const& orders) {
    shared_rates const shared(nodes, horizon);
    std::vector<std::vector<double>> weights, slopes;
    for (double alpha : orders) {
      auto found = shared.at(alpha);
      weights.push_back(std::move(found.weights)), slopes.push_back(std::move(found.slopes));
    }
    return nb::make_tuple(shared.rates(), weights, slopes);
  });
  to.def("parameters_of", [](std::vector<double> const& log_rates) {
    post_parameters const found = parameters_of(log_rates);
    return nb::make_tuple(found.slowest, found.gaps);
  });
}

}  // namespace

void* xla_handler();

}  // namespace wane_python

NB_MODULE(_wane, m) {
  using namespace wane_python;
  using namespace nb::literals;
  nb::set_leak_warnings(false);  // PyTorch keeps what it registers until the process ends
  nb::class_<memory>(m, "Memory")
      .def_ro("name", &memory::name)
      .def_prop_ro("inputs", [](memory const& of) { return of.inputs; })
      .def_prop_ro("options", [](memory const& of) { return of.options; })
      .def(
          "run",
          [](memory const& of, nb::tuple inputs, nb::tuple options, nb::object output,
             nb::object initial, nb::object final, nb::object starts, bool is_reverse,
             int threads) {
            carry_out(of, {inputs, options, output, initial, final, starts, is_reverse, threads});
          },
          "inputs"_a, "options"_a, "output"_a, "initial"_a.none(), "final"_a.none(),
          "starts"_a.none(), "is_reverse"_a, "threads"_a)
      .def(
          "adjoint",
          [](memory const& of, nb::tuple inputs, nb::tuple options, nb::object output_gradient,
             nb::object initial, nb::object final_gradient, nb::object starts, bool is_reverse,
             int threads, nb::tuple gradients, nb::object initial_gradient) {
            carry_out(of, {inputs, options, output_gradient, initial, final_gradient, starts,
                           is_reverse, threads, true, gradients, initial_gradient});
          },
          "inputs"_a, "options"_a, "output_gradient"_a, "initial"_a.none(),
          "final_gradient"_a.none(), "starts"_a.none(), "is_reverse"_a, "threads"_a, "gradients"_a,
          "initial_gradient"_a.none());
  m.attr("memories") = [] {
    nb::dict all;
    for (memory const& each : memories())
      all[each.name] = nb::cast(&each, nb::rv_policy::reference);
    return all;
  }();
  m.attr("__version__") = std::to_string(wane::version_major) + "." +
                          std::to_string(wane::version_minor) + "." +
                          std::to_string(wane::version_patch);
#ifdef WANE_WITH_JAX
  m.attr("xla_handler") = nb::capsule(xla_handler(), "xla._CUSTOM_CALL_TARGET");
#endif
  add_spectra(m);
}
