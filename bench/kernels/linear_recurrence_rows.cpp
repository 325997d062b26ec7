// The rows of linear_recurrence: factors and logs, narrow and wide, in cache and in memory.
// SPDX-License-Identifier: MIT
#include <memory>
#include <string>

#include "kernels/buffers.hpp"
#include "kernels/caches.hpp"
#include "kernels/linear_recurrence_loops.hpp"
#include "kernels/passes.hpp"
#include "kernels/row.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {
namespace {

// ordinary: factors of 0.9 to 1. never_fading: 1 - 1e-6 to 1, which no carry horizon helps.
// underflowing: impulses every 32nd token, whose traces leave the normal numbers in between.
enum class decays { ordinary, never_fading, underflowing };

struct linear_row {
  pass what;
  index channels;
  room where;
  decay_as form = decay_as::factor;
  int threads = 1;
  bool over_time = false;
  decays data = decays::ordinary;
  bool in_double = false;
  bool has_outputs = false;  // backward: given those of the run; otherwise all run first

  index tokens() const {
    index const bytes = in_double ? 8 : 4, arrays = what == pass::backward ? 5 : 3;
    return elements(where, arrays, bytes) / (where == room::memory ? bytes / 4 : 1) / channels;
  }
  std::string name() const {
    std::string text = "linear_recurrence" + name_of(what) + "/C:" + std::to_string(channels) +
                       "/T:" + std::to_string(tokens());
    text += form == decay_as::log ? "/decay:log" : "/decay:factor";
    if (data == decays::never_fading) text += "/decays:never_fading";
    if (data == decays::underflowing) text += "/decays:underflowing";
    if (in_double) text += "/type:double";
    if (has_outputs) text += "/outputs:given";
    text += "/threads:" + std::to_string(threads);
    return over_time ? text + "/over_time:1" : text;
  }
};

template <class T>
void fill(T* decay, T* drive, index count, index channels, decay_as form, decays data) {
  numbers next;
  double const low[] = {0.9, 1 - 1e-6, 0.001}, high[] = {1, 1, 0.01};
  auto const kind = static_cast<int>(data);
  for (index i = 0; i < count; ++i) {
    double const w = next(low[kind], high[kind]), b = next(-1, 1);
    decay[i] = static_cast<T>(form == decay_as::log ? std::log(w) : w);
    drive[i] = data == decays::underflowing && i / channels % 32 != 0 ? T(0) : static_cast<T>(b);
  }
}

template <decay_as Form, class T>
struct linear_problem {
  linear_row row;
  buffers memory;
  linear_arrays<T> p;
  T *ordinary_decay = nullptr, *ordinary_drive = nullptr;
  recurrent_state<T> state;

  explicit linear_problem(linear_row const& r) : row(r), state(1, 1, 1, r.channels) {
    index const tokens = r.tokens(), n = tokens * r.channels;
    T *const decay = memory.add<T>(n), *const drive = memory.add<T>(n);
    fill(decay, drive, n, r.channels, Form, r.data);
    p = {tokens, r.channels, decay, drive, nullptr, memory.add<T>(n), nullptr, nullptr};
    if (r.what == pass::backward) {
      T *const gradient = memory.add<T>(n), *const unused = memory.add<T>(n);
      fill(unused, gradient, n, r.channels, Form, decays::ordinary);
      p.gradient = gradient, p.decay_gradient = unused, p.drive_gradient = memory.add<T>(n);
      plain_forward<Form>(p);  // the states that the backward loops read
    }
    if (r.data == decays::underflowing) {
      ordinary_decay = memory.add<T>(n), ordinary_drive = memory.add<T>(n);
      fill(ordinary_decay, ordinary_drive, n, r.channels, Form, decays::ordinary);
    }
  }

