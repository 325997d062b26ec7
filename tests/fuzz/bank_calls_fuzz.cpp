// Calls of linear_recurrence, exponential_bank, retention and mamba2: whole, in pieces, wrong.
// SPDX-License-Identifier: MIT
#include "fuzz/keyed_case.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/operators/mamba2.hpp"
#include "wane/operators/retention.hpp"
#include "wane/spectra/orders/order_weights.hpp"

namespace {

using fuzz::index, fuzz::row, fuzz::kind, fuzz::range;

fuzz::sizes with_rows(fuzz::sizes size, index rows) {
  size.rows = rows;
  return size;
}

struct linear_recurrence_case {
  fuzz::sizes size;
  fuzz::tensor<float, 4> decay, drive;
  std::vector<std::pair<index*, int>> inputs{{decay.values.extent, 4}, {drive.values.extent, 4}};

  explicit linear_recurrence_case(fuzz::input& in)
      : size(with_rows(fuzz::sizes(in), 1)),
        decay(in, {size.batch, size.time, size.heads, size.columns}, false),
        drive(in, {size.batch, size.time, size.heads, size.columns}, false) {
    decay.fill(in, range::log_decays), drive.fill(in, range::reals);
  }
  auto op(index begin, index end) const {
    return wane::linear_recurrence<wane::decay_as::log, float>(
        {.decay = decay.read(begin, end), .drive = drive.read(begin, end)});
  }
  // h <- e^a h + b
  fuzz::terms at(index b, index t, index h, index) const {
    return {.log_decay = row_of(decay, b, t, h), .value = row_of(drive, b, t, h)};
  }
};

struct exponential_bank_case {
  fuzz::sizes size;
  fuzz::tensor<float, 4> value;
  fuzz::tensor<float, 2> log_decay, key, query;
  fuzz::tensor<float, 1> direct;
  std::vector<std::pair<index*, int>> inputs{{value.values.extent, 4},
                                             {log_decay.values.extent, 2},
                                             {key.values.extent, 2},
                                             {query.values.extent, 2},
                                             {direct.values.extent, 1}};

  explicit exponential_bank_case(fuzz::input& in)
      : size(in),
        value(in, {size.batch, size.time, size.heads, size.columns}, false),
        log_decay(in, {size.heads, size.rows}, false),
        key(in, {size.heads, size.rows}, false),
        query(in, {size.heads, size.rows}, false),
        direct(in, {size.heads}, false) {
    value.fill(in, range::reals), log_decay.fill(in, range::log_decays, kind::sizes);
    key.fill(in, range::reals, kind::sizes), query.fill(in, range::reals, kind::sizes);
    direct.fill(in, range::reals, kind::sizes);
  }
  auto op(index begin, index end) const {
    return wane::exponential_bank<float>({.value = value.read(begin, end),
                                          .log_decay = wane::view<float const, 2>(log_decay.values),
                                          .key = wane::view<float const, 2>(key.values),
                                          .query = wane::view<float const, 2>(query.values),
                                          .direct = wane::view<float const, 1>(direct.values)});
  }
  // h_s <- lambda_s h_s + c_s v, y = sum_s q_s h_s + d v
  fuzz::terms at(index b, index t, index h, index) const {
    auto const nodes = [&](auto const& x) {
      row found;
      for (index s = 0; s < size.rows; ++s) found.push_back(static_cast<double>(x.values(h, s)));
      return found;
    };
    double const d = static_cast<double>(direct.values(h));
    return {.log_decay = nodes(log_decay),
            .key = nodes(key),
            .value = row_of(value, b, t, h),
            .query = nodes(query),
            .direct = d,
            .direct_size = std::abs(d)};
  }
};

struct retention_case {
  wane::spectra::order_weights<float> const& weights;
  fuzz::sizes size;
  fuzz::tensor<float, 4> value, alpha;
  std::vector<std::pair<index*, int>> inputs{{value.values.extent, 4}, {alpha.values.extent, 3}};

