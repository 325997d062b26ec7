#!/usr/bin/env python3
"""Plants faults in include/wane and counts those that the tests see.

SPDX-License-Identifier: MIT

    python3 cmake/mutation.py --count 200 --seed 1                 begins anew
    python3 cmake/mutation.py --resume FILE --count 400 --seed 1   continues, up to 400
    python3 cmake/mutation.py --resume FILE --again                tests its survivors again
    python3 cmake/mutation.py --resume FILE --table                counts only
    python3 cmake/mutation.py --self-test                          needs no compiler

A fault is one small change of one header (cmake/mutation/faults.py). It is drawn by a folder's
lines, then by kind. The tests that run are those that reach the changed line, nearest first, up to
--limit of them; the first that fails, crashes or is 10 times as slow ends the search. What does not
compile is stillborn. Faults that change nothing observable stand in cmake/mutation/equivalent.txt,
each with its reason. Needs clang++, lld, llvm-cov and GoogleTest.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import re
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "mutation"))
import builder
import faults
import self_test

FOLDERS = "core,operators,spectra,run,cuda,ranks,files"
SLOWER = 10  # times as long as without a fault: seen
STATIC_ASSERT = re.compile(r"/tests/[^\n]*error: static(_assert| assertion) failed")
# What is taken for granted of a test that is not measured.
UNKNOWN = {"level": 0, "run": 8.0, "run_wall": 30.0}
COUNTED = ("seen", "survived", "not reached")


class Mutant:
    def __init__(self, path, text, lines, fault):
        self.path, self.fault = path, fault
        self.text = text[: fault.begin] + fault.text + text[fault.end :]
        # What the compiler must refuse if it reads this place at all.
        self.broken = text[: fault.begin] + " @ " + text[fault.begin :]
        self.first, self.last = lines.number(fault.begin), lines.number(max(fault.begin,
                                                                            fault.end - 1))
        self.before = lines.around(fault.begin, fault.end)
        self.after = lines.around(fault.begin, fault.end, fault.text)
        self.key = (path, self.before, self.after)


def drawn(root, folders, seed):
    """Yields mutants without end: folder and file by lines, then kind, then place."""
    dice = random.Random(seed)
    headers = [p for f in folders for p in sorted((root / "include/wane" / f).rglob("*.hpp"))]
    texts = [p.read_text() for p in headers]
    weights = [t.count("\n") for t in texts]
    known, seen = {}, set()
    in_vain = 0
    while in_vain < 10000:
        n = dice.choices(range(len(headers)), weights)[0]
        if n not in known:
            by_kind = collections.defaultdict(list)
            for fault in faults.faults_of(texts[n]):
                by_kind[fault.kind].append(fault)
            known[n] = (by_kind, faults.Lines(texts[n]))
        by_kind, lines = known[n]
        in_vain += 1
        if not by_kind:
            continue
        kind = dice.choice(sorted(by_kind))
        mutant = Mutant(str(headers[n].relative_to(root)), texts[n], lines,
                        dice.choice(by_kind[kind]))
        if mutant.key not in seen:
            seen.add(mutant.key)
            in_vain = 0
            yield mutant


def nearness(test, header):
    """0 for the test of this header, 4 for one of another folder."""
    of_test = re.sub(r"_test[.]cpp$", "", test[len("tests/"):])
    of_header = re.sub(r"[.]hpp$", "", header[len("include/wane/"):])
    test_folder, _, test_name = of_test.rpartition("/")
    header_folder, _, header_name = of_header.rpartition("/")
    if of_test == of_header:
        return 0
    if test_name.startswith(header_name) or header_name in (test_folder + "/" + test_name):
        return 1
    if test_folder == header_folder:
        return 2
    return 3 if of_test.split("/")[0] == of_header.split("/")[0] else 4


class Judge:
    """Says of a mutant whether a test sees it."""

    def __init__(self, built, limit, look, quick):
        self.built, self.limit, self.look, self.quick = built, limit, look, quick

    def candidates(self, header):
        """Tests that include a header: nearest first, then by depth of inclusion, then by cost."""
        def order(test):
            known = self.built.learned.get(test)
            cost = known["build"] + known["run"] if known else 0.2 * len(self.built.needs[test])
            return nearness(test, header), self.built.needs[test][header], cost
        return sorted((t for t in self.built.tests if header in self.built.needs[t]), key=order)

    def reach(self, test, mutant):
        """Whether a test runs a line of the mutant; None if the line makes no code in it."""
        known = self.built.learned.get(test)
        if not known:
            return True
        touched = set(range(mutant.first, mutant.last + 1))
        if touched & known["hit"].get(mutant.path, set()):
            return True
        return False if touched & known["missed"].get(mutant.path, set()) else None

    def judge(self, mutant, job):
        """The outcome, and the tests that ran with the mutant."""
        overlay = self.built.folder / f"job{job}"
        target = overlay / mutant.path[len("include/"):]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(mutant.text)
        try:
            return self.with_overlay(mutant, overlay, target)
        finally:
            target.unlink()

    def with_overlay(self, mutant, overlay, target):
        ran, without_code, looked = [], [], 0
        for test in self.candidates(mutant.path):
            if len(ran) == self.limit or looked == self.look:
                break
            looked += 1
            if not self.quick and not self.built.learn(test)["works"]:
                continue
            reaches = self.reach(test, mutant)
            if reaches is None:
                without_code.append(test)
            if not reaches:
                continue
            outcome = self.tried(test, overlay)
            if outcome == "unusable":
                print(f"{test} fails without a fault", flush=True)
                continue
            ran.append(test)
            if outcome != "passed":
                return outcome, ran
        if ran:
            sure = any(test in self.built.learned for test in ran)
            read = sure or self.is_read(ran[0], mutant, overlay, target)
            return ("survived" if read else "not built"), ran
        # A constant or a type: no test has code of this line, but each may depend on it.
        if without_code and not self.is_read(without_code[0], mutant, overlay, target):
            return "not built", []
        for test in without_code[: self.limit]:
            if not self.built.learned[test]["works"]:
                continue
            ran.append(test)
            outcome = self.tried(test, overlay)
            if outcome != "passed":
                return outcome, ran
        return ("survived" if ran else "not reached"), ran

    def is_read(self, test, mutant, overlay, target):
        """Whether the compiler reads the place: it does not, behind an #if for other machines."""
        target.write_text(mutant.broken)
        self.built.prepare()
        checked = builder.run(
            [self.built.compiler, f"-I{overlay}", *self.built.flags(test), "-O0", "-fsyntax-only",
             "-include-pch", str(self.built.folder / "precompiled0.pch"),
             str(self.built.root / test)], 600)
        target.write_text(mutant.text)
        return checked.code != 0

    def tried(self, test, overlay):
        known = self.built.learned.get(test, UNKNOWN)
        folder = overlay / "run"
        folder.mkdir(exist_ok=True)
        program = folder / "program"
        compiled = self.built.build(test, known["level"], program, 900, overlay)
        if compiled.code != 0:
            return "seen" if STATIC_ASSERT.search(compiled.text) else "stillborn"
        most = SLOWER * known["run"] + 2
        ran = self.built.call(program, max(30.0, 2 * SLOWER * known["run_wall"]), processor=most)
        for path in folder.iterdir():
            if path.is_file():
                path.unlink()
        if ran.code != 0 and known is UNKNOWN:
            return "seen" if self.passes_without(test, ran) else "unusable"
        return "passed" if ran.code == 0 else "seen"

    def passes_without(self, test, ran):
        """Whether a test, not measured before, passes without the mutant, or is fast."""
        if ran.late:
            known = self.built.learn(test)
            return known["works"] and ran.processor > SLOWER * known["run"]
        failed = re.findall(r"^\[  FAILED  \] ([\w/]+[.][\w/]+)", ran.text, re.MULTILINE)
        begun = re.findall(r"^\[ RUN      \] ([\w/]+[.][\w/]+)", ran.text, re.MULTILINE)
        return self.built.passes(test, (failed[:1] + begun[-1:] + ["-*Slow"])[0])


