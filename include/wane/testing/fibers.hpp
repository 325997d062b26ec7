// fiber: a function on a stack of its own, which runs until it switches to another fiber.
// SPDX-License-Identifier: MIT
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "wane/core/config.hpp"

#ifdef WANE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace wane::testing::impl {

// Tells the address sanitizer, if there is one, which stack comes next.
struct stack_watch {
#ifdef WANE_ADDRESS_SANITIZER
  static void start(void** own, void const* bottom, std::size_t bytes) {
    __sanitizer_start_switch_fiber(own, bottom, bytes);
  }
  static void finish(void* own, void const** bottom, std::size_t* bytes) {
    __sanitizer_finish_switch_fiber(own, bottom, bytes);
  }
  static void forget(void* bottom, std::size_t bytes) {
    __asan_unpoison_memory_region(bottom, bytes);
  }
#else
  static void start(void**, void const*, std::size_t) {}
  static void finish(void*, void const**, std::size_t*) {}
  static void forget(void*, std::size_t) {}
#endif
};

// Stacks, used again and again: fresh memory costs more than a short kernel.
class stack_pool {
 public:
  static constexpr std::size_t stack_bytes = 256 * 1024;
  using stack = std::unique_ptr<std::byte[]>;

  static stack take() {
    auto& left = unused();
    if (left.empty()) return stack(new std::byte[stack_bytes]);
    stack last = std::move(left.back());
    left.pop_back();
    stack_watch::forget(last.get(), stack_bytes);
    return last;
  }
  static void give_back(stack used) {
    if (used) unused().push_back(std::move(used));
  }

 private:
  static std::vector<stack>& unused() {
    thread_local std::vector<stack> stacks;
    return stacks;
  }
};

// One of many that take turns on this thread of the CPU. The first is what the thread was doing.
// The thread sanitizer does not see the switches. Compile with
// -mllvm -tsan-instrument-func-entry-exit=0, or its list of calls grows until it overflows.
class fiber {
 public:
  fiber() = default;
  // `body` must end by calling leave().
  explicit fiber(std::function<void()> body)
      : body_(std::move(body)),
        stack_(stack_pool::take()),
        bottom_(stack_.get()),
        bytes_(stack_pool::stack_bytes) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = bytes_;
    context_.uc_link = nullptr;
    auto const self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&context_, reinterpret_cast<void (*)()>(&fiber::enter), 2,
                static_cast<unsigned>(self), static_cast<unsigned>(self >> 32));
  }
  ~fiber() { stack_pool::give_back(std::move(stack_)); }
  fiber(fiber const&) = delete;
  fiber& operator=(fiber const&) = delete;

  // Called by the fiber that runs: continues `next`, and returns when this fiber is continued.
  void switch_to(fiber& next) {
    stack_watch::start(&sanitizer_, next.bottom_, next.bytes_);
    next.from_ = this;
#ifdef __x86_64__  // swapcontext asks the kernel for the mask of signals, each time
    jumps_ = true;
    if (__builtin_setjmp(here_) == 0) next.go_on();
#else
    swapcontext(&context_, &next.context_);
#endif
    arrived();
  }
  // The same, never to return.
  void leave(fiber& next) {
    stack_watch::start(nullptr, next.bottom_, next.bytes_);
    next.from_ = this;
    next.go_on();
    std::abort();
  }

 private:
  // Never returns, but is not declared so: the sanitizer would unpoison the whole stack each time.
  // Not inlined: __builtin_longjmp must not jump within one function.
  [[gnu::noinline, gnu::no_sanitize_address]] void go_on() {
#ifdef __x86_64__
    if (jumps_) __builtin_longjmp(here_, 1);
#endif
    setcontext(&context_);
  }
  static void enter(unsigned low, unsigned high) {
    auto* const self = reinterpret_cast<fiber*>(static_cast<std::uintptr_t>(high) << 32 | low);
    self->arrived();
    self->body_();
  }
  // The stack of the first fiber is known only once another has been entered from it.
  void arrived() { stack_watch::finish(sanitizer_, &from_->bottom_, &from_->bytes_); }

  std::function<void()> body_;
  stack_pool::stack stack_;
  void const* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* sanitizer_ = nullptr;
  fiber* from_ = nullptr;
  ucontext_t context_;
#ifdef __x86_64__
  void* here_[5];
  bool jumps_ = false;  // it was left through here_
#endif
};

}  // namespace wane::testing::impl
