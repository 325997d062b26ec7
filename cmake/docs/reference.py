"""The reference of a header, in Markdown: the comment and the declaration of each public name.

clang-format writes the headers, so a declaration of a namespace begins in column 0, one of a class
in column 2, and a comment stands right above what it describes.
SPDX-License-Identifier: MIT
"""
import itertools
import re
import textwrap

LITERALS = re.compile(r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)'")
MACROS = re.compile(r"\b(?:WANE_(?:HOST_DEVICE|DEVICE|HOST_INLINE|INLINE|NOINLINE)|inline)\b ?")
KEYWORDS = ("requires", "noexcept", "decltype", "alignas", "explicit", "__launch_bounds__")
COLUMNS = re.compile(r"\S {3,}\S")
EQUATION = re.compile(r"\w+_(\w|\{.*?\}) (=|<-) (?!.*[a-z]{2} [a-z]{2,} [a-z]{2})")
CODE = re.compile(r"(?m)[;{]$|//|::")
RUNNERS_SIDE = (("struct", "token"), ("struct", "sink"))  # of an operator; shown without members


def structure(code):
    """The code with blanks in place of literals and comments."""
    code = re.sub(r"(?<=[0-9])'(?=[0-9])", "0", code)
    return LITERALS.sub(lambda found: " " * len(found[0]), code)


def items(code):
    """(blank line before, comment, declaration) of each declaration at the left margin."""
    gap, comment, declaration, depth = False, [], [], 0
    for line in code.split("\n"):
        if not declaration and (not line.strip() or line.startswith("#")):
            gap, comment = True, []
            continue
        if not declaration and line.startswith("//"):
            comment.append(line)
            continue
        declaration.append(line)
        bare = structure(line).strip()
        depth += sum(map(bare.count, "({[")) - sum(map(bare.count, ")}]"))
        text = "\n".join(declaration)
        if depth == 0 and (bare.endswith((";", ":")) and not bare.startswith("requires") and
                           not bare.endswith("::") or bare.endswith("}") and body_of(text)):
            yield gap, comment, text
            gap, comment, declaration = False, [], []


def body_of(code):
    """(begin, end) of the braces that hold a body; None for a declaration without one."""
    bare, depth, at = structure(code), 0, 0
    while at < len(bare):
        depth += {"(": 1, ")": -1}.get(bare[at], 0)
        if bare[at] == "{" and depth == 0:
            end, inner = at, 0
            while True:
                inner += {"{": 1, "}": -1}.get(bare[end], 0)
                end += 1
                if inner == 0:
                    break
            if re.search(r"=\s*$", bare[:at]):
                return None  # the value of a variable
            if not re.search(r"(\brequires|=|&&|\|\||!)\s+requires\s*(\([^{}]*\))?\s*$", bare[:at]):
                return at, end
            at = end
        else:
            at += 1
    return None


def outside(bare):
    """What lies outside of brackets; of these the opening ones stay."""
    text, round_depth, angle_depth = "", 0, 0
    for c in bare.replace("->", "  "):
        if round_depth == 0 and c in "<>":
            angle_depth += 1 if c == "<" else -1
        elif c in ")}]":
            round_depth -= 1
        else:
            text += c if round_depth == 0 and angle_depth == 0 else ""
            round_depth += c in "({["
    return text


def kind_and_name(code):
    """What a declaration declares: (kind, name); the name is None for what has no entry."""
    body = body_of(code)
    flat = outside(structure(code[: body[0]] if body else code))
    flat = re.sub(r"^(\s*template\b)+\s*", "", flat)
    found = re.match(r"(class|struct|union|enum(?: class| struct)?|concept|using)\s+(\w+)", flat)
    if found:
        return found[1], found[2]
    flat = re.split(r"(?<![=!<>])=(?!=)", flat)[0]
    if re.match(r"static_assert|friend|extern|namespace", flat) or re.search(r"\boperator\W", flat):
        return "other", None
    calls = [m for m in re.finditer(r"([\w:~]+)\s*\(", flat) if m[1] not in KEYWORDS]
    if not calls:
        return "variable", (re.findall(r"\w+", flat.split("[")[0]) or [None])[-1]
    guide_or_member = calls[0].start() == 0 or "::" in calls[0][1]
    return "function", None if guide_or_member else calls[0][1]


def signature(code):
    """A function without its body and its list of initialisers."""
    body = body_of(code)
    if not body:
        return code
    head, depth = code[: body[0]].rstrip(), 0
    for colon in re.finditer(r"[()]|(?<!:):(?!:)", structure(head)):
        depth += {"(": 1, ")": -1}.get(colon[0], 0)
        if colon[0] == ":" and depth == 0:
            head = head[: colon.start()]
            break
    return re.sub(r"\s*(//.*)?$", "", head) + ";"


