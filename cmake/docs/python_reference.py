"""The page of the functions of examples/python: their signatures and docstrings, without NumPy and
without the compiled module.
SPDX-License-Identifier: MIT
"""
import importlib
import inspect
import re
import sys
import types
from unittest.mock import MagicMock

LINE = 76


def functions(source):
    """The public functions of the package, in the order in which their files define them."""
    package = types.ModuleType("wane")
    package.__path__ = [str(source / "wane")]
    absent = {name: MagicMock() for name in ("numpy", "wane._wane", "wane._memories")}
    kept = {name: sys.modules.get(name) for name in absent}
    sys.modules.update(absent, wane=package)
    try:
        modules = [importlib.import_module(f"wane.{name}")
                   for name in ("_functions", "_spectra", "_threads")]
    finally:
        for name, module in kept.items():
            sys.modules.pop(name)
            if module:
                sys.modules[name] = module
        for name in [name for name in sys.modules if name.partition(".")[0] == "wane"]:
            del sys.modules[name]
    return [value for module in modules for name, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_"]


def signature(function):
    """The signature, broken where a line is full."""
    def shown(parameter):
        return str(parameter).replace("'", "") if isinstance(parameter.annotation, str) else (
            str(parameter))

    parameters = inspect.signature(function).parameters.values()
    lines, star = [f"{function.__name__}("], False
    for parameter in parameters:
        words = [shown(parameter)]
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            words.insert(0, "*")
            star = True
        for word in words:
            if len(lines[-1]) + len(word) > LINE:
                lines.append("    ")
            lines[-1] += word + ", "
    text = "\n".join(line.rstrip() for line in lines)
    result = str(inspect.signature(function).return_annotation).replace("'", "")
    ending = "" if "inspect._empty" in result else f" -> {result}"
    between = "\n" if len(lines[-1]) + len(ending) > LINE else ""
    return re.sub(r",$", "", text) + between + ")" + ending


def described(docstring):
    """The docstring with lists in the place of its sections of arguments."""
    text, in_section = [], False
    for line in inspect.cleandoc(docstring).splitlines():
        if re.fullmatch(r"(Args|Returns|Raises):", line):
            in_section = True
            text += [f"**{line[:-1]}**", ""]
        elif in_section and line.startswith("    ") and not line.startswith("     "):
            name, colon, rest = line.strip().partition(": ")
            listed = colon and re.fullmatch(r"[\w, ]+", name)
            text.append(f"- `{name}`: {rest}" if listed else line.strip())
        else:
            in_section = in_section and (not line or line[0] == " ")
            text.append(("  " if in_section else "") + line.strip())
    return "\n".join(text)


def page(source):
    """The whole page."""
    entries = [f"## `{each.__name__}`\n\n```python\n{signature(each)}\n```\n\n"
               f"{described(each.__doc__)}\n" for each in functions(source)]
    return ("# Functions of Python\n\nThose of [the Python package](python.md).\n\n"
            + "\n".join(entries))
