// The generalised delta rule of RWKV-7, as an operator of one's own.
// SPDX-License-Identifier: MIT
#include "memories.hpp"

namespace wane_python {
namespace {

// S_t = diag(e^{w_t}) S_{t-1} + b_t (a_t^T S_{t-1}) + k_t v_t^T,   y_t = scale S_t^T r_t
// (flash-linear-attention's DPLR; RWKV-7 has a = -c and b = c o rate, c its removal key.)
template <class T>
struct general_delta_rule {
  using accumulate = T;

  wane::sequence_view<T const> r, w, k, v, a, b;
  T scale;

  general_delta_rule(call const& at)
      : r(at.input<T, 4>("r")),
        w(at.input<T, 4>("w")),
        k(at.input<T, 4>("k")),
        v(at.input<T, 4>("v")),
        a(at.input<T, 4>("a")),
        b(at.input<T, 4>("b")),
        scale(static_cast<T>(at.option("scale"))) {}

  wane::recurrence_shape shape() const {
    return {v.extent[0], v.extent[1], v.extent[2], k.extent[3], v.extent[3]};
  }
  void check_inputs() const {
    wane::recurrence_shape rows = shape();
    rows.columns = rows.rows;
    wane::check("v", v, shape());
    wane::check("r", r, rows), wane::check("w", w, rows), wane::check("k", k, rows);
    wane::check("a", a, rows), wane::check("b", b, rows);
  }
  wane::layout layout() const { return wane::layout_of(r, w, k, v, a, b); }

  struct token {
    general_delta_rule const& op;
    wane::place<> where;

    auto log_decay(auto i) const { return op.w.read(where, i); }
    auto key(auto i) const { return op.k.read(where, i); }
    auto value(auto j) const { return op.v.read(where, j); }
    auto erase_read(auto i) const { return op.a.read(where, i); }
    auto erase_write(auto i) const { return op.b.read(where, i); }
    auto query(auto i) const {
      auto const x = op.r.read(where, i);
      return x * decltype(x)(op.scale);
    }
  };
  token at(wane::place<> where) const { return {*this, where}; }

  struct gradients {
    wane::sequence_view<T> r, w, k, v, a, b;

    void check(wane::recurrence_shape const& shape) const {
      wane::recurrence_shape rows = shape;
      rows.columns = rows.rows;
      wane::check_if_present("the gradient of v", v, shape);
      for (auto const& x : {r, w, k, a, b}) wane::check_if_present("a gradient of rows", x, rows);
    }
    wane::layout layout() const { return wane::layout_of(r, w, k, v, a, b); }

    struct sink {
      gradients const& to;
      general_delta_rule const& op;
      wane::place<> where;

      void column(auto j, auto g) const { to.v.write(where, j, g); }
      template <class V>
      void all(wane::all_gradients<V> const& g) const {
        wane::for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) {
          auto const by_query = wane::row_at(g.query, i);
          to.r.write(where, i, by_query * decltype(by_query)(op.scale));
          to.w.write(where, i, wane::row_at(g.decay, i));
          to.k.write(where, i, wane::row_at(g.key, i));
          to.a.write(where, i, wane::row_at(g.erase_read, i));
          to.b.write(where, i, wane::row_at(g.erase_write, i));
        });
      }
    };
    sink at(general_delta_rule const& op, wane::place<> where) const { return {*this, op, where}; }
  };
};
static_assert(wane::reads_lanes<general_delta_rule<float>>);

template <class T>
struct rwkv7 {
  static void carry_out(call const& at) {
    using rule = general_delta_rule<T>;
    at.carry_out<T>(rule(at), [&] {
      return typename rule::gradients{at.gradient<T, 4>("r"), at.gradient<T, 4>("w"),
                                      at.gradient<T, 4>("k"), at.gradient<T, 4>("v"),
                                      at.gradient<T, 4>("a"), at.gradient<T, 4>("b")};
    });
  }
};

}  // namespace

std::vector<memory> rwkv7_memories() {
  return {memory_of<rwkv7>("rwkv7", {"r", "w", "k", "v", "a", "b"}, {"scale"})};
}

}  // namespace wane_python