def without_macros(code):
    """Continuation lines move with what they are aligned to."""
    lines, shift = [], 0
    for line in code.split("\n"):
        indent = len(line) - len(line.lstrip())
        if shift and indent >= shift + 4:
            line = line[shift:]
        else:
            shift = 0
        cut = MACROS.sub("", line)
        shift += len(line) - len(cut)
        lines.append(cut.rstrip())
    return "\n".join(lines)


def shown(code):
    """A declaration as users see it: a class without private members, a function without body."""
    kind, body = kind_and_name(code)[0], body_of(code)
    if not body or kind.startswith("enum"):
        return code
    if kind not in ("class", "struct", "union"):
        return signature(code)
    public, lines = kind != "class", []
    inside = re.sub(r"(?m)^(?: (?=\w)|  )", "", code[body[0] + 1 : body[1] - 1])
    for gap, comment, member in items(inside):
        access = re.fullmatch(r"(public|private|protected):", member)
        if access:
            public = access[1] == "public"
        elif public and not re.match(r"static_assert|friend", member):
            hidden = kind_and_name(member) in RUNNERS_SIDE
            lines += [""] if gap and lines else []
            lines += comment + (signature(member) if hidden else shown(member)).split("\n")
    inner = "".join(f"  {line}\n" if line else "\n" for line in lines)
    return code[: body[0] + 1] + ("\n" + inner if inner else "") + "}" + code[body[1] :]


def prose(comment):
    """Comment lines as Markdown. A line that is indented is code, one in columns a formula, and so
    is an equation next to one of these; a line that ends early ends there on the page too."""
    lines = [re.sub(r"^// ?", "", line) for line in comment]
    kinds = ["code" if line[:1] == " " else "text" if COLUMNS.search(line) else ""
             for line in lines]
    for at, line in enumerate(lines):
        if EQUATION.match(line) and any(kinds[max(at - 1, 0) : at + 2]):
            kinds[at] = "text"
    out = []
    for kind, group in itertools.groupby(zip(kinds, lines), lambda pair: pair[0]):
        block = [line for _, line in group]
        if kind:
            block = textwrap.dedent("\n".join(block))
            language = "cpp" if kind == "code" and CODE.search(block) else "text"
            out += ["", f"```{language}", block, "```", ""]
        else:
            out += [escaped(line) + ("  " if re.search(r"[.:]$", line) and len(line) < 80 else "")
                    for line in block]
    return "\n".join(out).strip("\n")


def escaped(line):
    parts = re.split(r"(`[^`]*`)", line)
    parts[::2] = [re.sub(r"([\\*_\[\]<>#|~])", r"\\\1", part) for part in parts[::2]]
    text = "".join(parts)
    return re.sub(r"^(\s*)([-+]|\d+\.)(\s)", r"\1\\\2\3", text)


def read(text):
    """(what line 1 says, the comments before namespaces, {name: [(namespace, comment, code)]})."""
    about, _, rest = text.partition("// SPDX")
    about = " ".join(line[2:].strip() for line in about.splitlines())
    lead = rest.partition("\n")[2].split("\nnamespace ")[0]
    notes = [note.splitlines() for note in re.findall(r"(?m)(?:^//.*\n)+", lead)]
    names = {}
    for space in re.finditer(r"(?ms)^namespace ([\w:]+) \{\n(.*?)^\}  // namespace", rest):
        if "impl" in space[1].split("::"):
            continue
        for _, comment, code in items(space[2]):
            name = kind_and_name(code)[1]
            if name:
                entry = (space[1], comment, without_macros(shown(code)))
                names.setdefault(name, []).append(entry)
    return about, notes, names


def page(path, text, source, known):
    """(the page of include/wane/<path>, {name: its namespaces}). `source` is the link to the
    header; `known` says what a name is, for those without a comment."""
    about, notes, names = read(text)
    spaces = sorted({entry[0] for entries in names.values() for entry in entries})
    out = [f"# {path}", escaped(about),
           f"`#include <wane/{path}>`, namespace " + ", ".join(f"`{each}`" for each in spaces) +
           f" ([the whole header]({source}))"]
    out += map(prose, notes)
    for name, entries in names.items():
        out.append(f"## `{name}`")
        if name in known and not any(comment for _, comment, _ in entries):
            out.append(known[name])
        for number, (_, comment, code) in enumerate(entries):
            if number and not comment:
                out[-1] = f"{out[-1][:-4]}\n\n{code}\n```"
            else:
                out += [prose(comment), f"```cpp\n{code}\n```"]
    return ("\n\n".join(filter(None, out)) + "\n",
            {name: {entry[0] for entry in entries} for name, entries in names.items()})
