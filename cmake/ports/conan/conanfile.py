# Conan 2 recipe: the headers of wane and its CMake package, of the tree that this file lies in.
#   conan create cmake/ports/conan -s compiler.cppstd=20
# SPDX-License-Identifier: MIT
# Tested with Boost and Eigen of the system ([platform_requires] of a profile); those of a remote
# could not be tested.
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Wane(ConanFile):
    name = "wane"
    description = "Recurrent memory operators: state of fixed size, one pass over a sequence"
    license = "MIT"
    topics = ("machine-learning", "sequence-models", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    default_options = {"boost/*:header_only": True}
    no_copy_source = True

    def _tree(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._tree(), "include", "wane", "version.hpp"))
        self.version = ".".join(re.findall(r"WANE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)\n", text))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*"):
            copy(self, pattern, self._tree(), self.export_sources_folder)

    def requirements(self):
        self.requires("boost/[>=1.74]")
        self.requires("eigen/[>=3.4]")

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        self.info.clear()

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "BENCH", "EXAMPLES"):
            toolchain.cache_variables["WANE_" + part] = False
        toolchain.generate()

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # CMake reads the package that wane installs itself.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "wane")]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
