// Umbrella of the law kits: check_laws and check_adjoint_laws, for an operator of your own.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/testing/adjoint_laws.hpp"
#include "wane/testing/laws.hpp"
