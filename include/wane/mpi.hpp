// mpi_ranks: the ranks of an MPI communicator, for sharded_run and sharded_adjoint.
// SPDX-License-Identifier: MIT
#pragma once

#include <mpi.h>

#include <list>

#include "wane/ranks.hpp"

namespace wane::impl {

// Throws std::runtime_error where a call of MPI failed.
inline void check_mpi(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error("MPI: " + std::string(text, static_cast<std::size_t>(length)));
}

}  // namespace wane::impl

namespace wane {

//   MPI_Init(&argc, &argv);
//   {
//     wane::mpi_ranks const ranks(MPI_COMM_WORLD);
//     wane::sharded_run(ranks, op, output);
//   }  // gone before MPI_Finalize
//
// All processes of the communicator construct it at the same time, and make the same calls. It has
// a communicator of its own, so its messages meet no others. One thread at a time may use it;
// MPI_THREAD_FUNNELED suffices. Throws std::runtime_error where MPI fails.
class mpi_ranks {
 public:
  explicit mpi_ranks(MPI_Comm communicator) {
    impl::check_mpi(MPI_Comm_dup(communicator, &own_));
    impl::check_mpi(MPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN));
    impl::check_mpi(MPI_Comm_rank(own_, &rank_));
    impl::check_mpi(MPI_Comm_size(own_, &size_));
  }
  mpi_ranks(mpi_ranks const&) = delete;
  mpi_ranks& operator=(mpi_ranks const&) = delete;
  // Waits until what was sent has left.
  ~mpi_ranks() {
    for (sent& message : sent_)
      MPI_Waitall(static_cast<int>(message.parts.size()), message.parts.data(),
                  MPI_STATUSES_IGNORE);
    MPI_Comm_free(&own_);
  }

  int rank() const { return rank_; }
  int size() const { return size_; }

  void send(int to, std::vector<std::byte> bytes) const {
    forget_what_has_left();
    sent& message = sent_.emplace_back();
    message.bytes = std::move(bytes);
    for_each_part(std::span(message.bytes), [&](std::span<std::byte> part) {
      MPI_Request request;
      impl::check_mpi(
          MPI_Isend(part.data(), static_cast<int>(part.size()), MPI_BYTE, to, 0, own_, &request));
      message.parts.push_back(request);
    });
  }
  void receive(int from, std::span<std::byte> bytes) const {
    forget_what_has_left();
    for_each_part(bytes, [&](std::span<std::byte> part) {
      impl::check_mpi(MPI_Recv(part.data(), static_cast<int>(part.size()), MPI_BYTE, from, 0, own_,
                               MPI_STATUS_IGNORE));
    });
  }
  void all_gather(std::span<std::byte const> mine, std::span<std::byte> all) const {
    if (mine.size() > std::size_t{1} << 30)
      throw std::runtime_error("MPI: all_gather of more than 1 GiB from each rank");
    int const count = static_cast<int>(mine.size());
    impl::check_mpi(MPI_Allgather(mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, own_));
  }

 private:
  struct sent {
    std::vector<std::byte> bytes;
    std::vector<MPI_Request> parts;
  };
  // Parts of 32 KiB: what is longer than the eager limit of MPI (64 KiB over TCP in Open MPI)
  // leaves a rank only while that rank is in a call of MPI, and not while it computes.
  template <class Take>
  static void for_each_part(std::span<std::byte> bytes, Take const& take) {
    constexpr std::size_t most = std::size_t{1} << 15;
    for (std::size_t i = 0; i < bytes.size(); i += most)
      take(bytes.subspan(i, std::min(most, bytes.size() - i)));
  }
  void forget_what_has_left() const {
    std::erase_if(sent_, [](sent& message) {
      int left = 0;
      impl::check_mpi(MPI_Testall(static_cast<int>(message.parts.size()), message.parts.data(),
                                  &left, MPI_STATUSES_IGNORE));
      return left != 0;
    });
  }

  MPI_Comm own_;
  int rank_ = 0, size_ = 1;
  mutable std::list<sent> sent_;
};

}  // namespace wane
