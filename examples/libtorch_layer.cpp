// A layer for PyTorch in C++: Gated DeltaNet as a function of torch's autograd. Its gradients are
// compared with torch's own through a loop over tokens; then a small model learns to recall.
// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <type_traits>
#include <vector>
#include <wane/wane.hpp>

#include "training.hpp"

namespace {

using torch::Tensor, torch::autograd::AutogradContext, torch::autograd::variable_list;

// The view of a tensor where it lies. Throws where the tensor has another type or rank.
template <class T, int Rank>
wane::view<T, Rank> view_of(Tensor const& x) {
  TORCH_CHECK(x.dim() == Rank && x.is_cpu(), "a tensor must have ", Rank, " dimensions on the CPU");
  wane::view<T, Rank> view;
  view.data = x.data_ptr<std::remove_const_t<T>>();
  for (int i = 0; i < Rank; ++i) view.extent[i] = x.size(i), view.stride[i] = x.stride(i);
  return view;
}

// query, key: [B, T, H, K], value and output: [B, T, H, V], strength and log_decay: [B, T, H].
template <class T>
struct gated_delta_net : torch::autograd::Function<gated_delta_net<T>> {
  static auto memory(variable_list const& in) {
    return wane::gated_delta_net({.query = view_of<T const, 4>(in[0]),
                                  .key = view_of<T const, 4>(in[1]),
                                  .value = view_of<T const, 4>(in[2]),
                                  .strength = view_of<T const, 3>(in[3])},
                                 view_of<T const, 3>(in[4]), {.normalise = true});
  }
  static Tensor forward(AutogradContext* context, Tensor query, Tensor key, Tensor value,
                        Tensor strength, Tensor log_decay) {
    variable_list const in{query, key, value, strength, log_decay};
    context->save_for_backward(in);
    Tensor const y = torch::empty(value.sizes(), value.options());
    wane::run(memory(in), view_of<T, 4>(y));
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list const& dy) {
    variable_list const in = context->get_saved_variables();
    variable_list d;
    for (Tensor const& x : in) d.push_back(torch::empty(x.sizes(), x.options()));
    wane::adjoint(memory(in), view_of<T const, 4>(dy[0]),
                  {.query = view_of<T, 4>(d[0]),
                   .key = view_of<T, 4>(d[1]),
                   .value = view_of<T, 4>(d[2]),
                   .strength = view_of<T, 3>(d[3]),
                   .log_decay = view_of<T, 3>(d[4])});
    return d;
  }
};

// The same token by token, from torch's own functions.
Tensor loop(variable_list const& in) {
  auto const unit = [](Tensor const& x) {
    return (x / (x.square().sum(-1, true) + 1e-6).sqrt()).unsqueeze(-1);
  };
  Tensor const q = unit(in[0]) / std::sqrt(double(in[0].size(-1))), k = unit(in[1]);
  Tensor const v = in[2].unsqueeze(-2), beta = in[3].unsqueeze(-1).unsqueeze(-1);
  Tensor const decay = in[4].exp().unsqueeze(-1).unsqueeze(-1);
  Tensor state = torch::zeros(1, v.options());
  std::vector<Tensor> y;
  for (int t = 0; t < v.size(1); ++t) {
    auto const now = [t](Tensor const& x) { return x.select(1, t); };
    state = now(decay) * state;
    state = state + now(beta) * now(k) * (now(v) - (now(k) * state).sum(-2, true));
    y.push_back((now(q) * state).sum(-2));
  }
  return torch::stack(y, 1);
}

// Outputs and gradients of both, in double, of tensors [B, H, T, C] that are only transposed.
bool agree() {
  variable_list in;
  for (int const channels : {16, 16, 12}) in.push_back(torch::randn({2, 3, 50, channels}));
  in.push_back(torch::rand({2, 3, 50})), in.push_back(-torch::rand({2, 3, 50}));
  for (Tensor& x : in) x = x.to(torch::kDouble).transpose(1, 2).requires_grad_();
  Tensor const y = gated_delta_net<double>::apply(in[0], in[1], in[2], in[3], in[4]), z = loop(in);
  variable_list one = torch::autograd::grad({y.sin().sum()}, in);
  variable_list other = torch::autograd::grad({z.sin().sum()}, in);
  one.push_back(y), other.push_back(z);
  double off = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    off += ((one[i] - other[i]).norm() / other[i].norm()).item<double>();
  std::printf("outputs and gradients differ from torch's by %.0e of their norms\n", off);
  return off < 1e-9;
}

// A model learns to name the value of a key that came with its value before.
bool learns() {
  constexpr int batch = 32, symbols = 16, width = 32, heads = 2;
  torch::nn::Embedding embedding(2 * symbols, width);
  torch::nn::Linear read(width, 3 * width + 2 * heads), head(width, symbols);
  torch::nn::ModuleList const all(embedding, read, head);
  torch::optim::AdamW optimizer(all->parameters(), 1e-2);
  std::mt19937 bits(1);
  double loss = 0;
  for (int n = 0; n <= 80; ++n) {
    training::questions const fresh(bits, batch, 8, symbols);
    Tensor const answers = torch::tensor(fresh.answers).to(torch::kLong);  // -1: no question
    Tensor const x = embedding(torch::tensor(fresh.tokens).view({batch, -1}));
    auto const to = read(x).split_with_sizes({width, width, width, heads, heads}, -1);
    auto const in_heads = [](Tensor const& y) { return y.unflatten(-1, {heads, width / heads}); };
    Tensor const key = to[1].roll(1, 1);  // a value is written under the token before it
    Tensor const y = gated_delta_net<float>::apply(in_heads(to[0]), in_heads(key), in_heads(to[2]),
                                                   to[3].sigmoid(), torch::log_sigmoid(to[4] + 4));
    Tensor const z = head(x + y.flatten(-2)).flatten(0, 1).log_softmax(-1);
    Tensor const error = torch::nll_loss(z, answers, {}, at::Reduction::Mean, -1);
    optimizer.zero_grad(), error.backward(), optimizer.step();
    loss = error.item<double>();
    if (n % 20 == 0) std::printf("step %2d   loss %.3f\n", n, loss);
  }
  return loss < 0.5;
}

}  // namespace

int main() {
  torch::manual_seed(1);
  return agree() && learns() ? 0 : 1;
}
