#pragma once

#include <cstddef>

// Stacks between which one host thread switches: what a thread of a block stands on while it waits for the others.
namespace saccade::emulator {

/// A stack of its own with what runs there; or, default-made, the stack of the host's thread that switches away from
/// it.
class Fiber {
 public:
  static constexpr std::size_t kStackBytes = 256 << 10;

  Fiber() = default;
  /// MAIN begins at the first switch, and never returns.
  explicit Fiber(void (*main)());
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  /// Leaves FROM, on which the caller runs; returns when something switches to FROM again.
  void switch_from(Fiber& from);

 private:
  static void begin();

  void (*main_)() = nullptr;
  void* mapping_ = nullptr;
  void* stack_pointer_ = nullptr;
  // What the sanitizers are told.
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_stack_ = nullptr;
  void* race_detector_ = nullptr;
};

}  // namespace saccade::emulator