  template <class Value>
  sequence_view<Value> all(Value* values) const {
    return {values, 1, p.tokens, 1, p.channels};
  }
  void forward(T const* decay, T const* drive) {
    timed_run(linear_recurrence<Form, T>({.decay = all(decay), .drive = all(drive)}), all(p.output),
              run_options<T>{.threads = row.threads, .threads_over_time = row.over_time});
  }
  void step_by_step() {
    auto const decay = all(p.decay), drive = all(p.drive);
    auto const output = all(p.output);
    for (index t = 0; t < p.tokens; ++t)
      timed_step(linear_recurrence<Form, T>(
                     {.decay = decay.tokens(t, t + 1), .drive = drive.tokens(t, t + 1)}),
                 output.tokens(t, t + 1), state_view<T>(state));
  }
  void backward() {
    using Op = linear_recurrence<Form, T>;
    timed_adjoint(
        Op({.decay = all(p.decay), .drive = all(p.drive)}), all(p.gradient),
        typename Op::gradients{.decay = all(p.decay_gradient), .drive = all(p.drive_gradient)},
        adjoint_options<T>{
            .outputs = row.has_outputs ? all<T const>(p.output) : sequence_view<T const>(),
            .threads = row.threads});
  }
};

template <decay_as Form, class T>
contest prepare(linear_row const& row) {
  auto const problem = std::make_shared<linear_problem<Form, T>>(row);
  auto const& p = problem->p;
  double const count = static_cast<double>(p.tokens * p.channels);
  bool const backward = row.what == pass::backward;
  contest c;
  c.tokens = static_cast<double>(p.tokens), c.in_double = row.in_double;
  c.flops = (backward ? 5 : 2) * count;  // h; h, g, dw
  c.moved = {{p.decay, p.drive}, {p.output}, p.tokens * p.channels * index(sizeof(T)), row.threads};
  c.error = [problem, backward] { return linear_error<Form>(problem->p, backward); };
  if (backward) {
    bool const given = row.has_outputs;
    c.moved.reads = {p.decay, given ? p.output : p.drive, p.gradient};
    c.moved.writes = {p.decay_gradient, p.drive_gradient};
    c.ours = [problem] { problem->backward(); };
    c.rivals = {{"vs_naive",
                 [problem, given] {
                   if (!given) eigen_forward<Form>(problem->p);
                   eigen_backward<Form>(problem->p);
                 }},
                {"vs_sequential", [problem, given] {
                   if (!given) plain_forward<Form>(problem->p);
                   plain_backward<Form>(problem->p);
                 }}};
    return c;
  }
  if (row.what == pass::step)
    c.ours = [problem] { problem->step_by_step(); };
  else
    c.ours = [problem] { problem->forward(problem->p.decay, problem->p.drive); };
  c.rivals = {{"vs_naive", [problem] { eigen_forward<Form>(problem->p); }},
              {"vs_sequential", [problem] { plain_forward<Form>(problem->p); }}};
  if (problem->ordinary_decay)
    c.rivals.push_back(
        {"vs_fading",
         [problem] { problem->forward(problem->ordinary_decay, problem->ordinary_drive); }, false});
  return c;
}

void add(linear_row const& row) {
  add_row(row.name(), [row] {
    if (row.in_double) return prepare<decay_as::factor, double>(row);
    return row.form == decay_as::log ? prepare<decay_as::log, float>(row)
                                     : prepare<decay_as::factor, float>(row);
  });
}

}  // namespace

void add_linear_recurrence_rows() {
  using enum pass;
  for (room const where : {room::cache, room::memory})
    for (decay_as const form : {decay_as::factor, decay_as::log})
      for (index const channels : {1, 4, 16, 64, 1024}) add({forward, channels, where, form});
  for (bool const over_time : {false, true}) {
    for (index const channels : {1, 4, 16, 64, 1024})
      add({forward, channels, room::memory, decay_as::factor, 2, over_time});
    add({.what = forward,
         .channels = 1,
         .where = room::memory,
         .threads = over_time ? 2 : 1,
         .over_time = over_time,
         .data = decays::never_fading});
  }
  for (room const where : {room::cache, room::memory})
    add({.what = forward, .channels = 64, .where = where, .in_double = true});
  for (index const channels : {1, 64})
    add({.what = forward,
         .channels = channels,
         .where = room::cache,
         .data = decays::underflowing});
  for (bool const given : {false, true})
    for (index const channels : {1, 4, 16, 64, 1024}) {
      for (decay_as const form : {decay_as::factor, decay_as::log})
        add({.what = backward,
             .channels = channels,
             .where = room::cache,
             .form = form,
             .has_outputs = given});
      for (int const threads : {1, 2})
        add({.what = backward,
             .channels = channels,
             .where = room::memory,
             .threads = threads,
             .has_outputs = given});
    }
  add({step, 1024, room::cache});
}

}  // namespace wane::bench
