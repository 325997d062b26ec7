// The rows of the keyed matrix memories: H:16 heads, each with a state of D x D numbers.
// SPDX-License-Identifier: MIT
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/buffers.hpp"
#include "kernels/keyed_loops.hpp"
#include "kernels/row.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/kimi_delta_attention.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {
namespace {

constexpr index heads = 16;
// Beyond so many tokens the loops, some seconds each, have no number.
constexpr index loop_tokens_at_most = 4096;

enum class pass { forward, step, backward };
enum class decays { none, constant, of_head, of_row };

struct keyed_row {
  std::string name;
  pass what;
  double flops;  // useful ones forward, of each number of the state and token
  decays decay;
  bool corrects = false, removes = false;
  index size = 64, tokens = 1;
  int threads = 1;

  std::string full_name() const {
    std::string text = name;
    text += what == pass::forward ? "/forward" : what == pass::step ? "/step" : "/backward";
    return text + "/H:" + std::to_string(heads) + "/D:" + std::to_string(size) +
           "/T:" + std::to_string(tokens) + "/threads:" + std::to_string(threads);
  }
};

// Queries, keys and removals have length 1; log decays are -0.1 to -0.001, as are those that a
// RetNet has for all time; strengths and rates 0.1 to 0.9.
struct keyed_problem {
  keyed_row row;
  buffers memory;
  keyed_arrays p;
  // Of each head: before the first token, where the loop stands, and of step where wane stands.
  std::vector<keyed_matrix<float>> initial, of_loop;
  float* state = nullptr;
  std::vector<keyed_matrix<float>> kept;  // room for the loop backward
  std::vector<std::span<float>> outputs;
  numbers next;

  explicit keyed_problem(keyed_row const& r) : row(r), p{r.tokens, heads, r.size, {}, {}, {}, {}} {
    index const d = r.size;
    auto& in = p.in;
    in.query = of_length_one(d), in.key = of_length_one(d), in.value = filled(d, -1, 1);
    if (r.decay != decays::none)
      in.log_decay = filled(r.decay == decays::of_row ? d : 1, -0.1, -0.001);
    if (r.decay == decays::constant)
      for (index i = heads; i < p.tokens * heads; ++i)
        in.log_decay.data[i] = in.log_decay.data[i - heads];
    if (r.corrects) in.strength = filled(1, 0.1, 0.9);
    if (r.removes) in.removal = of_length_one(d), in.rate = filled(d, 0.1, 0.9);
    if (r.what == pass::backward) {
      p.output_gradient = filled(d, -1, 1);
      for_each_input(
          [&](keyed_tensor const& from, keyed_tensor& to) {
            if (from.data) to = result(from.width);
          },
          in, p.gradients);
      return;
    }
    p.output = result(d);
    initial.assign(heads, keyed_matrix<float>::Zero(d, d));
    if (r.what == pass::step) {
      state = memory.add<float>(heads * d * d);
      for (index i = 0; i < heads * d * d; ++i) state[i] = static_cast<float>(next(-1, 1));
      for (index h = 0; h < heads; ++h)
        initial[static_cast<std::size_t>(h)] =
            Eigen::Map<keyed_matrix<float>>(state + h * d * d, d, d);
    }
    of_loop = initial;
  }

  keyed_tensor empty(index width) { return {memory.add<float>(p.tokens * heads * width), width}; }
  keyed_tensor result(index width) {
    keyed_tensor const x = empty(width);
    outputs.emplace_back(x.data, static_cast<std::size_t>(p.tokens * heads * width));
    return x;
  }
  keyed_tensor filled(index width, double low, double high) {
    keyed_tensor const x = empty(width);
    for (index i = 0; i < p.tokens * heads * width; ++i)
      x.data[i] = static_cast<float>(next(low, high));
    return x;
  }
  keyed_tensor of_length_one(index width) {
    keyed_tensor const x = filled(width, -1, 1);
    for (index i = 0; i < p.tokens * heads; ++i) x.at(i).normalize();
    return x;
  }