def equivalents(path):
    """The mutants of equivalent.txt, with their reasons."""
    listed = {}
    for block in re.split(r"\n\s*\n", path.read_text()):
        parts = dict(re.findall(r"^(file|before|after|why): *(.*(?:\n  .*)*)", block,
                                re.MULTILINE))
        if len(parts) == 4:
            listed[(parts["file"], parts["before"], parts["after"])] = parts["why"]
        elif parts:
            raise SystemExit(f"mutation: {path} has a block without file, before, after or why:"
                             f"\n{block}")
    return listed


def key_of(line):
    return line["file"], line["before"], line["after"]


def table(results, listed):
    for line in results.values():
        if key_of(line) in listed and line["outcome"] in COUNTED:
            line["outcome"] = "equivalent"
    columns = ["seen", "survived", "not reached", "equivalent", "stillborn", "not built"]

    def print_rows(title, key):
        rows = collections.defaultdict(collections.Counter)
        for line in results.values():
            for row in (key(line), "all"):
                rows[row][line["outcome"]] += 1
        print(f"\n{title:<18} drawn " + " ".join(f"{c:>11}" for c in columns) + "   score")
        for row in sorted(rows, key=lambda r: (r == "all", r)):
            counts = rows[row]
            valid = sum(counts[c] for c in COUNTED)
            score = f"{100 * counts['seen'] / valid:6.1f} %" if valid else "       -"
            print(f"{row:<18} {sum(counts.values()):5d} "
                  + " ".join(f"{counts[c]:>11d}" for c in columns) + "  " + score)

    print_rows("folder", lambda line: line["file"].split("/")[2])
    print_rows("kind", lambda line: line["kind"])
    seconds = [line["seconds"] for line in results.values() if not line["learned"]]
    if seconds:
        print(f"\n{sum(seconds) / len(seconds):.1f} s a mutant, where no test had to be learned "
              "first")
    for outcome in ("survived", "not reached"):
        for line in results.values():
            if line["outcome"] == outcome:
                note = " (may be equivalent)" if line["may_be_equivalent"] else ""
                print(f"\n{line['file']}:{line['line']}: {outcome}, {line['kind']}{note}\n"
                      f"  before: {line['before']}\n  after:  {line['after']}")


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent
    add = arguments.add_argument
    add("--count", type=int, default=100, help="mutants to draw")
    add("--seed", type=int, default=1)
    add("--folders", default=FOLDERS, help="folders of include/wane, with commas")
    add("--limit", type=int, default=6, help="tests that may run with a mutant")
    add("--look", type=int, default=16, help="tests that may be asked whether they reach it")
    add("--quick", action="store_true", help="do not ask tests first whether they reach the line")
    add("--jobs", type=int, default=1)
    add("--minutes", type=float, default=0, help="begin no mutant after so many minutes")
    add("--compiler", default="clang++")
    add("--build", type=pathlib.Path, default=root / "build/mutation")
    add("--resume", type=pathlib.Path, help="file of results to continue, a JSON object a line")
    add("--again", action="store_true", help="only test the survivors of the file again")
    add("--table", action="store_true", help="only count what the file has")
    add("--self-test", action="store_true")
    asked = arguments.parse_args()
    if asked.self_test:
        return self_test.main()

    listed = equivalents(root / "cmake/mutation/equivalent.txt")
    asked.build.mkdir(parents=True, exist_ok=True)
    path = asked.resume or asked.build / "results.jsonl"
    results = {}
    if asked.resume and path.exists():
        for line in path.read_text().splitlines():
            results[key_of(json.loads(line))] = json.loads(line)
    elif not asked.table:
        path.write_text("")
    if not asked.table:
        judge_all(root, asked, path, results, listed)
    table(results, listed)
    return 0


