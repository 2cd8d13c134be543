#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "execution/waiting.hpp"

namespace saccade::emulator {

/// Blocks that run concurrently: their cluster barrier, mbarriers in their shared memory, and asynchronous writes in
/// flight. Those complete either as late as possible, when no thread can proceed without them, or at once: a kernel
/// must be correct in both cases.
class Cluster {
 public:
  Cluster(std::vector<std::unique_ptr<Block>>& blocks, Ready& ready) : blocks_(blocks), ready_(ready) {}

  void begin(bool at_once);

  void arrive_cluster(Thread& thread);
  /// Whether THREAD may proceed; otherwise it is resumed later.
  bool wait_for_all(Thread& thread);

  void mbarrier_init(Thread& thread, void* barrier, unsigned arrivals);
  void mbarrier_arrive_expect_tx(Thread& thread, void* barrier, int bytes);
  void mbarrier_arrive(Thread& thread, void* barrier);
  void cp_async_mbarrier_arrive(Thread& thread, void* barrier);
  bool mbarrier_wait(Thread& thread, void* barrier, unsigned parity);
  void cp_async_bulk(Thread& thread, void* shared, const void* global, unsigned bytes, void* barrier);
  void st_async_dsmem(Thread& thread, unsigned peer, void* shared, const void* value, unsigned bytes, void* barrier);

  void leave(Thread& thread);
  /// Completes one asynchronous write; false if there is none in flight.
  bool deliver();
  /// No thread can proceed: fails unless all have exited and nothing is in flight.
  void expect_end() const;

 private:
  /// The 64 bits of an mbarrier.
  struct Barrier {
    unsigned char prepared;
    unsigned char round;  ///< parity
    unsigned char arrivals;
    unsigned char pending;  ///< pending arrivals
    int bytes;              ///< transaction bytes that are still outstanding
  };
  struct Transfer {
    Block* block;
    void* to;  ///< address in the issuing block; null: the end of COPIES is an arrival
    const void* from;
    std::vector<std::byte> value;  ///< of st.async, where nothing is copied
    std::size_t bytes;
    void* barrier;
    std::vector<Copies::Copy> copies;
  };
  struct Waiter {
    Thread* thread;
    void* barrier;
    unsigned parity;
  };

  Barrier& barrier_of(Block& block, void* address, const char* what);
  void arrive(Block& block, void* address, const char* what);
  void check_round(Block& block, void* address, Barrier& barrier);
  void complete_arrivals();

  std::vector<std::unique_ptr<Block>>& blocks_;
  Ready& ready_;
  bool at_once_ = false;
  std::deque<Transfer> transfers_;
  std::vector<Waiter> waiters_;
  long long round_ = 0;  // phase of the cluster barrier
  std::size_t arrived_ = 0;
};

}  // namespace saccade::emulator