  static auto const& some_weights(int which) {
    using namespace wane::spectra;
    static order_weights<float> const all[] = {order_weights<float>(shared_rates(5, 64)),
                                               order_weights<float>(shared_rates(16, 4096))};
    return all[which];
  }
  explicit retention_case(fuzz::input& in)
      : weights(some_weights(in.below(2))),
        size(with_rows(fuzz::sizes(in), weights.table().nodes())),
        value(in, {size.batch, size.time, size.heads, size.columns}, false),
        alpha(in, {size.batch, size.time, size.heads, 1}, false) {
    value.fill(in, range::reals), alpha.fill(in, range::parts);
    alpha.for_each([](float& x) { x = x < .05f ? .05f : x; });
  }
  auto op(index begin, index end) const {
    return wane::retention<float>(
        {.value = value.read(begin, end), .alpha = fuzz::by_head(alpha.read(begin, end))},
        weights.table());
  }
  // M_s <- e^-r_s M_s + c_s(alpha) v, y = d(alpha) v + sum_s M_s
  fuzz::terms at(index b, index t, index h, index) const {
    auto const table = weights.table();
    auto const order = table.at(static_cast<float>(row_of(alpha, b, t, h)[0]));
    fuzz::terms x{.log_decay = {}, .key = {}, .value = row_of(value, b, t, h), .query = {}};
    for (index s = 0; s < size.rows; ++s) {
      x.log_decay.push_back(static_cast<double>(table.log_decay.read(wane::place<>{}, s)));
      x.key.push_back(static_cast<double>(order.weight(s))), x.query.push_back(1);
    }
    x.direct = static_cast<double>(order.weight(size.rows)), x.direct_size = std::abs(x.direct);
    return x;
  }
};

struct mamba2_case {
  fuzz::sizes size;
  index groups;
  fuzz::tensor<float, 4> x, dt, B, C;
  fuzz::tensor<float, 1> A, D, bias, taper;
  wane::mamba2_options options;
  std::vector<std::pair<index*, int>> inputs{
      {x.values.extent, 4}, {dt.values.extent, 3}, {B.values.extent, 4},   {C.values.extent, 4},
      {A.values.extent, 1}, {D.values.extent, 1},  {bias.values.extent, 1}};

  explicit mamba2_case(fuzz::input& in)
      : size(in),
        groups(in.below(4) == 0 ? 1 : size.heads),
        x(in, {size.batch, size.time, size.heads, size.columns}, false),
        dt(in, {size.batch, size.time, size.heads, 1}, false),
        B(in, {size.batch, size.time, groups, size.rows}, false),
        C(in, {size.batch, size.time, groups, size.rows}, false),
        A(in, {size.heads}, false),
        D(in, {size.heads}, false),
        bias(in, {size.heads}, false),
        taper(in, {size.heads}, false) {
    x.fill(in, range::reals), dt.fill(in, range::reals);
    B.fill(in, range::reals), C.fill(in, range::reals);
    A.fill(in, range::log_decays, kind::zeros), D.fill(in, range::reals, kind::sizes);
    bias.fill(in, range::reals, kind::zeros), taper.fill(in, range::parts, kind::zeros);
    // Numbers below the least normal one may count as zero.
    dt.for_each([](float& each) { each = std::abs(each) < 1e-37f ? 0 : each; });
    options.dt_softplus = in.flag();
    if (in.flag()) taper.values.data = nullptr;
  }
  auto op(index begin, index end) const {
    using parameter = wane::view<float const, 1>;
    return wane::mamba2<float>({.x = x.read(begin, end),
                                .dt = fuzz::by_head(dt.read(begin, end)),
                                .A = parameter(A.values),
                                .B = B.read(begin, end),
                                .C = C.read(begin, end),
                                .D = parameter(D.values),
                                .dt_bias = parameter(bias.values),
                                .taper = parameter(taper.values)},
                               options);
  }
  // S <- e^{A Delta t^-taper} S + B (Delta x)^T, y = S^T C + D x
  fuzz::terms at(index b, index t, index h, index position) const {
    auto const of = [h](auto const& p) { return static_cast<double>(p.values(h)); };
    double const raw = row_of(dt, b, t, h)[0] + of(bias);
    double const delta = options.dt_softplus
                             ? std::max(raw, 0.) + std::log1p(std::exp(-std::abs(raw)))
                         : raw < 0 ? 0
                                   : raw;
    double const slow = taper.values.data ? std::pow(static_cast<double>(position), -of(taper)) : 1;
    index const g = h * groups / size.heads;
    return {.log_decay = row(static_cast<std::size_t>(size.rows), of(A) * delta * slow),
            .key = fuzz::times(delta, row_of(B, b, t, g)),
            .value = row_of(x, b, t, h),
            .query = row_of(C, b, t, g),
            .direct = of(D),
            .direct_size = std::abs(of(D))};
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::input in(data, size);
  switch (in.below(4)) {
    case 0:
      fuzz::call<linear_recurrence_case>(in);
      break;
    case 1:
      fuzz::call<exponential_bank_case>(in);
      break;
    case 2:
      fuzz::call<retention_case>(in);
      break;
    default:
      fuzz::call<mamba2_case>(in);
  }
  return 0;
}
