#pragma once

#include <deque>
#include <string>
#include <vector>

#include "device/object.hpp"
#include "execution/copies.hpp"
#include "execution/products.hpp"
#include "execution/shared_memory.hpp"

namespace saccade::emulator {

class Fiber;
struct Block;

/// What a thread waits in, and its argument.
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
  unsigned mask = 0;  ///< lanes that it waits for
  Arrival arrival{};
  Fiber* fiber = nullptr;    ///< its stack while it waits
  bool before_wait = false;  ///< it has yet to execute griddepcontrol.wait
  long long arrived = -1;    ///< phase of the cluster barrier it has arrived at
  Copies copies;
  Products products;
};

/// Threads that may resume.
using Ready = std::deque<Thread*>;

/// Block- and warp-wide barriers. As in CUDA, exited threads are not waited for.
class Waiting {
 public:
  Waiting(std::vector<Thread>& threads, Ready& ready) : threads_(threads), ready_(ready) {}

  /// Start of a block.
  void begin();
  /// THREAD arrives; true: it is the last and proceeds.
  bool at_block(Thread& thread, const Arrival& arrival);
  bool at_warp(Thread& thread, unsigned mask, const Arrival& arrival);
  void leave(Thread& thread);
  std::size_t live() const { return live_; }

 private:
  bool complete_block(Thread* last);
  bool complete_warp(std::size_t warp, unsigned mask, Thread* last);
  /// All of members_ have arrived.
  void release(Thread* last);

  /// By lane.
  struct Warp {
    unsigned live = 0;
    unsigned waiting = 0;
  };

  std::vector<Thread>& threads_;
  Ready& ready_;
  std::size_t live_ = 0;
  std::size_t at_block_ = 0;
  std::vector<Warp> warps_;
  std::vector<Thread*> members_;  // by thread number; null: none
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
