// VORT's power-law memories: retention without keys, retrieval with keys.
// SPDX-License-Identifier: MIT
#include <map>
#include <memory>
#include <mutex>
#include <wane/spectra.hpp>

#include "keyed.hpp"
#include "memories.hpp"

namespace wane_python {
namespace {

// Weights take milliseconds to find: they are found once for each number of nodes and horizon.
template <class T>
wane::spectra::order_table<T> table_of(call const& at) {
  using weights = wane::spectra::order_weights<T>;
  static std::mutex one_at_a_time;
  static std::map<std::pair<index, index>, std::unique_ptr<weights>> known;
  auto const nodes = static_cast<index>(at.option("nodes"));
  auto const horizon = static_cast<index>(at.option("horizon"));
  std::lock_guard const guard(one_at_a_time);
  auto& found = known[{nodes, horizon}];
  if (!found) found = std::make_unique<weights>(wane::spectra::shared_rates(nodes, horizon));
  return found->table();
}

template <class T>
struct retention {
  static void carry_out(call const& at) {
    wane::retention<T> const memory(
        {.value = at.input<T, 4>("v"), .alpha = at.input<T, 3>("alpha")}, table_of<T>(at));
    at.carry_out<T>(memory, [&] {
      return typename wane::retention<T>::gradients{.value = at.gradient<T, 4>("v"),
                                                    .alpha = at.gradient<T, 3>("alpha")};
    });
  }
};

template <class T>
struct retrieval {
  template <wane::normaliser Normaliser>
  static void carry_out_with(call const& at) {
    wane::retrieval<T, Normaliser> const memory({.query = at.input<T, 4>("q"),
                                                 .key = at.input<T, 4>("k"),
                                                 .value = at.input<T, 4>("v"),
                                                 .alpha = at.input<T, 3>("alpha")},
                                                table_of<T>(at), {.floor = at.option("floor")});
    keyed_gradients_of<T> const to(at);
    at.carry_out<T>(memory, [&] {
      return typename decltype(memory)::gradients{.query = to.query.of_heads(),
                                                  .key = to.key.of_heads(),
                                                  .value = to.value,
                                                  .alpha = at.gradient<T, 3>("alpha")};
    });
    to.add_up();
  }
  static void carry_out(call const& at) {
    if (at.is_set("normalize"))
      carry_out_with<wane::normaliser::decayed>(at);
    else
      carry_out_with<wane::normaliser::none>(at);
  }
};

}  // namespace

std::vector<memory> vort_memories() {
  return {memory_of<retention>("retention", {"v", "alpha"}, {"nodes", "horizon"}),
          memory_of<retrieval>("retrieval", {"v", "q", "k", "alpha"},
                               {"nodes", "horizon", "normalize", "floor"})};
}

}  // namespace wane_python
