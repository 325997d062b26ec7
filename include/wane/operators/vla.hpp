// vla: variational linear attention, which writes along M^-1 k, away from earlier keys.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/penalised_memory.hpp"
#include "wane/operators/memories/vla_memory.hpp"

namespace wane {

// query, key: [B, T, G, K] of features (feature_maps.hpp), value: [B, T, H, V]; and
//   direction  [B, T, G, K], such as W_u k: the penalty direction is u = length direction /
//              |direction|; absent: u is the key
//   lambda     [H], > 0; absent: options.lambda for every head
template <class Io>
struct vla_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"direction", sequence_view<Io const>> direction = {};
  impl::named<"lambda", view<widened<Io> const, 1>> lambda = {};
};

struct vla_options {
  // The penalty lambda I before any key. A smaller one recalls better and needs more digits
  // (docs/operators/vla.md).
  double lambda = 1e-3;
  // |u| of given directions: 1 in equation 8, 1/sqrt(K) in Algorithm 1.
  double length = 1;
  // Adds `amount` I to M^-1 every `every` tokens, 0: never. The paper has {20, 1e-3}.
  penalty_refresh refresh = {};
  // With a gate: whether S decays as M does.
  bool memory_fades = true;
  // With a gate: lambda I is restored in M when less than this part of it is left, in (0, 1).
  double renewal = 0.25;
  // Queries are multiplied by this.
  double scale = 1;
  // true: queries, keys and directions become x / sqrt(|x|^2 + epsilon) first. false, for
  // comparison: queries and keys are taken as they are.
  bool normalise = true;
  double epsilon = 1e-12;
  head_groups groups = head_groups::interleaved;

  // Options with the best recall, for the rule rls and u = k; and those of the paper, for the rule
  // unit and given directions.
  static constexpr vla_options recall() { return {}; }
  static constexpr vla_options paper() { return {.lambda = 0.1, .refresh = {20, 1e-3}}; }
};

// M_t = M_{t-1} + u_t u_t^T, M_0 = lambda I;  alpha_t = M_t^-1 k_t, written as Rule says;
// S_t = S_{t-1} + alpha_t (v_t - S_{t-1}^T k_t)^T,   y_t = scale S_t^T q_t
// (Pandey and Singh, arXiv 2605.11196, equations 1, 8 and 18 to 20, with S transposed; without the
// division of equation 11, which quotient_of adds: docs/operators/vla.md.)
//
//   wane::vla<float> const memory({.query = q, .key = k, .value = v}, {.lambda = 1e-2});
//   wane::run(memory, y);
//
// With a gate of heads, log decays g:
//   M_t = e^g M_{t-1} + r_t I + u_t u_t^T,   S_t = D S_{t-1} + alpha_t (v_t - S_{t-1}^T D k_t)^T
// where r_t restores lambda I from time to time (wane/core/recurrence/fading_penalty.hpp), and D is
// e^g, or 1 where the memory does not fade. With rls every pair is weighed by the decays after it.
//
// The state of a head is K x (V + K): S, and the factor R of M = R^T R. Neither M nor its inverse
// is formed, so M stays positive definite for all keys. A state of zeros is that before any token.
// With a gate there is one more column, log l, and M = l R^T R.
template <class Io, write_rule Rule = write_rule::rls, any_gate Gate = no_gate,
          class Accumulate = widened<Io>>
