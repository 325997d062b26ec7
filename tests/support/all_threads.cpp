// Lets the short runs of a test program use all the threads they ask for.
// SPDX-License-Identifier: MIT
#include "wane/core/numbers/threads.hpp"

static wane::impl::all_threads const used;
