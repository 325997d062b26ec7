// All tables by name.
// SPDX-License-Identifier: MIT
#pragma once

#include "recall/tables/beyond.hpp"
#include "recall/tables/post.hpp"
#include "recall/tables/stlt.hpp"
#include "recall/tables/vla.hpp"
#include "recall/tables/vort.hpp"

namespace wane::recall {

inline std::vector<table> const& tables() {
  static std::vector<std::string> const of_vla{"softmax", "linear", "vla-delta", "vla-unit"},
      of_vort{"power-law", "exponential", "mixture-5"};
  static std::vector<table> const all{
      {"vla-7", "copying", of_vla, false, false, impl::vla_table_7},
      {"vla-9", "seeds, 24 pairs", of_vla, false, true, impl::vla_table_9},
      {"vla-11", "pairs", of_vla, false, false, impl::vla_table_11},
      {"vla-13", "keys that were not trained", of_vla, false, false, impl::vla_table_13},
      {"vla-fig6", "8 pairs in longer sequences", of_vla, false, false, impl::vla_curve_6},
      {"post-2",
       "longer sequences than trained",
       {"mamba2", "mamba2-post", "rwkv7", "rwkv7-post", "gated-delta", "gated-delta-post"},
       false,
       false,
       impl::post_table_2},
      {"vort-1", "lags drawn by a power law", of_vort, false, false, impl::vort_table_1},
      {"vort-2", "labels of names", of_vort, false, false, impl::vort_table_2},
      {"vort-3", "prose by place in the context", of_vort, true, false, impl::vort_table_3},
      {"stlt-4",
       "what of the nodes is learned",
       {"laplace", "laplace-fixed", "laplace-no-frequencies", "laplace-fixed-rates",
        "laplace-fixed-width", "laplace-16", "laplace-64", "laplace-adaptive"},
       true,
       false,
       impl::stlt_table_4},
      {"states",
       "8 to 64 pairs by size of the state",
       {"softmax", "linear", "gla", "mamba2-post", "delta", "gated-delta", "rwkv7", "vla"},
       false,
       false,
       impl::table_of_states},
      {"products",
       "parity and products of permutations",
       {"softmax", "mamba2", "delta", "delta-2", "rwkv7"},
       false,
       false,
       impl::table_of_products}};
  return all;
}

}  // namespace wane::recall
