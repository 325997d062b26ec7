// make_memory: the memory of a name.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include "recall/memories/delta.hpp"
#include "recall/memories/gated.hpp"
#include "recall/memories/laplace.hpp"
#include "recall/memories/mamba2.hpp"
#include "recall/memories/plain.hpp"
#include "recall/memories/power_law_attention.hpp"
#include "recall/memories/rwkv7.hpp"
#include "recall/memories/vla.hpp"
#include "recall/memories/vort.hpp"
#include "recall/settings.hpp"

namespace wane::recall {

// memory_names() has all names; s.time is the length trained at.
template <class T>
std::unique_ptr<memory<T>> make_memory(std::string const& kind, parameters<T>& model,
                                       std::string const& name, token_shape const& s) {
  bool const post = kind.ends_with("-post");
  std::string const base = post ? kind.substr(0, kind.size() - 5) : kind;
  auto const made = [&]<class Memory>(std::type_identity<Memory>, auto const&... how) {
    return std::unique_ptr<memory<T>>(std::make_unique<Memory>(model, name, s, how...));
  };
  if (kind == "softmax") return std::make_unique<plain_memory<T, softmax_attention, false>>();
  if (kind == "linear") return std::make_unique<plain_memory<T, ungated_linear_attention, true>>();
  if (kind == "delta") return made(std::type_identity<delta_memory<T, false>>());
  if (kind == "delta-2") return made(std::type_identity<delta_memory<T, false>>(), 2.);
  if (kind == "vla-delta") return made(std::type_identity<delta_memory<T, true>>());
  if (base == "gated-delta") return made(std::type_identity<gated_delta_memory<T>>(), post);
  if (base == "rwkv7") return made(std::type_identity<rwkv7_memory<T>>(), post);
  if (kind == "gla") return made(std::type_identity<gla_memory<T>>());
  if (base == "retnet") return made(std::type_identity<retnet_memory<T>>(), post);
  if (base == "mamba2") return made(std::type_identity<mamba2_memory<T>>(), post);
  if (kind == "vla") return made(std::type_identity<vla_memory<T, vla_form::rls>>());
  if (kind == "vla-unit") return made(std::type_identity<vla_memory<T, vla_form::unit>>());
  if (kind == "vla-quotient") return made(std::type_identity<vla_memory<T, vla_form::quotient>>());
  std::type_identity<power_law_memory<T>> const power_law;
  if (kind == "power-law") return made(power_law, 15, false);
  if (kind == "power-law-1") return made(power_law, 1, false);
  if (kind == "power-law-orders") return made(power_law, 15, true);
  if (kind == "power-law-attention") return std::make_unique<power_law_attention<T>>();
  if (kind == "retention-orders") return made(std::type_identity<retention_memory<T>>());
  std::type_identity<mixture_memory<T>> const mixture;
  if (kind == "exponential") return made(mixture, 1);
  if (kind == "mixture-5") return made(mixture, 5);
  require(kind.starts_with("laplace"), "there is no memory ", kind);
  bool const fixed = kind == "laplace-fixed";
  laplace_choices how{.rates = !fixed && kind != "laplace-fixed-rates",
                      .frequencies = !fixed,
                      .width = !fixed && kind != "laplace-fixed-width",
                      .oscillates = kind != "laplace-no-frequencies",
                      .adaptive = kind == "laplace-adaptive"};
  if (kind == "laplace-16") how.nodes = 16;
  if (kind == "laplace-64" || how.adaptive) how.nodes = 64;
  return made(std::type_identity<laplace_memory<T>>(), how);
}

}  // namespace wane::recall