  sequence_view<float> rows(keyed_tensor const& x) const {
    return {x.data, 1, p.tokens, heads, x.width};
  }
  token_view<float> whole(keyed_tensor const& x) const { return {x.data, 1, p.tokens, heads}; }
  wane::keyed_inputs<float> inputs() const {
    return {rows(p.in.query), rows(p.in.key), rows(p.in.value)};
  }
};

template <class Op>
typename Op::gradients gradients_of(keyed_problem const& problem) {
  auto const& d = problem.p.gradients;
  typename Op::gradients to;
  to.in = {problem.rows(d.query), problem.rows(d.key), problem.rows(d.value)};
  if constexpr (std::is_same_v<decltype(to.log_decay), sequence_view<float>>)
    to.log_decay = problem.rows(d.log_decay);
  else if constexpr (std::is_same_v<decltype(to.log_decay), token_view<float>>)
    to.log_decay = problem.whole(d.log_decay);
  if constexpr (requires { to.strength; }) to.strength = problem.whole(d.strength);
  if constexpr (requires { to.removal; }) {
    to.removal = problem.rows(d.removal);
    to.rate = problem.rows(d.rate);
  }
  return to;
}

// make(problem) is the operator.
template <class Make>
std::function<void()> wane_pass(std::shared_ptr<keyed_problem> const& problem, Make const& make) {
  using Op = decltype(make(*problem));
  int const threads = problem->row.threads;
  index const d = problem->row.size;
  switch (problem->row.what) {
    case pass::forward:
      return [=] {
        run(make(*problem), problem->rows(problem->p.output),
            run_options<float>{.threads = threads});
      };
    case pass::step:
      return [=] {
        step(make(*problem), problem->rows(problem->p.output),
             state_view<float>{{problem->state, 1, heads, d, d}});
      };
    default:
      return [=] {
        adjoint(make(*problem), problem->rows(problem->p.output_gradient),
                gradients_of<Op>(*problem), adjoint_options<float>{.threads = threads});
      };
  }
}

void loop_pass(keyed_problem& problem) {
  auto const& p = problem.p;
  bool const backward = problem.row.what == pass::backward;
  if (problem.row.what == pass::forward) problem.of_loop = problem.initial;
  for (index h = 0; h < heads; ++h)
    if (backward)
      keyed_backward(p, h, problem.kept, [&](index at, auto const& g) {
        for_each_input(
            [&](keyed_tensor const& to, keyed_vector<float> const& from) {
              if (to.data) to.at(at) = from;
            },
            p.gradients, g);
      });
    else
      keyed_forward(p, h, problem.of_loop[static_cast<std::size_t>(h)],
                    [&](index at, auto const& y) { p.output.at(at) = y; });
}

// Of four of the heads; the largest of the results' errors.
double keyed_error(keyed_problem const& problem) {
  auto const& p = problem.p;
  difference of_output;
  keyed_inputs_of<difference> of;
  auto const compare = [](index at, keyed_tensor const& is, keyed_vector<double> const& must_be,
                          difference& found) {
    for (index i = 0; i < is.width; ++i) found.add(double(is.at(at)[i]), must_be[i]);
  };
  std::vector<keyed_matrix<double>> kept;
  for (index h = 0; h < heads; h += 5)
    if (problem.row.what == pass::backward) {
      keyed_backward(p, h, kept, [&](index at, auto const& g) {
        for_each_input([&](auto&... x) { compare(at, x...); }, p.gradients, g, of);
      });
    } else {
      keyed_matrix<double> s = problem.initial[static_cast<std::size_t>(h)].cast<double>();
      keyed_forward(p, h, s, [&](index at, auto const& y) { compare(at, p.output, y, of_output); });
    }
  if (problem.row.what != pass::backward) return of_output.relative();
  double largest = 0;
  for_each_input(
      [&](keyed_tensor const& is, difference const& found) {
        if (is.data && !(found.relative() <= largest)) largest = found.relative();
      },
      p.gradients, of);
  return largest;
}

template <class Make>
void add(keyed_row const& row, Make const& make) {
  add_row(row.full_name(), [row, make] {
    auto const problem = std::make_shared<keyed_problem>(row);
    auto const& p = problem->p;
    index const state = heads * p.size * p.size;
    contest c;
    c.ours = wane_pass(problem, make);
    if (p.tokens <= loop_tokens_at_most)
      c.rivals = {{"vs_sequential", [problem] { loop_pass(*problem); }}};
    c.tokens = static_cast<double>(p.tokens);
    c.flops = row.flops * static_cast<double>(p.tokens * state);
    if (row.what == pass::backward) c.flops *= 2.5;
    c.moved.threads = row.threads;
    if (problem->state) {
      c.moved.reads = {problem->state}, c.moved.writes = {problem->state};
      c.moved.bytes = state * index(sizeof(float));
    }
    c.outputs = problem->outputs;
    c.error = [problem] { return keyed_error(*problem); };
    return c;
  });
}

template <class Make>
void add_rows(keyed_row row, Make const& make) {
  auto const add_one = [&](index size, index tokens, int threads) {
    row.size = size, row.tokens = tokens, row.threads = threads;
    add(row, make);
  };
  for (index const size : {64, 128}) {
    if (row.what == pass::step) {
      add_one(size, 1, 1);
      continue;
    }
    add_one(size, 512, 1);
    // A backward pass over 4096 tokens of 128 x 128 takes half a minute with its loop.
    bool const slow = row.what == pass::backward && size == 128;
    if (!slow) add_one(size, 4096, 1);
    add_one(size, slow ? 512 : 4096, 2);
  }
  if (row.what == pass::forward)
    for (int const threads : {1, 2}) add_one(64, 65536, threads);
}

void add_keyed_rows(pass what) {
  keyed_options const plain{.scale = 1};
  using problem = keyed_problem const&;
  add_rows({"gla", what, 4.5, decays::of_row},
           [=](problem x) { return gla<float>(x.inputs(), x.rows(x.p.in.log_decay), plain); });
  add_rows({"retnet", what, 4.5, decays::constant}, [=](problem x) {
    view<float const, 1> const of_heads(x.p.in.log_decay.data, heads);
    return retnet<float>(x.inputs(), constant_gate<float>(of_heads), plain);
  });
  add_rows({"delta_net", what, 6, decays::none, true}, [=](problem x) {
    return delta_net<float>(x.inputs(), x.whole(x.p.in.strength), {}, plain);
  });
  add_rows({"gated_delta_net", what, 6, decays::of_head, true}, [=](problem x) {
    return gated_delta_net<float>(x.inputs(), x.whole(x.p.in.strength), x.whole(x.p.in.log_decay),
                                  plain);
  });
  add_rows({"kimi_delta_attention", what, 6.5, decays::of_row, true}, [=](problem x) {
    return kimi_delta_attention<float>(x.inputs(), x.whole(x.p.in.strength),
                                       x.rows(x.p.in.log_decay), plain);
  });
  add_rows({"rwkv7", what, 8.5, decays::of_row, false, true}, [=](problem x) {
    return rwkv7<float>(x.inputs(), x.rows(x.p.in.log_decay),
                        {x.rows(x.p.in.removal), x.rows(x.p.in.rate)}, plain);
  });
}

}  // namespace

void add_keyed_rows() {
  for (pass const what : {pass::forward, pass::step, pass::backward}) add_keyed_rows(what);
}

}  // namespace wane::bench
