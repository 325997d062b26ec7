// The rows of the keyed matrix memories: H:16 heads, each with a state of D x D numbers.
// SPDX-License-Identifier: MIT
#include "kernels/keyed_contest.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/kimi_delta_attention.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/operators/rwkv7.hpp"

namespace wane::bench {
namespace {

template <pass What, class Make>
void add_rows(keyed_row row, Make const& make) {
  auto const add = [&](index size, index tokens, int threads) {
    row.rows = row.columns = size, row.tokens = tokens, row.threads = threads;
    add_keyed_row<What>(row, make);
  };
  for (index const size : {64, 128}) {
    if (What == pass::step) {
      add(size, 1, 1);
      continue;
    }
    if (What == pass::forward && size == 64)
      for (index const few : {1, 16}) add(size, few, 1);
    add(size, 512, 1);
    // A backward pass over 4096 tokens of 128 x 128 takes half a minute with its loop.
    bool const slow = What == pass::backward && size == 128;
    if (!slow) add(size, 4096, 1);
    add(size, slow ? 512 : 4096, 2);
  }
  if (What == pass::forward) add(64, 65536, 1);
}

template <pass What>
void add_rows() {
  keyed_options const plain{.scale = 1};
  drawn const of_row{drawn::row, -0.1, -0.001}, of_head{drawn::number, -0.1, -0.001},
      constant{drawn::number, -0.1, -0.001, true}, strength{drawn::number, 0.1, 0.9};
  using problem = keyed_problem const&;
  auto const delta = [](problem x) -> delta_inputs<float> {
    auto const in = x.inputs();
    return {
        .query = in.query, .key = in.key, .value = in.value, .strength = x.whole(x.p.in.strength)};
  };
  add_rows<What>({"gla", 4.5, {.log_decay = of_row}},
                 [=](problem x) { return gla(x.inputs(), x.rows(x.p.in.log_decay), plain); });
  add_rows<What>({"retnet", 4.5, {.log_decay = constant}}, [=](problem x) {
    return retnet<float>(x.inputs(), {x.of_heads(x.p.in.log_decay)}, plain);
  });
  add_rows<What>({"delta_net", 6, {.strength = strength}},
                 [=](problem x) { return delta_net<float>(delta(x), plain); });
  add_rows<What>(
      {"gated_delta_net", 6, {.log_decay = of_head, .strength = strength}},
      [=](problem x) { return gated_delta_net(delta(x), x.whole(x.p.in.log_decay), plain); });
  add_rows<What>(
      {"kimi_delta_attention", 6.5, {.log_decay = of_row, .strength = strength}},
      [=](problem x) { return kimi_delta_attention(delta(x), x.rows(x.p.in.log_decay), plain); });
  add_rows<What>(
      {"rwkv7",
       8.5,
       {.log_decay = of_row, .removal = {drawn::unit_row}, .rate = {drawn::row, 0.1, 0.9}}},
      [=](problem x) {
        auto const in = x.inputs();
        return rwkv7({.query = in.query,
                      .key = in.key,
                      .value = in.value,
                      .removal = x.rows(x.p.in.removal),
                      .rate = x.rows(x.p.in.rate)},
                     x.rows(x.p.in.log_decay), plain);
      });
}

}  // namespace

void add_keyed_rows() {
  add_rows<pass::forward>();
  add_rows<pass::step>();
  add_rows<pass::backward>();
}

}  // namespace wane::bench
