"""Compiles and runs test files, with and without a fault in a header, and keeps what it learns.

SPDX-License-Identifier: MIT
"""
import collections
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import threading
import time

# These call programs of bench/ and examples/, which are not built here, or need MPI.
LEFT_OUT = re.compile(r"^tests/(bench|examples|mpi)/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)
MEMORY = 8 << 30  # bytes that a test may ask for
BASE_LIMIT = 240.0  # seconds of a test without a fault; slower ones are left out


@dataclasses.dataclass
class Ran:
    code: int
    seconds: float
    processor: float
    text: str
    late: bool


def run(command, limit, environment=None, memory=None, processor=None, folder=None):
    """Runs a command in a session of its own, which ends at the limit in seconds."""
    begin = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=environment, cwd=folder, start_new_session=True, text=True, errors="replace")
    for which, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, processor)):
        if most:
            try:
                resource.prlimit(process.pid, which, (int(most), int(most) + 1))
            except ProcessLookupError:
                pass
    pieces = []
    reader = threading.Thread(target=lambda: pieces.append(process.stdout.read()), daemon=True)
    reader.start()
    late = False
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() - begin > limit:
            late = True
            os.killpg(process.pid, signal.SIGKILL)
            pid, status, usage = os.wait4(process.pid, 0)
            break
        time.sleep(0.05)
    process.returncode = os.waitstatus_to_exitcode(status)
    reader.join(10)
    late = late or process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    return Ran(process.returncode, time.monotonic() - begin, usage.ru_utime + usage.ru_stime,
               "".join(pieces), late)


