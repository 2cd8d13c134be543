#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "waiting.hpp"

namespace saccade::emulator {

/// Blocks that run together: the barrier of all their threads, barriers in their shared memory, and what is on its way
/// there. It arrives as late as it may, when no thread can go on without it, or at once: a kernel must stand both.
class Cluster {
 public:
  Cluster(std::vector<std::unique_ptr<Block>>& blocks, Ready& ready) : blocks_(blocks), ready_(ready) {}

  void begin(bool at_once);

  void arrive_cluster(Thread& thread);
  /// Whether THREAD goes on; else it is told when it may.
  bool wait_for_all(Thread& thread);

  void mbarrier_init(Thread& thread, void* barrier, unsigned arrivals);
  void mbarrier_arrive_expect_tx(Thread& thread, void* barrier, int bytes);
  void mbarrier_arrive(Thread& thread, void* barrier);
  void cp_async_mbarrier_arrive(Thread& thread, void* barrier);
  bool mbarrier_wait(Thread& thread, void* barrier, unsigned parity);
  void cp_async_bulk(Thread& thread, void* shared, const void* global, unsigned bytes, void* barrier);
  void st_async_dsmem(Thread& thread, unsigned peer, void* shared, const void* value, unsigned bytes, void* barrier);

  void leave(Thread& thread);
  /// Lets one thing arrive, whether there was any.
  bool deliver();
  /// Nobody can go on: fails unless all have left, and nothing is on its way.
  void expect_end() const;

 private:
  /// As its 64 bits hold it.
  struct Barrier {
    unsigned char prepared;
    unsigned char round;  ///< 0 or 1
    unsigned char arrivals;
    unsigned char pending;  ///< arrivals that are still to come
    int bytes;              ///< that are announced and have not arrived
  };
  struct Transfer {
    Block* block;
    void* to;  ///< as the block's threads call it; null: COPIES, whose end is an arrival
    const void* from;
    std::vector<std::byte> value;  ///< what is stored, where nothing is copied
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
  long long round_ = 0;  // of the cluster's barrier
  std::size_t arrived_ = 0;
};

}  // namespace saccade::emulator
