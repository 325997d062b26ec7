// Lets the short runs of a test program use all the threads they ask for.
// SPDX-License-Identifier: MIT
#include "wane/core/numbers/threads.hpp"

static double const was = wane::impl::least_work_of_a_thread.exchange(1);
