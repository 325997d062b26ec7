"""Trains a model of PyTorch around a memory of wane to recall values by their keys.

    python train_recall.py --steps 300

A sequence is pairs of a key and a value, and then the keys alone: the model names their values. It
trains on 8 pairs a sequence and is tested on more, which its memory has never held.
"""
# SPDX-License-Identifier: MIT

import argparse
import time

import torch
import wane
from torch import nn


class Recall(nn.Module):
    """Gated DeltaNet between an embedding and a head; a value is written under the token before."""

    def __init__(self, symbols, width=64, heads=2):
        super().__init__()
        self.heads = heads
        self.embedding = nn.Embedding(2 * symbols, width)
        self.read = nn.Linear(width, 3 * width + 2 * heads)
        self.head = nn.Linear(width, symbols)

    def forward(self, tokens):
        x = self.embedding(tokens)
        width = x.shape[-1]
        q, k, v, beta, g = self.read(x).split([width] * 3 + [self.heads] * 2, -1)
        k = torch.cat([torch.zeros_like(k[:, :1]), k[:, :-1]], 1)
        q, k, v = (y.unflatten(-1, (self.heads, -1)) for y in (q, k, v))
        y, _ = wane.chunk_gated_delta_rule(
            q, k, v, nn.functional.logsigmoid(g + 4), beta.sigmoid(), use_qk_l2norm_in_kernel=True)
        return self.head(x + y.flatten(-2))


def questions(batch, pairs, symbols):
    """Tokens, [batch, 3 pairs], and the symbols to name at the last `pairs` of them."""
    keys = torch.rand(batch, symbols).argsort(-1)[:, :pairs]
    values = torch.randint(symbols, (batch, pairs))
    asked = torch.rand(batch, pairs).argsort(-1)
    told = torch.stack([keys, values + symbols], -1).flatten(1)
    return torch.cat([told, keys.gather(1, asked)], 1), values.gather(1, asked)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--steps", type=int, default=300)
    options.add_argument("--symbols", type=int, default=32)
    options.add_argument("--seed", type=int, default=1)
    options = options.parse_args()
    torch.manual_seed(options.seed)
    model = Recall(options.symbols)
    optimizer = torch.optim.AdamW(model.parameters(), 5e-3)
    began = time.perf_counter()
    for step in range(options.steps + 1):
        tokens, answers = questions(64, 8, options.symbols)
        logits = model(tokens)[:, -8:]
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step:4d}   loss {loss.item():.3f}   {time.perf_counter() - began:.1f} s")
    for pairs in 8, 16, 24:
        tokens, answers = questions(256, pairs, options.symbols)
        with torch.no_grad():
            right = model(tokens)[:, -pairs:].argmax(-1) == answers
        print(f"{pairs:3d} pairs: {100 * right.float().mean():.0f} % recalled")


if __name__ == "__main__":
    main()
