"""The number of threads of a call."""
# SPDX-License-Identifier: MIT

import os

threads = 0


def set_threads(count):
    """Calls use `count` threads; 0, as at first, means as many as OpenMP does.

    Outputs are the same bits for any number. A short call uses fewer. A process that was forked
    uses one, because OpenMP's threads are not forked. What jax.jit traced keeps its number.
    """
    global threads
    if int(count) != count or not 0 <= count < 1 << 16:
        raise ValueError(f"count is {count}; it must be a whole number from 0 to 65535")
    threads = int(count)


def get_threads():
    """The number that set_threads() was given, or 0."""
    return threads


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: set_threads(1))
