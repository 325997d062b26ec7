"""The self test of cmake/mutation.py: which faults are found in a planted C++ file, and which not.

SPDX-License-Identifier: MIT
"""
import sys

import faults

# The faults that follow must be found on the line before, and no others there.
PLANTED = r'''
#define SUM(a, b) a + b
int const of_comment = f(); // a + b
  /* x - 1 */ char const* text = "a + b == 0"; char sign = '-';
  char const* raw = R"(a < 1)";
  static_assert(size + 1 < 2, "a + 1");
template <class T, int Count = 1, bool Is = true>
concept sum = requires(T a) { a + 1; } && true;
std::array<int, 2> const& all, T&& given, T* to, T const* const from;
  [[gnu::aligned(1)]] wane::view<double, 2> const here = there;
  __builtin_prefetch(row + j, 0, 2);
  if constexpr (is_row<T>) return row;
    jump: if constexpr (is_row<T>) ;
  y = a + b;
    sign: y = a - b;
    dropped term: y = a;
    dropped term: ;
  return a - b.c;
    sign: return a + b.c;
    dropped term: return a;
    swapped operands: return b.c - a;
  return n - 1 - k;
    sign: return n + 1 - k;
    sign: return n - 1 + k;
    off by one: return n - k;
    constant: return n - 0 - k;
    dropped term: return n - 1;
    swapped operands: return 1 - n - k;
  total += x;
    sign: total -= x;
    dropped term: ;
  g(-x);
    sign: g(x);
    dropped term: ;
  return a + b * c[i] / d;
    sign: return a - b * c[i] / d;
    dropped term: return a;
    dropped term: return a + b / d;
    dropped term: return a + b * c[i];
  for (index i = 0; i < n; ++i) {
    constant: for (index i = 1; i < n; ++i) {
    off by one: for (index i = 0; i <= n; ++i) {
  return i + 1;
    sign: return i - 1;
    off by one: return i;
    constant: return i + 0;
  f(a, b.c);
    swapped operands: f(b.c, a);
    dropped term: ;
  x = f<int>(a, b);
    swapped operands: x = f<int>(b, a);
    dropped term: ;
  x = std::min<index>(a, b);
    min and max: x = std::max<index>(a, b);
    dropped term: ;
  return a && b;
    and and or: return a || b;
  if (x == y) return z;
    negated condition: if (x != y) return z;
    negated condition: if (!(x == y)) return z;
    jump: if (x == y) ;
  if (x) continue;
    negated condition: if (!(x)) continue;
    jump: if (x) ;
  bool const is = true;
    true and false: bool const is = false;
  double const half = 0.5, two = 2;
    constant: double const half = (2 * 0.5), two = 2;
    constant: double const half = 0.5, two = 3;
  machine.barrier();
    synchronisation: ;
  flag_ = raised;
    synchronisation: ;
  x.load(std::memory_order_acquire);
    synchronisation: x.load(std::memory_order_relaxed);
    dropped term: ;
  require(x < y, "x is ", x + 1, "; it must be less");
    off by one: require(x <= y, "x is ", x + 1, "; it must be less");
    dropped check: ;
'''


def squeezed(text):
    """White space makes no difference here, but between two words."""
    return "".join(text.split())


def main():
    source, expected = [], []
    for line in PLANTED.strip("\n").split("\n"):
        if line.startswith("    ") and ": " in line and line.split(":")[0].strip() in faults.KINDS:
            kind, _, after = line.strip().partition(": ")
            expected.append((len(source), kind, squeezed(after)))
        else:
            source.append(line)
    text = "\n".join(source) + "\n"
    lines = faults.Lines(text)
    found = [(lines.number(f.begin), f.kind, squeezed(lines.around(f.begin, f.end, f.text)))
             for f in faults.faults_of(text)]
    wrong = 0
    for what, there, here in (("is not found", expected, found), ("must not be", found, expected)):
        for fault in sorted(set(there) - set(here)):
            wrong += 1
            print(f"a fault {what}: {source[fault[0] - 1].strip()}  ->  {fault[1]}: {fault[2]}")
    kinds = {kind for _, kind, _ in expected}
    if kinds != set(faults.KINDS):
        wrong += 1
        print(f"not planted: {sorted(set(faults.KINDS) - kinds)}")
    print(f"{len(found)} faults of {len(kinds)} kinds in {len(source)} lines, {wrong} mistakes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
