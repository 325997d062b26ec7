"""Finds the places of a C++ text where a fault can be planted, and the text with the fault.

SPDX-License-Identifier: MIT

The text is read as tokens, not parsed. What tells a comparison from a template's bracket, and a
product from a pointer, is the space that clang-format sets around binary operators.
"""
import bisect
import dataclasses
import re

KINDS = {
    "sign": "+ and - exchanged, or a unary minus dropped",
    "off by one": "< and <= exchanged, or + 1 and - 1 dropped",
    "dropped term": "a factor, a term, an assignment or a call removed",
    "dropped check": "a call of require removed",
    "swapped operands": "a - b, a / b or f(a, b) with a and b exchanged",
    "min and max": "min and max exchanged",
    "and and or": "&& and || exchanged",
    "negated condition": "a condition negated, or == and != exchanged",
    "true and false": "true and false exchanged",
    "constant": "0 and 1 exchanged, 2 made 3, a number with a point doubled",
    "synchronisation": "a barrier, a wait or a flag removed, or a memory order relaxed",
    "jump": "continue, break or return removed",
}

PIECES = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<directive>(?<![^\n])[ \t]*\#(?:\\\n|[^\n])*)
      | (?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"
                 | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
                 | (?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
      | (?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z]|[0-9A-Za-z_.])*)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<mark_of_operator><<=|>>=|<=>|\.\.\.|->\*|->|::|\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=
                 |<<|<=|>=|==|!=|&&|\|\||[^\s])
    """,
    re.VERBOSE | re.DOTALL,
)
OPENS = {"(": ")", "[": "]", "{": "}"}
# After these an expression begins, so that a following - has one operand.
BEFORE_OPERAND = set("( , = return { [ ? : ; && || < > <= >= == != + - * / % += -= *= /=".split())
ASSIGNS = {"=", "+=", "-=", "*=", "/=", "|=", "&=", "^="}
SYNCHRONISES = re.compile(r"barrier|sync|await|fence|raise|publish|notify|signal")
# What is between their parentheses changes no result.
NOT_COMPUTED = {"static_assert", "alignas", "requires", "decltype", "noexcept",
                "__builtin_prefetch"}
NO_OPERAND = {"return", "const", "auto", "else", "new", "delete", "throw", "case", "co_yield"}


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    begin: int
    end: int
    partner: int = -1  # of a bracket: the index of the other one
    skipped: bool = False  # no fault is planted here


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    begin: int
    end: int
    text: str  # replaces [begin, end)
    may_be_equivalent: bool = False


def tokens_of(text):
    """The tokens of a text without comments and directives, with brackets paired."""
    found = []
    for piece in PIECES.finditer(text):
        kind = piece.lastgroup if piece.lastgroup != "mark" else "string"
        if kind in ("comment", "directive"):
            continue
        found.append(Token(kind, piece.group(), piece.start(), piece.end()))
    open_ones = []
    for i, token in enumerate(found):
        if token.kind != "mark_of_operator":
            continue
        if token.text in OPENS:
            open_ones.append(i)
        elif token.text in OPENS.values() and open_ones:
            j = open_ones.pop()
            found[i].partner, found[j].partner = j, i
    return found


class Reader:
    def __init__(self, text):
        self.text = text
        self.tokens = tokens_of(text)
        self.pair_angles()
        self.skip_declarations()

    def is_(self, i, *texts):
        return 0 <= i < len(self.tokens) and self.tokens[i].text in texts

    def kind(self, i):
        return self.tokens[i].kind if 0 <= i < len(self.tokens) else ""

    def spaced(self, i):
        """Whether white space is on both sides, as clang-format sets it at a binary operator."""
        token = self.tokens[i]
        return (
            self.text[token.begin - 1 : token.begin].isspace()
            and self.text[token.end : token.end + 1].isspace()
        )

    def pair_angles(self):
        """Pairs the brackets of templates, and skips what is between them."""
        open_ones = []
        for i, token in enumerate(self.tokens):
            if token.kind != "mark_of_operator":
                continue
            if token.text == "<" and not self.is_(i - 1, "operator"):
                if self.is_(i - 1, "template") or (self.kind(i - 1) == "name" and not self.spaced(i)
                        and not self.text[token.begin - 1].isspace()):
                    open_ones.append(i)
            elif token.text == ">" and open_ones and not self.spaced(i):
                j = open_ones.pop()
                token.partner, self.tokens[j].partner = j, i
                if not open_ones:
                    self.skip(j, i)
            elif token.text == ";":
                open_ones.clear()

    def skip(self, first, last):
        for token in self.tokens[first : last + 1]:
            token.skipped = True

    def skip_declarations(self):
        for i, token in enumerate(self.tokens):
            opens = self.is_(i + 1, "(", "{") and self.tokens[i + 1].partner > 0
            if token.kind == "name" and opens:
                if token.text in NOT_COMPUTED:
                    self.skip(i, self.tokens[i + 1].partner)
                elif token.text == "require":
                    comma = self.next_at_depth(i + 2, ",")
                    if comma > 0:
                        self.skip(comma, self.tokens[i + 1].partner)
            if token.text == "concept":
                self.skip(i, max(i, self.next_at_depth(i, ";")))
            if token.text == "requires" and not self.is_(i + 1, "{"):
                # A parameter list between parentheses may come before the block.
                if self.is_(i + 1, "(") and self.is_(self.tokens[i + 1].partner + 1, "{"):
                    block = self.tokens[i + 1].partner + 1
                    self.skip(i, max(block, self.tokens[block].partner))
            if token.text == "[" and self.is_(i + 1, "[") and token.partner > 0:
                self.skip(i, token.partner)

    def next_at_depth(self, i, *texts):
        """The first of the texts from i on, outside brackets that open there; -1 if none."""
        while i < len(self.tokens):
            token = self.tokens[i]
            if token.text in texts:
                return i
            if token.text in OPENS and token.partner > i:
                i = token.partner
            elif token.text in OPENS.values():
                return -1
            i += 1
        return -1

    def operand_end(self, i):
        """The index after the operand that begins at i: a name or number with what follows it."""
        start = i
        while self.is_(i, "-", "!", "*", "&") and not self.spaced(i):
            i += 1
        if self.is_(i, "(") and self.tokens[i].partner > i:
            i = self.tokens[i].partner + 1
        elif self.kind(i) in ("name", "number") and self.tokens[i].text not in NO_OPERAND:
            i += 1
        else:
            return start
        while i < len(self.tokens):
            token = self.tokens[i]
            if token.text in ("(", "[") and token.partner > i:
                i = token.partner + 1
            elif token.text == "<" and token.partner > i:
                i = token.partner + 1
            elif token.text in (".", "->", "::") and self.kind(i + 1) == "name":
                i += 2
            elif token.text == "{" and token.partner > i and self.tokens[i - 1].kind == "name" \
                    and self.text[token.begin - 1] not in " \n":
                i = token.partner + 1
            else:
                break
        return i

    def term_end(self, i):
        """The index after the product that begins at i."""
        end = self.operand_end(i)
        while end > i and self.is_(end, "*", "/", "%") and self.spaced(end):
            after = self.operand_end(end + 1)
            if after == end + 1:
                return i
            i, end = end, after
        return end

    def simple_before(self, i):
        """Where a name with members, or a number, begins that ends before token i; -1 if none."""
        j = i - 1
        if self.kind(j) not in ("name", "number"):
            return -1
        while self.is_(j - 1, ".", "->", "::") and self.kind(j - 2) == "name":
            j -= 2
        if self.tokens[j].text in NO_OPERAND or not (
                self.tokens[j - 1].text in BEFORE_OPERAND - set("* / %".split())):
            return -1
        return j

    def simple_end(self, i):
        """The index after a name with members, or a number, that begins at i; i if none does."""
        if self.kind(i) not in ("name", "number") or self.tokens[i].text in NO_OPERAND:
            return i
        i += 1
        while self.is_(i, ".", "->", "::") and self.kind(i + 1) == "name":
            i += 2
        return i

    def at_statement(self, i):
        """Whether a statement begins at token i."""
        before = self.tokens[i - 1] if i > 0 else None
        if before is None:
            return False
        if before.text in (";", "{", "}", "else"):
            return True
        return before.text == ")" and before.partner > 0 and self.controls(before.partner)

    def controls(self, opening):
        """Whether a parenthesis belongs to if, for or while."""
        return self.is_(opening - 1, "if", "for", "while") or (
            self.is_(opening - 1, "constexpr") and self.is_(opening - 2, "if"))

    def source(self, first, last):
        return self.text[self.tokens[first].begin : self.tokens[last].end]


def faults_of(text):
    """All faults that can be planted in a C++ text, in order."""
    reader = Reader(text)
    found = []

    def plant(kind, first, last, replacement, begin=None, **more):
        if any(t.skipped for t in reader.tokens[first : last + 1]):
            # Where an operand holds a template's arguments, only its ends count.
            if reader.tokens[first].skipped or reader.tokens[last].skipped and \
                    reader.tokens[last].text != ">":
                return
        begin = reader.tokens[first].begin if begin is None else begin
        found.append(Fault(kind, begin, reader.tokens[last].end, replacement, **more))

    for i, token in enumerate(reader.tokens):
        if token.skipped:
            continue
        if token.kind == "mark_of_operator":
            of_operator(reader, i, plant)
        elif token.kind == "number":
            of_number(token, i, plant)
        elif token.kind == "name":
            of_name(reader, i, plant)
        if reader.at_statement(i):
            of_statement(reader, i, plant)
    unique = {(f.begin, f.end, f.text): f for f in found}
    return sorted(unique.values(), key=lambda f: (f.begin, f.end, f.text))


def of_operator(reader, i, plant):
    token = reader.tokens[i]
    text = token.text
    binary = reader.spaced(i) and i > 0 and reader.tokens[i - 1].text not in BEFORE_OPERAND
    if text in ("+", "-") and binary:
        plant("sign", i, i, "-" if text == "+" else "+")
        end = reader.term_end(i + 1)
        if end > i + 1:
            one = end == i + 2 and reader.is_(i + 1, "1")
            drop(reader, "off by one" if one else "dropped term", i, end - 1, plant)
    if text in ("+=", "-=") and not reader.is_(i - 1, "operator"):
        plant("sign", i, i, "-=" if text == "+=" else "+=")
    if text == "-" and not reader.spaced(i) and i > 0 and \
            reader.tokens[i - 1].text in BEFORE_OPERAND and not reader.is_(i + 1, "1"):
        plant("sign", i, i, "")
    if text in ("*", "/") and binary:
        end = reader.operand_end(i + 1)
        if end > i + 1:
            drop(reader, "dropped term", i, end - 1, plant)
    # In x - a - b, a is no operand of the second -.
    if text in ("-", "/") and binary:
        first, last = reader.simple_before(i), reader.simple_end(i + 1)
        if first >= 0 and last > i + 1 and not (text == "-" and reader.is_(first - 1, "-")) \
                and not reader.is_(last, "(", "[", "<", "{", "*", "/"):
            left, right = reader.source(first, i - 1), reader.source(i + 1, last - 1)
            if left != right:
                plant("swapped operands", first, last - 1, f"{right} {text} {left}")
    exchanged = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
    if text in exchanged and reader.spaced(i) and token.partner < 0 \
            and not reader.is_(i - 1, "operator"):
        plant("off by one", i, i, exchanged[text])
    if text in ("==", "!=") and reader.spaced(i):
        plant("negated condition", i, i, "!=" if text == "==" else "==")
    if text in ("&&", "||") and reader.spaced(i):
        plant("and and or", i, i, "||" if text == "&&" else "&&")
    if text == "(" and token.partner > i + 1:
        # Few headers compile with the condition of an `if constexpr` negated.
        if reader.controls(i) and not reader.is_(i - 1, "for", "constexpr") \
                and reader.next_at_depth(i + 1, ";") < 0:
            plant("negated condition", i, token.partner,
                  "(!" + reader.source(i, token.partner) + ")")
        swap_arguments(reader, i, plant)


def drop(reader, kind, first, last, plant):
    """Removes an operator and its right operand, and the space before."""
    plant(kind, first, last, "", begin=reader.tokens[first - 1].end)


def swap_arguments(reader, i, plant):
    called = reader.tokens[i - 1] if i > 0 else None
    if called is None or not (called.kind == "name" or called.text == ">" and called.partner > 0) \
            or called.text in ("if", "for", "while", "switch", "require"):
        return
    middle = reader.simple_end(i + 1)
    if middle == i + 1 or not reader.is_(middle, ","):
        return
    end = reader.simple_end(middle + 1)
    if end == middle + 1 or end != reader.tokens[i].partner:
        return
    first, second = reader.source(i + 1, middle - 1), reader.source(middle + 1, end - 1)
    name = reader.tokens[called.partner - 1] if called.text == ">" else called
    if first != second and name.text not in ("min", "max"):
        plant("swapped operands", i + 1, end - 1, f"{second}, {first}")


def of_number(token, i, plant):
    text = token.text
    if text in ("0", "1", "2"):
        plant("constant", i, i, {"0": "1", "1": "0", "2": "3"}[text])
    elif re.search(r"[.]|^[0-9]+e", text) and not text.startswith("0x"):
        plant("constant", i, i, f"(2 * {text})")


def of_name(reader, i, plant):
    text = reader.tokens[i].text
    if text in ("min", "max") and reader.is_(i + 1, "(", "<"):
        plant("min and max", i, i, "max" if text == "min" else "min")
    if text in ("true", "false"):
        plant("true and false", i, i, "false" if text == "true" else "true")
    if re.fullmatch("memory_order_(release|acquire|acq_rel|seq_cst)", text):
        plant("synchronisation", i, i, "memory_order_relaxed", may_be_equivalent=True)


def of_statement(reader, i, plant):
    token = reader.tokens[i]
    if token.text in ("continue", "break", "return") and reader.is_(i + 1, ";"):
        plant("jump", i, i, "")
    elif token.text == "return" and reader.is_(i - 1, ")"):
        end = reader.next_at_depth(i, ";")
        if end > 0:
            plant("jump", i, end, ";")
    end = reader.operand_end(i)
    if end == i:
        return
    if reader.tokens[end].text in ASSIGNS:
        last = reader.next_at_depth(end, ";")
        if last > 0:
            flag = re.search("flag", reader.source(i, end - 1))
            plant("synchronisation" if flag else "dropped term", i, last, ";")
    elif reader.is_(end, ";") and reader.is_(end - 1, ")"):
        called = reader.tokens[reader.tokens[end - 1].partner - 1].text
        kind = "dropped check" if called == "require" else \
            "synchronisation" if SYNCHRONISES.search(called) else "dropped term"
        opening = reader.tokens[end - 1].partner
        found_skip = [t.skipped for t in reader.tokens[i : end + 1]]
        if called == "require":  # its message is skipped, the whole call is not
            for t in reader.tokens[opening : end]:
                t.skipped = False
        plant(kind, i, end, ";")
        for t, skipped in zip(reader.tokens[i : end + 1], found_skip):
            t.skipped = skipped


class Lines:
    """Line numbers and whole lines of a text."""

    def __init__(self, text):
        self.text = text
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]

    def number(self, place):
        return bisect.bisect_right(self.starts, place)

    def around(self, begin, end, replacement=None):
        """The lines that hold [begin, end), in one, with the replacement if there is one."""
        first = self.starts[self.number(begin) - 1]
        last = self.text.find("\n", max(begin, end - 1))
        last = len(self.text) if last < 0 else last
        middle = self.text[begin:end] if replacement is None else replacement
        return re.sub(r"\s+", " ", self.text[first:begin] + middle + self.text[end:last]).strip()