def wanted(root, asked, results, listed):
    """The mutants that are to be judged."""
    if asked.again:
        left = {k for k, r in results.items() if r["outcome"] in COUNTED[1:] and k not in listed}
        folder = root / "include/wane"
        for path in sorted({k[0] for k in left}):
            text = (root / path).read_text()
            lines = faults.Lines(text)
            for fault in faults.faults_of(text):
                mutant = Mutant(path, text, lines, fault)
                if mutant.key in left:
                    left.remove(mutant.key)
                    yield mutant
        return
    for n, mutant in enumerate(drawn(root, asked.folders.split(","), asked.seed)):
        if n == asked.count:
            return
        if mutant.key not in results and mutant.key not in listed:
            yield mutant


def judge_all(root, asked, path, results, listed):
    built = builder.Builder(root, asked.build, asked.compiler)
    judge = Judge(built, asked.limit, asked.look, asked.quick)
    end = time.monotonic() + 60 * asked.minutes if asked.minutes else float("inf")
    todo, lock = wanted(root, asked, results, listed), threading.Lock()

    def work(job):
        while True:
            with lock:
                mutant = next(todo, None) if time.monotonic() < end else None
            if mutant is None:
                return
            begin, learning = time.monotonic(), len(built.learned)
            outcome, tests = judge.judge(mutant, job)
            line = {
                "file": mutant.path, "line": mutant.first, "kind": mutant.fault.kind,
                "before": mutant.before, "after": mutant.after, "outcome": outcome,
                "tests": tests, "seconds": round(time.monotonic() - begin, 1),
                "learned": len(built.learned) - learning,
                "may_be_equivalent": mutant.fault.may_be_equivalent}
            with lock:
                results[mutant.key] = line
                with path.open("a") as out:
                    out.write(json.dumps(line) + "\n")
                print(f"{len(results):4d} {outcome:<11} {line['seconds']:6.1f} s  {mutant.path}:"
                      f"{mutant.first}  {mutant.fault.kind}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for future in [pool.submit(work, job) for job in range(asked.jobs)]:
            future.result()


if __name__ == "__main__":
    sys.exit(main())
