# Eigen's headers, which lie in a folder of their own.
# SPDX-License-Identifier: MIT
add_library(Eigen3::Eigen INTERFACE IMPORTED)
set_target_properties(Eigen3::Eigen PROPERTIES INTERFACE_INCLUDE_DIRECTORIES /usr/include/eigen3)
