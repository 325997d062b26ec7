// emulated_thread: the machine of a kernel, on the CPU; it refuses what breaks the rules of a GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>

#include "wane/cuda/machine/matrix_unit.hpp"
#include "wane/testing/emulated_grid.hpp"
#include "wane/testing/emulated_sum.hpp"

namespace wane::testing::impl {

// The machine that a kernel sees: one thread of an emulated grid.
template <int Threads>
class emulated_thread {
 public:
  static constexpr int threads = Threads;

  emulated_thread(emulated_grid<Threads>& grid, std::size_t block, int thread)
      : grid_(grid),
        block_(grid.blocks_[block]),
        here_{block, thread, 0},
        known_(grid.blocks_.size()) {}

  int thread() const { return here_.thread; }

  void barrier() {
    block_.learned.learn(known_);
    if (static_cast<int>(block_.at_barrier.size()) + 1 < Threads) {
      block_.at_barrier.push_back(here_.thread);
      grid_.hand_over();
    } else {
      block_.known = block_.learned;
      ++block_.epoch;
      std::swap(block_.ready, block_.at_barrier);
      yield();
    }
    here_.epoch = block_.epoch;
    known_.learn(block_.known);
  }
  bool any(bool x) {
    auto& vote = block_.votes[here_.epoch % 2];
    if (vote.epoch != here_.epoch) vote = {here_.epoch, false};
    vote.any = vote.any || x;
    barrier();
    return vote.any;
  }

  template <class T>
  T shuffle(T const& x, int lane) {
    T other;
    std::memcpy(&other, of_warp("shuffle", x, [](auto&) {})[lane], sizeof(T));
    return other;
  }
  template <class T>
  T shuffle_up(T const& x, int by) {
    auto const& of = of_warp("shuffle", x, [](auto&) {});
    T up = x;
    if (lane() >= by) std::memcpy(&up, of[lane() - by], sizeof(T));
    return up;
  }

  template <class T, class Unit = cuda::impl::matrix_unit<T>>
  void multiply_add(typename Unit::sum& sum, typename Unit::left const& left,
                    typename Unit::right const& right) {
    struct part {
      typename Unit::left left;
      typename Unit::right right;
      typename Unit::sum sum;
    };
    auto const& of = of_warp("multiply", part{left, right, sum}, [](auto& parts) {
      double a[Unit::rows][Unit::depth], b[Unit::columns][Unit::depth];
      part x[cuda::impl::warp_size];
      for (int lane = 0; lane < cuda::impl::warp_size; ++lane) {
        std::memcpy(&x[lane], parts[lane], sizeof(part));
        for (int i = 0; i < Unit::depth / 2; ++i) {
          auto const at = Unit::of_left(lane, i);
          a[at.row][at.column] = read_by_unit(x[lane].left.of[i]);
        }
        for (int i = 0; i < Unit::depth / 4; ++i) {
          auto const at = Unit::of_right(lane, i);
          b[at.column][at.row] = read_by_unit(x[lane].right.of[i]);
        }
      }
      for (int lane = 0; lane < cuda::impl::warp_size; ++lane) {
        for (int i = 0; i < 4; ++i) {
          auto const at = Unit::of_sum(lane, i);
          double products[Unit::depth];
          for (int k = 0; k < Unit::depth; ++k) products[k] = a[at.row][k] * b[at.column][k];
          x[lane].sum.of[i] = sum_of_unit(x[lane].sum.of[i], products);
        }
        std::memcpy(parts[lane], &x[lane], sizeof(part));
      }
    });
    std::memcpy(&sum, of[lane()] + offsetof(part, sum), sizeof(sum));
  }

  std::byte* shared() const { return block_.shared.data(); }
  template <class T>
  T read_shared(T const* p) {
    block_.shared.see_read(p, sizeof(T), here_);
    return *p;
  }
  template <class T>
  void write_shared(T* p, T x) {
    block_.shared.see_write(p, sizeof(T), here_);
    *p = x;
  }