class Builder:
    def __init__(self, root, folder, compiler):
        self.root = pathlib.Path(root)
        self.folder = pathlib.Path(folder)
        self.compiler = compiler
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "learned").mkdir(exist_ok=True)
        self.files = {}  # path from the root: hash and the files that it includes
        self.tests = sorted(
            str(p.relative_to(self.root)) for p in (self.root / "tests").rglob("*_test.cpp")
            if not LEFT_OUT.match(str(p.relative_to(self.root))))
        self.needs = {test: self.closure(test) for test in self.tests}
        self.learned = {}
        self.locks = {test: threading.Lock() for test in self.tests}
        self.prepared = threading.Lock()
        self.ready = False
        for test in self.tests:
            self.recall(test)

    # Which files a test includes.

    def roots_of(self, path):
        roots = ["tests", "bench", "include", "examples"]
        return (["tests/nccl/emulated"] if path.startswith("tests/nccl/") else []) + roots

    def scan(self, path):
        if path not in self.files:
            text = (self.root / path).read_text()
            self.files[path] = (hashlib.sha256(text.encode()).hexdigest(), INCLUDE.findall(text))
        return self.files[path]

    def closure(self, test):
        """The files of the repository that a test is compiled from, and how deep."""
        depths, todo = {test: 0}, collections.deque([test])
        while todo:
            path = todo.popleft()
            for name in self.scan(path)[1]:
                for base in [os.path.dirname(path)] + self.roots_of(test):
                    target = os.path.normpath(os.path.join(base, name))
                    if (self.root / target).is_file():
                        if target not in depths:
                            depths[target] = depths[path] + 1
                            todo.append(target)
                        break
        return depths

    def key(self, test):
        parts = [self.compiler] + [self.scan(p)[0] for p in sorted(self.needs[test])]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()

    # Commands.

    def flags(self, test):
        return (["-std=c++20", "-g0", "-w", "-fopenmp", "-DWANE_NO_FORCED_INLINE",
                 "-D_GLIBCXX_ASSERTIONS", "-fno-color-diagnostics"]
                + [f"-I{self.root / base}" for base in self.roots_of(test)]
                + ["-isystem", "/usr/include/eigen3"])

    def prepare(self):
        """Precompiles GoogleTest and Eigen, and compiles what tests are linked with."""
        with self.prepared:
            if self.ready:
                return
            header = self.folder / "precompiled.hpp"
            header.write_text("#include <gtest/gtest.h>\n#include <Eigen/Dense>\n")
            for level in (0, 1):
                self.must([self.compiler, *self.flags(""), f"-O{level}", "-x", "c++-header",
                           str(header), "-o", str(self.folder / f"precompiled{level}.pch")])
            self.objects = []
            for source in sorted((self.root / "tests/support").glob("*.cpp")):
                out = str(self.folder / (source.stem + ".o"))
                self.must([self.compiler, *self.flags(""), "-O1", "-c", str(source), "-o", out])
                self.objects.append(out)
            self.ready = True

    def must(self, command):
        ran = run(command, 600)
        if ran.code != 0:
            raise SystemExit("mutation: " + " ".join(command) + "\n" + ran.text)

    def build(self, test, level, program, limit, overlay=None, covered=False):
        self.prepare()
        first = [f"-I{overlay}"] if overlay else []
        cover = ["-fprofile-instr-generate", "-fcoverage-mapping"] if covered else []
        compiled = run(
            [self.compiler, *first, *self.flags(test), f"-O{level}", *cover, "-include-pch",
             str(self.folder / f"precompiled{level}.pch"), "-c", str(self.root / test), "-o",
             f"{program}.o"], limit)
        if compiled.code == 0:
            linked = run(
                [self.compiler, "-fuse-ld=lld", "-fopenmp", *cover, f"{program}.o", *self.objects,
                 "-lgtest_main", "-lgtest", "-o", str(program)], 300)
            compiled.code, compiled.text = linked.code, compiled.text + linked.text
            compiled.seconds += linked.seconds
            compiled.processor += linked.processor
        return compiled

    def call(self, program, limit, profile=None, processor=None, cases="-*Slow"):
        environment = dict(os.environ, OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="2",
                           TMPDIR=str(program.parent))
        if profile:
            environment["LLVM_PROFILE_FILE"] = str(profile)
        return run([str(program), f"--gtest_filter={cases}", "--gtest_fail_fast"],
                   limit, environment, MEMORY, processor, program.parent)

    # What a test does without a fault.

    def passes(self, test, cases):
        """Whether cases of a test pass without a fault. Keeps the program."""
        folder = self.folder / "passes" / self.key(test)
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / "program"
        with self.locks[test]:
            if not program.exists() and self.build(test, 0, program, 600).code != 0:
                return False
            return self.call(program, 2 * BASE_LIMIT, cases=cases).code == 0

    def path_of(self, test):
        return self.folder / "learned" / (test.replace("/", ".") + ".json")

    def recall(self, test):
        path = self.path_of(test)
        if path.exists():
            learned = json.loads(path.read_text())
            if learned["key"] == self.key(test):
                learned["hit"] = {f: set(l) for f, l in learned["hit"].items()}
                learned["missed"] = {f: set(l) for f, l in learned["missed"].items()}
                self.learned[test] = learned

    def learn(self, test):
        """Builds and runs a test without a fault, once: its times, and the lines it reaches."""
        with self.locks[test]:
            if test not in self.learned:
                learned = self.measured(test)
                self.path_of(test).write_text(json.dumps(learned))
                self.recall(test)
            return self.learned[test]

    def measured(self, test):
        folder = self.folder / "base" / test.replace("/", ".")
        folder.mkdir(parents=True, exist_ok=True)
        program, profile = folder / "program", folder / "profile"
        learned = {"key": self.key(test), "works": False, "level": 0, "build": 0.0, "run": 0.0,
                   "run_wall": 0.0, "hit": {}, "missed": {}}
        built = self.build(test, 0, program, 600, covered=True)
        ran = self.call(program, BASE_LIMIT, profile) if built.code == 0 else built
        if ran.code == 0:
            learned["hit"], learned["missed"] = self.lines_of(program, profile)
        learned.update(works=ran.code == 0, build=built.processor, run=ran.processor,
                       run_wall=ran.seconds)
        # Optimised code takes some 4 times as long to compile, and runs some 10 times as fast.
        if built.code == 0 and (ran.code != 0 or ran.processor > 2.5 * built.processor):
            level1 = self.build(test, 1, program, 600)
            ran1 = self.call(program, BASE_LIMIT) if level1.code == 0 else level1
            better = level1.processor + ran1.processor < built.processor + ran.processor
            if ran1.code == 0 and (ran.code != 0 or better):
                learned.update(works=True, level=1, build=level1.processor, run=ran1.processor,
                               run_wall=ran1.seconds)
        for path in folder.iterdir():
            if path.is_file():
                path.unlink()
        return learned

    def lines_of(self, program, profile):
        """The lines of wane's headers that ran, and those that did not, from a profile."""
        merged = f"{profile}.merged"
        self.must([tool("llvm-profdata", self.compiler), "merge", str(profile), "-o", merged])
        shown = subprocess.run(
            [tool("llvm-cov", self.compiler), "export", "-format=lcov", f"-instr-profile={merged}",
             str(program)], capture_output=True, text=True, check=True).stdout
        hit, missed, path = {}, {}, None
        for line in shown.splitlines():
            if line.startswith("SF:"):
                name = line[3:]
                inside = name.startswith(str(self.root / "include") + "/")
                path = os.path.relpath(name, self.root) if inside else None
            elif line.startswith("DA:") and path:
                number, count = line[3:].split(",")[:2]
                (hit if int(count) else missed).setdefault(path, []).append(int(number))
        return hit, missed


def tool(name, compiler):
    """The tool of the compiler's own version, as llvm-cov-14."""
    version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True).stdout
    own = f"{name}-{version.split('.')[0]}"
    found = any((pathlib.Path(p) / own).exists() for p in os.environ["PATH"].split(":"))
    return own if found else name
