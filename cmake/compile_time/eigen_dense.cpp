// The unit of compile_time.sh: Eigen's dense matrices alone.
// SPDX-License-Identifier: MIT
#include <Eigen/Dense>