  void ask_for(void const*) {}
  // The bytes come at once, or as late as wait() lets them; meanwhile there is rubbish.
  void copy(void* to, void const* from, int bytes) {
    block_.shared.see_write(to, static_cast<std::size_t>(bytes), here_);
    std::memset(to, 0xff, static_cast<std::size_t>(bytes));
    copies_.push_back({to, from, bytes, groups_});
    if (grid_.bits_() % 4 == 0) finish_copies(groups_ + 1);
  }
  void commit() { ++groups_; }
  template <int Left>
  void wait() {
    finish_copies(groups_ - Left);
  }
  void copy_out(void* to, void const* from, int bytes) {
    block_.shared.see_read(from, static_cast<std::size_t>(bytes), here_);
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }

  template <class T>
  T read(T const* p) {
    grid_.scratch_.read(p, here_, known_);
    return *p;
  }
  template <class T>
  void write(T* p, T x) {
    grid_.scratch_.write(p, here_);
    *p = x;
  }
  void raise(std::uint32_t* flag) {
    auto& state = grid_.flags_[flag];
    if (state.says) throw machine_fault("a flag is raised twice");
    known_.learn(here_.block, grid_.scratch_.release(here_));
    state.says = known_;
    grid_.raised_.push_back(flag);
    yield();
  }
  void await(std::uint32_t const* flag) {
    auto& state = grid_.flags_[flag];
    if (!state.visible) {
      state.waiting.push_back({here_.block, here_.thread});
      grid_.hand_over();
    }
    known_.learn(*state.says);
  }
  std::uint64_t take(std::uint64_t* counter) {
    yield();
    return block_.taken = (*counter)++;
  }
  std::uint64_t count(std::uint64_t* counter) {
    yield();
    known_.learn(here_.block, grid_.scratch_.release(here_));
    auto const found = grid_.counters_.try_emplace(counter, known_).first;
    found->second.learn(known_);
    known_.learn(found->second);
    return (*counter)++;
  }

 private:
  int lane() const { return here_.thread % cuda::impl::warp_size; }
  // x of each thread of the warp, when all have come to do the same and the last has done
  // together(all).
  template <class T, class Together>
  auto const& of_warp(std::string_view act, T const& x, Together const& together) {
    static_assert(sizeof(T) <= 64);
    auto& warp = block_.warp[static_cast<std::size_t>(here_.thread / cuda::impl::warp_size)];
    auto& values = warp.values[meetings_++ % 2];
    std::memcpy(values[lane()], &x, sizeof(T));
    if (warp.waiting.empty()) warp.act = act;
    if (warp.act != act) throw machine_fault("threads of a warp shuffle, others multiply");
    if (static_cast<int>(warp.waiting.size()) + 1 < cuda::impl::warp_size) {
      warp.waiting.push_back(here_.thread);
      grid_.hand_over();
    } else {
      together(values);
      block_.ready.insert(block_.ready.end(), warp.waiting.begin(), warp.waiting.end());
      warp.waiting.clear();
    }
    return values;
  }
  // Of what was not rounded the unit reads the first bits.
  static double read_by_unit(float x) { return x; }
  static double read_by_unit(cuda::impl::tf32 x) {
    return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, x.value) & ~0x1fffu);
  }

  struct pending_copy {
    void* to;
    void const* from;
    int bytes, group;
  };
  void finish_copies(int before_group) {
    std::erase_if(copies_, [&](pending_copy const& c) {
      if (c.group >= before_group) return false;
      std::memcpy(c.to, c.from, static_cast<std::size_t>(c.bytes));
      return true;
    });
  }
  void yield() {
    block_.ready.push_back(here_.thread);
    grid_.hand_over();
  }

  emulated_grid<Threads>& grid_;
  typename emulated_grid<Threads>::block_state& block_;
  standpoint here_;
  knowledge known_;        // of this thread
  unsigned meetings_ = 0;  // with the warp
  int groups_ = 0;
  std::vector<pending_copy> copies_;
};

}  // namespace wane::testing::impl
