"""Recurrent memories for long sequences, on arrays of NumPy, PyTorch and JAX.

    import numpy, wane
    o, state = wane.chunk_gated_delta_rule(q, k, v, g, beta, output_final_state=True)

Outputs are of the framework of the values. Tensors of PyTorch and JAX have gradients. Arrays lie
on the CPU; they are read where they are, with any strides.
"""
# SPDX-License-Identifier: MIT

from ._functions import (
    chunk_delta_rule,
    chunk_gated_delta_rule,
    chunk_gla,
    chunk_kda,
    chunk_linear_attn,
    chunk_retention,
    chunk_rwkv7,
    chunk_simple_gla,
    fused_recurrent_gla,
    laplace,
    mamba_chunk_scan_combined,
    retention,
    retrieval,
    selective_scan_fn,
    vla,
)
from ._spectra import (
    SumOfExponentials,
    order_weights,
    post_log_decays,
    post_log_rates,
    post_parameters,
    post_rates,
    post_taper,
    sum_of_exponentials,
)
from ._threads import get_threads, set_threads
from ._wane import __version__

fused_recurrent_delta_rule = chunk_delta_rule
fused_recurrent_gated_delta_rule = chunk_gated_delta_rule
fused_recurrent_kda = chunk_kda
fused_recurrent_linear_attn = chunk_linear_attn
fused_recurrent_retention = chunk_retention
fused_recurrent_rwkv7 = chunk_rwkv7
fused_recurrent_simple_gla = chunk_simple_gla

__all__ = [name for name in dir() if not name.startswith("_")]
