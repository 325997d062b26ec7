// The machine's own figures, in absolute units, for the head of the report.
// SPDX-License-Identifier: MIT
#pragma once

namespace wane::bench {

// Measures them and hands them to Google Benchmark, which prints them and puts them in its JSON.
void describe_machine();

}  // namespace wane::bench
