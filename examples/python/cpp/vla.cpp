// VLA: a memory that writes in directions that earlier keys have not used.
// SPDX-License-Identifier: MIT
#include "keyed.hpp"
#include "memories.hpp"

namespace wane_python {
namespace {

template <class T>
struct vla {
  static void carry_out(call const& at) {
    wane::vla<T> const memory({.query = at.input<T, 4>("q"),
                               .key = at.input<T, 4>("k"),
                               .value = at.input<T, 4>("v"),
                               .lambda = at.input<T, 1>("lambda_")},
                              {.scale = at.option("scale"), .normalise = at.is_set("normalise")});
    keyed_gradients_of<T> const to(at);
    at.carry_out<T>(memory, [&] {
      return typename wane::vla<T>::gradients{.query = to.query.of_heads(),
                                              .key = to.key.of_heads(),
                                              .value = to.value,
                                              .lambda = at.gradient<T, 1>("lambda_")};
    });
    to.add_up();
  }
};

}  // namespace

std::vector<memory> vla_memories() {
  return {memory_of<vla>("vla", {"q", "k", "v", "lambda_"}, {"scale", "normalise"})};
}

}  // namespace wane_python
