#pragma once

#include <cstddef>

// User-space stacks: each holds a device thread while it waits.
namespace saccade::emulator {

/// A fiber with its own stack; default-constructed, the stack of the host thread itself.
class Fiber {
 public:
  static constexpr std::size_t kStackBytes = 256 << 10;

  Fiber() = default;
  /// MAIN starts at the first switch and never returns.
  explicit Fiber(void (*main)());
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  /// Suspends FROM, on which the caller runs; returns when it is resumed.
  void switch_from(Fiber& from);

 private:
  static void begin();

  void (*main_)() = nullptr;
  void* mapping_ = nullptr;
  void* stack_pointer_ = nullptr;
  // For the sanitizers.
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_stack_ = nullptr;
  void* race_detector_ = nullptr;
};

}  // namespace saccade::emulator
