// check_values: throws if a token of an operator holds a NaN, an infinity or a growing decay.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <string_view>
#include <vector>

#include "wane/core/call/checks.hpp"
#include "wane/core/recurrence/diagonal_recurrence.hpp"

namespace wane {

//   check_values(op);
//
// Throws wane::error at the first term that is not finite, or log decay that is NaN or above 0. An
// operator without terms has a member that visits the numbers of a token instead:
//   each_number(place, visit)    calls visit(name, i, x); names of log decays end in "log_decay"
// `run` does not check values: there a NaN reaches the outputs that depend on it, and with a
// positive log decay the state grows. Positions count from 1 at the first token of the tensors.
// `lengths` are those of a padded batch, as in run_options. Of parameters of each sequence it reads
// those of the rows of the batch.
template <affine_recurrence Op>
void check_values(Op const& op, std::span<index const> lengths = {}) {
  recurrence_shape const shape = impl::checked_extents(op);
  impl::check_parameters_of(op);
  impl::check_sequences({}, lengths, shape.batch, shape.time);
  for (index b = 0; b < shape.batch; ++b)
    for (index t = 0; t < impl::tokens_of(b, shape.time, {}, lengths).end; ++t)
      for (index h = 0; h < shape.heads; ++h) {
        place<> const at{b, t, h, t + 1};
        auto const x = op.at(at);
        using Token = std::remove_const_t<decltype(x)>;
        auto const expect = [&](bool good, char const* term, auto const& is, char const* must,
                                index i, index j) {
          require(good, term, " at batch ", b, ", time ", t, ", head ", h, ", row ", i, ", column ",
                  j, " is ", is, "; it must be ", must);
        };
        auto const expect_finite = [&](char const* term, auto const& z, index i, index j) {
          expect(std::isfinite(std::real(z)) && std::isfinite(std::imag(z)), term, z, "finite", i,
                 j);
        };
        if constexpr (has_direct<Token>) expect_finite("direct", x.direct(), 0, 0);
        for (index i = 0; i < shape.rows; ++i) {
          if constexpr (has_key<Token>) expect_finite("key", x.key(i), i, 0);
          if constexpr (has_query<Token>) expect_finite("query", x.query(i), i, 0);
          if constexpr (has_erase<Token>) {
            expect_finite("erase_read", x.erase_read(i), i, 0);
          }
          if constexpr (has_erase_write<Token>)
            expect_finite("erase_write", x.erase_write(i), i, 0);
        }
        for (index j = 0; j < shape.columns; ++j) {
          expect_finite("value", x.value(j), 0, j);
          if constexpr (has_skip<Token>) expect_finite("skip", x.skip(j), 0, j);
          for (index i = 0; i < shape.rows; ++i) {
            if constexpr (decays_in_logs<Token>)
              expect(real_part(impl::log_decay_of(x, i, j)) <= 0, "log_decay",
                     impl::log_decay_of(x, i, j), "<= 0", i, j);
            else if constexpr (!std::is_same_v<decltype(decay_of(x, i, j)), no_decay>)
              expect_finite("decay", decay_of(x, i, j).factor, i, j);
          }
        }
      }
}

template <class Op>
requires(!affine_recurrence<Op> &&
         diagonal_recurrence<Op>) void check_values(Op const& op,
                                                    std::span<index const> lengths = {}) {
  if constexpr (paired_recurrence<Op>) {
    check_values(op.first(), lengths), check_values(op.second(), lengths);
  } else if constexpr (has_substeps<Op>) {  // times in messages count substeps
    impl::checked_extents(op);
    std::vector<index> of_substeps(lengths.begin(), lengths.end());
    for (index& n : of_substeps) n *= op.substeps();
    check_values(op.in_substeps(false), of_substeps);
  } else {
    if constexpr (has_levels<Op>) check_values(op.memory(), lengths);
    recurrence_shape const shape = impl::checked_extents(op);
    impl::check_parameters_of(op);
    impl::check_sequences({}, lengths, shape.batch, shape.time);
    for (index b = 0; b < shape.batch; ++b)
      for (index t = 0; t < impl::tokens_of(b, shape.time, {}, lengths).end; ++t)
        for (index h = 0; h < shape.heads; ++h) {
          auto const expect = [&](char const* name, index i, auto const& is) {
            bool const log = std::string_view(name).ends_with("log_decay");
            require(log ? is <= 0 : std::isfinite(is), name, " at batch ", b, ", time ", t,
                    ", head ", h, ", channel ", i, " is ", is, "; it must be ",
                    log ? "<= 0" : "finite");
          };
          static_assert(
              requires { op.each_number(place<>{}, expect); },
              "wane::check_values: an operator that brings a step in place of terms has "
              "each_number(place, visit), which shows the numbers of a token");
          op.each_number(place<>{b, t, h, t + 1}, expect);
        }
  }
}

}  // namespace wane
