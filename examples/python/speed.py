"""Tokens a second of wane beside flash-linear-attention's CPU references, on one core.

    pip install flash-linear-attention
    python speed.py

fla's references (its `naive_*` functions, in PyTorch) must give the same outputs first.
"""
# SPDX-License-Identifier: MIT

import statistics
import time

import torch
import torch.nn.functional as F
import wane
from fla.ops.delta_rule.naive import delta_rule_recurrence
from fla.ops.gated_delta_rule.naive import (
    naive_chunk_gated_delta_rule,
    naive_recurrent_gated_delta_rule,
)
from fla.ops.gla.naive import naive_recurrent_gla
from fla.ops.kda.naive import naive_chunk_kda, naive_recurrent_kda
from fla.ops.retention.naive import naive_retention
from fla.ops.simple_gla.naive import naive_recurrent_simple_gla

B, T, H, D = 1, 1024, 8, 64


def seconds(call):
    call()
    times = []
    while len(times) < 3 or sum(times) < 1:
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def by_head(function):
    """A reference that takes and gives [B, H, T, D]."""
    def call(*tensors):
        output = function(*(x.transpose(1, 2) for x in tensors))
        return (output[0] if isinstance(output, tuple) else output).transpose(1, 2)
    return call


def first(function):
    return lambda *tensors: function(*tensors)[0]


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    wane.set_threads(1)
    q, v = torch.randn(B, T, H, D), torch.randn(B, T, H, D)
    k = F.normalize(torch.randn(B, T, H, D), dim=-1)
    beta = torch.rand(B, T, H)
    g, rows = -0.1 * torch.rand(B, T, H), -0.1 * torch.rand(B, T, H, D)
    rules = [
        ("gated delta rule, in order", first(wane.chunk_gated_delta_rule), (q, k, v, g, beta),
         first(naive_recurrent_gated_delta_rule), (q, k, v, beta, g)),
        ("gated delta rule, in chunks", first(wane.chunk_gated_delta_rule), (q, k, v, g, beta),
         first(naive_chunk_gated_delta_rule), (q, k, v, g, beta)),
        ("delta rule", first(wane.chunk_delta_rule), (q, k, v, beta),
         by_head(delta_rule_recurrence), (q, k, v, beta)),
        ("KDA, in order", first(wane.chunk_kda), (q, k, v, rows, beta),
         first(naive_recurrent_kda), (q, k, v, rows, beta)),
        ("KDA, in chunks", first(wane.chunk_kda), (q, k, v, rows, beta),
         first(naive_chunk_kda), (q, k, v, rows, beta)),
        ("GLA", first(wane.chunk_gla), (q, k, v, rows),
         first(naive_recurrent_gla), (q, k, v, rows)),
        ("simple GLA", first(wane.chunk_simple_gla), (q, k, v, g),
         first(naive_recurrent_simple_gla), (q, k, v, g)),
        ("retention, all pairs", first(wane.chunk_retention), (q, k, v),
         by_head(naive_retention), (q, k, v)),
    ]
    print(f"B {B}, T {T}, H {H}, K and V {D}, float, one core; tokens a second")
    for name, ours, inputs, theirs, their_inputs in rules:
        one, other = ours(*inputs), theirs(*their_inputs)
        off = ((one - other).norm() / other.norm()).item()
        assert off < 1e-4, (name, off)
        a, b = seconds(lambda: ours(*inputs)), seconds(lambda: theirs(*their_inputs))
        print(f"{name:28s} wane {B * T / a:10,.0f}   fla {B * T / b:8,.0f}   "
              f"{b / a:5.1f} times   apart by {off:.0e}")


if __name__ == "__main__":
    main()