class vla : public impl::gated_memory<Io, Gate, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;
  using gated = impl::gated_memory<Io, Gate, Accumulate>;
  static constexpr bool fades = !std::same_as<Gate, no_gate>;
  static_assert(!row_gate<Gate>,
                "wane::vla: its gate is of heads, [B, T, H]; a penalty has no rows");
  static_assert(std::is_floating_point_v<Accumulate>, "wane::vla: its numbers are real");

 public:
  using accumulate = Accumulate;
  static constexpr write_rule rule = Rule;

  // Throws wane::error when the shapes do not fit, or an option is out of range.
  explicit vla(std::type_identity_t<vla_inputs<Io>> const& in,
               vla_options const& options = {}) requires(!fades)
      : vla(in, Gate(), options) {}
  // A template, so that {} as second argument means options.
  template <class Given = Gate>
  vla(std::type_identity_t<vla_inputs<Io>> const& in, Given const& gate,
      vla_options const& options = {})
      : gated(impl::keyed_tensors_of<Io>(in), impl::gate_from<Gate>(gate),
              keyed_options_of(options, options.scale, options.normalise)),
        lambda_(in.lambda),
        refresh_(options.refresh),
        lambda_of_all_(static_cast<Accumulate>(options.lambda)),
        log_renewal_(static_cast<Accumulate>(std::log(options.renewal))),
        memory_fades_(options.memory_fades),
        penalises_keys_(!in.direction.data),
        directions_(directions_of(in),
                    keyed_options_of(options, penalises_keys_ ? 1 : options.length,
                                     options.normalise || !penalises_keys_)) {
    require(Rule != write_rule::rls || penalises_keys_,
            "direction is given; the rule rls is that of u = k, and takes none");
    require(lambda_of_all_ > 0 && std::isfinite(lambda_of_all_), "lambda is ", options.lambda,
            "; it must be more than 0, and finite");
    require(refresh_.every >= 0 && refresh_.amount >= 0 && std::isfinite(refresh_.amount),
            "refresh is every ", refresh_.every, " tokens by ", refresh_.amount,
            "; both must be 0 or more, and finite");
    require(!fades || refresh_.every == 0, "refresh and a gate are two ways to forget; choose one");
    require(options.renewal > 0 && options.renewal < 1, "renewal is ", options.renewal,
            "; it must be in (0, 1)");
    index const rows = in.key.extent[3];
    require(rows <= impl::most_penalised_rows, "key has ", rows, " rows; it may have ",
            impl::most_penalised_rows);
    if (lambda_.data) check_extent("lambda", "heads", lambda_.extent[0], in.value.extent[2]);
  }

  // The shape of the state; outputs have the columns of value.
  recurrence_shape shape() const {
    recurrence_shape size = keyed::shape();
    size.columns += size.rows + (fades ? 1 : 0);
    return size;
  }
  index output_columns() const { return this->in_.value.extent[3]; }

  void check_inputs() const {
    keyed::check_inputs(), directions_.check_inputs();
    impl::check_gate(this->gate_, keyed::shape());
  }
  // See check_values.
  void each_number(place<> at, auto const& visit) const {
    auto const x = this->terms_at(at), direction = directions_.terms_at(at);
    for (index i = 0; i < keyed::shape().rows; ++i)
      visit("query", i, x.query(i)), visit("key", i, x.key(i)),
          visit("direction", i, direction.query(i));
    for (index j = 0; j < output_columns(); ++j) visit("value", j, x.value(j));
    if constexpr (fades) visit("log_decay", 0, penalty_log_decay(at));
  }
  // Throws wane::error for a lambda of a head that is not positive and finite.
  void check_parameters() const {
    gated::check_parameters();
    for (index h = 0; lambda_.data && h < lambda_.extent[0]; ++h)
      require(lambda_(h) > 0 && std::isfinite(lambda_(h)), "lambda of head ", h, " is ", lambda_(h),
              "; it must be more than 0, and finite");
  }

  template <class Moved>
  WANE_HOST_DEVICE void move_tensors(Moved const& moved) {
    gated::move_tensors(moved), directions_.move_rows(moved);
    lambda_ = moved.whole(lambda_);
  }

  wane::layout layout() const { return gated::layout() & directions_.layout(); }
  WANE_HOST_DEVICE bool penalises_keys() const { return penalises_keys_; }
  WANE_HOST_DEVICE penalty_refresh refresh() const { return refresh_; }
  // A refresh comes at every so many tokens of a sequence.
  bool counts_positions() const { return gated::counts_positions() || refresh_.every > 0; }
  WANE_HOST_DEVICE Accumulate lambda(index head) const {
    return lambda_.data ? static_cast<Accumulate>(lambda_(head)) : lambda_of_all_;
  }

  WANE_HOST_DEVICE Accumulate penalty_log_decay(place<> at) const requires fades {
    return static_cast<Accumulate>(this->gate_.read(at));
  }
  WANE_HOST_DEVICE Accumulate memory_log_decay(place<> at) const requires fades {
    return memory_fades_ ? penalty_log_decay(at) : Accumulate(0);
  }
  WANE_HOST_DEVICE Accumulate log_renewal() const requires fades { return log_renewal_; }

  // Directions are scaled and normalised as queries are.
  struct direction_terms {
    typename keyed::terms x;

    WANE_INLINE auto operator()(auto i) const { return x.query(i); }
  };
  template <class Sums = own_sums>
  WANE_INLINE direction_terms direction_at(place<> at, Sums const& sums = {}) const {
    return {directions_.terms_at(at, sums)};
  }

  using memory_of_directions = impl::vla_memory<Io, Gate, Accumulate>;
  memory_of_directions memory(sequence_view<Accumulate const> const& directions,
                              index origin) const {
    return {*this, directions, origin, memory_fades_};
  }

  // Any may be absent; direction must be absent when the inputs have none.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"direction", sequence_view<Io>> direction = {};
    impl::named<"lambda", view<widened<Io>, 1>> lambda = {};  // [H], summed over sequences
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(vla const& op) const {
      recurrence_shape const shape = op.keyed::shape();
      impl::check_keyed(*this, shape);
      impl::check_gate_gradient(log_decay, shape);
      check_if_present("the gradient of direction", direction, shape_of_rows(shape));
      require(!direction.data || !op.penalises_keys(),
              "the gradient of direction is given; the operator has none, its keys are they");
      if (lambda.data)
        check_extent("the gradient of lambda", "heads", lambda.extent[0], shape.heads);
    }

    wane::layout layout() const { return layout_of(query, key, value, direction); }

    auto of_memory(auto const& directions, auto const& reads, auto const& decays) const {
      return typename memory_of_directions::gradients{query, value, directions, reads, decays};
    }
    WANE_INLINE void give_decay(place<> at, Accumulate g) const requires fades {
      log_decay.write(at, g);
    }
    WANE_INLINE void give_rows(vla const& op, place<> at, bool in_lanes, Accumulate* keys,
                               Accumulate* directions) const {
      all_gradients<Accumulate> g{op.in_.key.extent[3], in_lanes, {}, keys, directions, {}, {}, {}};
      op.keyed::give_rows(op.terms_at(at), {}, key, g);
      op.directions_.give_rows(op.directions_.terms_at(at), direction, {}, g);
    }
    WANE_INLINE void give_lambda(index head, double g) const {
      if (lambda.data) lambda(head) = static_cast<widened<Io>>(g);
    }
  };

 private:
  static impl::keyed_tensors<Io> directions_of(vla_inputs<Io> const& in) {
    if (!in.direction.data) return {in.key, in.key, in.value};
    char const* const names[] = {"batch", "time", "heads", "rows"};
    for (int i = 0; i < 4; ++i)
      check_extent("direction", names[i], in.direction.extent[i], in.key.extent[i]);
    return {in.direction, in.direction, in.value};
  }
  static keyed_options keyed_options_of(vla_options const& options, double scale, bool normalise) {
    return {.scale = scale,
            .normalise = normalise,
            .epsilon = options.epsilon,
            .groups = options.groups};
  }

  view<widened<Io> const, 1> lambda_;
  penalty_refresh refresh_;
  Accumulate lambda_of_all_, log_renewal_;
  bool memory_fades_, penalises_keys_;
  keyed directions_;
};

template <class Gate>
vla(vla_inputs<impl::deduced_number<Gate>> const&, Gate const&, vla_options const& = {})
    -> vla<impl::deduced_number<Gate>, write_rule::rls, impl::deduced_gate<Gate>>;
template <class Io, impl::other_gate<Io> Gate>
vla(vla_inputs<Io> const&, Gate const&, vla_options const& = {})
    -> vla<Io, write_rule::rls, impl::deduced_gate<Gate>>;

}  // namespace wane
