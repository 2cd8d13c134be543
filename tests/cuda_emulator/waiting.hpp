#pragma once

#include <deque>
#include <string>
#include <vector>

#include "copies.hpp"
#include "device/object.hpp"

namespace saccade::emulator {

class Fiber;

/// What a thread waits in, and what it passed.
struct Arrival {
  saccade_emulator::Site site;
  void* mine;
  saccade_emulator::Combine combine;
};

struct Thread {
  enum class State { kGoing, kAtBlock, kAtWarp, kLeft };

  saccade_emulator::Index index;
  unsigned number = 0;
  State state = State::kGoing;
  unsigned mask = 0;  ///< of lanes that it waits for
  Arrival arrival{};
  Fiber* fiber = nullptr;  ///< where it stands while it waits
  Copies copies;
};

/// Who of a block waits for whom. As CUDA has it, threads that have left are waited for by nobody.
class Waiting {
 public:
  /// Those that may go on are put into READY.
  Waiting(std::vector<Thread>& threads, std::deque<Thread*>& ready) : threads_(threads), ready_(ready) {}

  /// A block begins.
  void begin();
  /// THREAD has come; true: it was the last, and goes on.
  bool at_block(Thread& thread, const Arrival& arrival);
  bool at_warp(Thread& thread, unsigned mask, const Arrival& arrival);
  void leave(Thread& thread);
  /// Nobody can go on: fails unless all have left.
  void expect_end() const;

 private:
  bool complete_block(Thread* last);
  bool complete_warp(std::size_t first, unsigned mask, Thread* last);
  void release(const std::vector<Thread*>& members, Thread* last);

  std::vector<Thread>& threads_;
  std::deque<Thread*>& ready_;
  std::size_t live_ = 0;
  std::size_t at_block_ = 0;
};

}  // namespace saccade::emulator
