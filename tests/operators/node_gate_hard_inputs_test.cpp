// node_gate: one head, one token, padding, NaN, wrong inputs.
// SPDX-License-Identifier: MIT
#include "support/expect_error.hpp"
#include "support/node_gate_case.hpp"

namespace {

using namespace support::node_gates;
using support::index;
using support::tensor;
using support::two;

// If each head has nodes of its own, the gate is called once a head with a view of that head.
TEST(NodeGate, TakesOneHeadAlone) {
  gate<double> const run(pooling::mean);
  auto in = run.in();
  in.x.data += in.x.stride[2], in.x.extent[2] = 1, in.weight.extent[1] = width;
  wane::node_gate(in, two(run.logits));
  run.logits.for_each([&](index b, index k, auto...) {
    double logit = run.bias(k, 0, 0, 0);
    for (index t = 0; t < tokens; ++t)
      for (index c = 0; c < width; ++c)
        logit += run.weight(k, c, 0, 0) * run.x(b, t, 1, c) / tokens;
    EXPECT_NEAR(run.logits(b, k, 0, 0), logit, 1e-15);
  });
}

// A decoder needs this: the pool of one token does not depend on later tokens.
TEST(NodeGate, OfOneTokenSeesNoOther) {
  gate<double> run(pooling::token);
  run.x.fill([&](index b, index t, index h, index c) {
    return t == run.token ? run.x(b, t, h, c) : static_cast<double>(NAN);
  });
  received<double> is;
  wane::node_gate(run.in(), two(run.logits));
  wane::node_gate_adjoint(run.in(), two(some_gradient()), is.to());
  run.logits.for_each([&](auto... at) { EXPECT_TRUE(std::isfinite(run.logits(at...))); });
  is.weight.for_each([&](auto... at) { EXPECT_TRUE(std::isfinite(is.weight(at...))); });
  is.x.for_each([&](index b, index t, index h, index c) {
    EXPECT_EQ(is.x(b, t, h, c) == 0, t != run.token);
  });
}

TEST(NodeGate, LeavesPaddingAlone) {
  index const lengths[] = {3, 0};
  for (pooling pool : all_pools) {
    gate<double> const whole(pool), run(pool);
    run.x.for_each([&](index b, index t, index h, index c) {
      if (t >= lengths[b]) run.x(b, t, h, c) = NAN;
    });
    wane::node_gate(run.in(), two(run.logits), lengths);
    for (index k = 0; k < nodes; ++k) {
      EXPECT_NEAR(run.logits(0, k, 0, 0), static_cast<double>(whole.naive(0, k, 3)), 2e-15);
      EXPECT_EQ(run.logits(1, k, 0, 0), run.bias(k, 0, 0, 0));
    }
    received<double> is, alone;
    wane::node_gate_adjoint(run.in(), two(some_gradient()), is.to(), lengths);
    auto in = whole.in();
    in.x.extent[0] = 1, in.x.extent[1] = 3;
    auto to = alone.to();
    to.x.extent[0] = 1, to.x.extent[1] = 3;
    wane::view<double, 2> g = two(some_gradient());
    g.extent[0] = 1;
    wane::node_gate_adjoint(in, g, to);
    is.x.for_each([&](index b, index t, index h, index c) {
      if (t < lengths[b])
        EXPECT_EQ(is.x(b, t, h, c), alone.x(b, t, h, c));
      else
        EXPECT_TRUE(std::isnan(is.x(b, t, h, c)));
    });
    is.weight.for_each([&](auto... at) { EXPECT_EQ(is.weight(at...), alone.weight(at...)); });
    is.query.for_each([&](auto... at) { EXPECT_EQ(is.query(at...), alone.query(at...)); });
    for (index k = 0; k < nodes; ++k)  // the bias gets the gradients of an empty sequence, too
      EXPECT_EQ(is.bias(k, 0, 0, 0), some_gradient()(0, k, 0, 0) + some_gradient()(1, k, 0, 0));
  }
}

TEST(NodeGate, KeepsANaNInItsSequence) {
  for (pooling pool : all_pools) {
    gate<float> const run(pool);
    run.x(1, run.token, 0, 0) = NAN;
    received<float> is;
    wane::node_gate(run.in(), two(run.logits));
    wane::node_gate_adjoint(run.in(), two(some_gradient()), {.x = is.x});
    for (index k = 0; k < nodes; ++k) {
      EXPECT_TRUE(std::isnan(run.logits(1, k, 0, 0)));
      EXPECT_NEAR(run.logits(0, k, 0, 0), static_cast<double>(run.naive(0, k)), 2e-15);
    }
    EXPECT_TRUE(std::isfinite(is.x(0, run.token, 0, 0)));
  }
}

TEST(NodeGate, SaysWhatDoesNotFit) {
  gate<float> const run(pooling::attention);
  auto const refuses = [&](std::vector<std::string> const& says, auto const& change,
                           std::vector<index> const& lengths = {}) {
    auto in = run.in();
    change(in);
    received<float> is;
    support::expect_error(says, [&] { wane::node_gate(in, two(run.logits), lengths); });
    support::expect_error(
        says, [&] { wane::node_gate_adjoint(in, two(some_gradient()), is.to(), lengths); });
    EXPECT_TRUE(std::isnan(run.logits(0, 0, 0, 0)));
    EXPECT_TRUE(std::isnan(is.bias(0, 0, 0, 0)));
  };
  refuses({"weight has columns 20", "21"}, [](auto& in) { in.weight.extent[1] = 20; });
  refuses({"bias has nodes 3", "4"}, [](auto& in) { in.bias.extent[0] = 3; });
  refuses({"query is not given"}, [](auto& in) { in.query = {}; });
  refuses({"x has no data"}, [](auto& in) { in.x.data = nullptr; });
  refuses({"weight has no data"}, [](auto& in) { in.weight.data = nullptr; });
  refuses({"bias has no data"}, [](auto& in) { in.bias.data = nullptr; });
  refuses({"query has no data"}, [](auto& in) { in.query.data = nullptr; });
  refuses({"lengths has 1"}, [](auto&) {}, {1});
  auto const asks_for = [](index token) {
    return [token](auto& in) { in.pool = pooling::token, in.token = token; };
  };
  refuses({"token is -1", "0 or more"}, asks_for(-1));
  refuses({"token is 5", "sequence 0 has 5"}, asks_for(5));
  refuses({"token is 2", "sequence 1 has 2"}, asks_for(2), {5, 2});

  support::expect_error({"logits has batch 4", "2"},
                        [&] { wane::node_gate(run.in(), two(tensor<double>(4, nodes, 1, 1))); });
  support::expect_error({"logits has nodes 3", "4"},
                        [&] { wane::node_gate(run.in(), two(tensor<double>(batch, 3, 1, 1))); });
  support::expect_error({"logits has no data"}, [&] {
    wane::node_gate(run.in(), {static_cast<double*>(nullptr), batch, nodes});
  });
  auto const refuses_to = [&](std::vector<std::string> const& says, auto const& change) {
    received<float> is;
    auto to = is.to();
    change(to);
    support::expect_error(says,
                          [&] { wane::node_gate_adjoint(run.in(), two(some_gradient()), to); });
  };
  refuses_to({"gradient of x has columns 6"}, [](auto& to) { to.x.extent[3] = 6; });
  refuses_to({"gradient of weight has nodes 1"}, [](auto& to) { to.weight.extent[0] = 1; });
  refuses_to({"gradient of weight has columns 1"}, [](auto& to) { to.weight.extent[1] = 1; });
  refuses_to({"gradient of bias has nodes 1"}, [](auto& to) { to.bias.extent[0] = 1; });
  refuses_to({"gradient of query has channels 1"}, [](auto& to) { to.query.extent[0] = 1; });
}

}  // namespace
