// expect: normaliser::undecayed is a quotient of two recurrences; include
// SPDX-License-Identifier: MIT
// What retrieval.hpp alone has would let the denominators fade.
#ifdef WANE_CONTROL
#include "wane/operators/undecayed_retrieval.hpp"
#else
#include "wane/operators/retrieval.hpp"
#endif

wane::retrieval<float, wane::normaliser::undecayed> const* of(wane::index);
auto const columns = [](wane::index i) { return of(i)->shape().columns; };
