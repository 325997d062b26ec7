# Writes the checkpoints that the tests read, with the public safetensors and NumPy libraries, under
# the names of public models and drawn as those models are at the start of training:
#   python3 write.py
# SPDX-License-Identifier: MIT
import json

import numpy as np
import safetensors
from safetensors.numpy import save_file

rng = np.random.default_rng(1)
rates = {}  # of each file and layer, as NumPy has them in double
kept = []  # the library holds pointers only


def float32(values):
    return np.asarray(values, dtype=np.float32)


def rounded_to_bfloat16(values):
    bits = np.ascontiguousarray(float32(values)).view(np.uint32)
    return (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).astype(np.uint32).view(np.float32)


def bfloat16(values):
    data = np.ascontiguousarray((rounded_to_bfloat16(values).view(np.uint32) >> 16).astype("<u2"))
    kept.append(data)
    return safetensors.TensorSpec(
        dtype="bfloat16", shape=list(np.shape(values)), data_ptr=data.ctypes.data,
        data_len=data.nbytes)


def softplus(x):
    return np.log1p(np.exp(np.float64(x)))


def keep_rates(file, layer, values):
    rates.setdefault(file, {})[layer] = np.asarray(values, dtype=np.float64).tolist()


def step_bias(count):
    step = np.exp(rng.uniform(np.log(1e-3), np.log(1e-1), count))
    return float32(step + np.log(-np.expm1(-step)))


def mamba2(layers=3, heads=24):
    tensors = {"backbone.embeddings.weight": float32(rng.normal(size=(16, 8)))}
    for i in range(layers):
        mixer = f"backbone.layers.{i}.mixer."
        tensors[mixer + "A_log"] = float32(np.log(rng.uniform(1, 16, heads)))
        tensors[mixer + "D"] = float32(np.ones(heads))
        tensors[mixer + "dt_bias"] = step_bias(heads)
        tensors[mixer + "norm.weight"] = float32(np.ones(8))
        rate = np.exp(np.float64(tensors[mixer + "A_log"])) * softplus(tensors[mixer + "dt_bias"])
        keep_rates("mamba2.safetensors", mixer[:-1], rate[:, None])
    save_file(tensors, "mamba2.safetensors", metadata={"format": "pt"})


def mamba1(layers=2, channels=12, states=16):
    tensors = {}
    for i in range(layers):
        mixer = f"backbone.layers.{i}.mixer."
        tensors[mixer + "A_log"] = float32(np.tile(np.log(np.arange(1, states + 1)), (channels, 1)))
        tensors[mixer + "dt_proj.bias"] = step_bias(channels)
        tensors[mixer + "dt_proj.weight"] = float32(np.zeros((channels, 2)))
        rate = np.exp(np.float64(tensors[mixer + "A_log"]))
        keep_rates("mamba1.safetensors", mixer[:-1],
                   rate * softplus(tensors[mixer + "dt_proj.bias"])[:, None])
    save_file(tensors, "mamba1.safetensors")


def rwkv7(layers=3, size=128, head=64):
    tensors = {}
    n = np.arange(size)
    for i in range(layers):
        depth = i / (layers - 1)
        curve = -7 + 5 * (n / (size - 1)) ** (0.85 + depth**0.5)
        u = (n % head - (head - 1) / 2) / ((head - 1) / 2)
        attention = f"blocks.{i}.att."
        tensors[attention + "r_k"] = bfloat16(np.zeros((size // head, head)))
        w0 = curve + 0.5 + 2.5 * u * np.abs(u)
        tensors[attention + "w0"] = bfloat16(w0[None, None, :])
        rate = np.exp(-0.5) / (1 + np.exp(-np.float64(rounded_to_bfloat16(w0))))
        keep_rates("rwkv7.safetensors", attention[:-1], rate.reshape(-1, head))
        tensors[attention + "w1"] = bfloat16(np.zeros((4, 2)))
    with open("rwkv7.safetensors", "wb") as file:
        file.write(safetensors.serialize(tensors))


def others():
    tensors = {
        "model.layers.1.attn.A_log": float32(np.log(rng.uniform(1, 16, 4))),
        "model.layers.1.attn.dt_bias": step_bias(4),
        "model.layers.2.attn.A_log": float32(np.zeros((1, 1, 2, 1))),
        "model.layers.2.attn.dt_bias": step_bias(6),
        "model.layers.3.attn.gk_proj.1.bias": float32([0, 1, 2, 3]),
        "model.layers.4.attn.w_lora.lora.2.bias": float32(np.linspace(-6, 0.5, 128)),
        "model.layers.5.attn.time_decay": float32(np.linspace(-8, 1, 8)).reshape(2, 4),
        "decoder.retnet_rel_pos.decay": float32(np.log(1 - 2.0 ** (-5 - np.arange(4)))),
    }
    save_file(tensors, "others.safetensors")
    a_log, bias = np.log(rng.uniform(1, 16, (3, 4))), step_bias((3, 4))
    np.save("A_log.npy", a_log)
    np.save("dt_bias.npy", bias)
    for i in range(3):
        keep_rates("A_log.npy", str(i), (np.exp(a_log) * softplus(bias))[i][:, None])


mamba2()
mamba1()
rwkv7()
others()
with open("rates.json", "w") as file:
    json.dump(rates, file)
    file.write("\n")
