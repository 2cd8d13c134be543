#pragma once

#include <deque>
#include <string>
#include <vector>

#include "copies.hpp"
#include "device/object.hpp"
#include "products.hpp"
#include "shared_memory.hpp"

namespace saccade::emulator {

class Fiber;
struct Block;

/// What a thread waits in, and what it passed.
struct Arrival {
  saccade_emulator::Site site;
  void* mine;
  saccade_emulator::Combine combine;
};

struct Thread {
  enum class State { kGoing, kAtBlock, kAtWarp, kAtBarrier, kAtCluster, kLeft };

  saccade_emulator::Index index;
  unsigned number = 0;
  Block* block = nullptr;
  State state = State::kGoing;
  unsigned mask = 0;  ///< of lanes that it waits for
  Arrival arrival{};
  Fiber* fiber = nullptr;  ///< where it stands while it waits
  long long arrived = -1;  ///< the round of its cluster's barrier that it has come to
  Copies copies;
  Products products;
};

/// Threads that may go on.
using Ready = std::deque<Thread*>;

/// Who of a block waits for whom. As CUDA has it, threads that have left are waited for by nobody.
class Waiting {
 public:
  Waiting(std::vector<Thread>& threads, Ready& ready) : threads_(threads), ready_(ready) {}

  /// A block begins.
  void begin();
  /// THREAD has come; true: it was the last, and goes on.
  bool at_block(Thread& thread, const Arrival& arrival);
  bool at_warp(Thread& thread, unsigned mask, const Arrival& arrival);
  void leave(Thread& thread);
  std::size_t live() const { return live_; }

 private:
  bool complete_block(Thread* last);
  bool complete_warp(std::size_t warp, unsigned mask, Thread* last);
  /// members_ have all come.
  void release(Thread* last);

  /// By lanes.
  struct Warp {
    unsigned live = 0;
    unsigned waiting = 0;
  };

  std::vector<Thread>& threads_;
  Ready& ready_;
  std::size_t live_ = 0;
  std::size_t at_block_ = 0;
  std::vector<Warp> warps_;
  std::vector<Thread*> members_;  // by number; null: none
  std::vector<void*> passed_;
};

struct Block {
  Block(const saccade_emulator::Object& object, std::size_t shared_bytes, Ready& ready)
      : shared(object, shared_bytes), waiting(threads, ready) {}

  saccade_emulator::Index index{};
  std::vector<Thread> threads;
  SharedMemory shared;
  Waiting waiting;
};

}  // namespace saccade::emulator
