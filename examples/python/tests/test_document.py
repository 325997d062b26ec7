"""The code in docs/python.md runs."""
# SPDX-License-Identifier: MIT

import pathlib
import re

import pytest


def test_code_of_the_document():
    document = pathlib.Path(__file__).parents[3] / "docs" / "python.md"
    blocks = re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        for module in "torch", "jax":
            if f"import {module}" in block:
                pytest.importorskip(module)
        exec(compile(block, str(document), "exec"), {})
