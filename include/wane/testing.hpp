// The umbrella of the law kits: the laws of a recurrence and of its adjoint, for your own
// operators. SPDX-License-Identifier: MIT
#pragma once

#include "wane/testing/adjoint_laws.hpp"
#include "wane/testing/laws.hpp"
