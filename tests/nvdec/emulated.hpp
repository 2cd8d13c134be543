#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace saccade::test {

/// Calls of an emulated library in this process; false on a real GPU.
class EmulatedCalls {
 public:
  explicit EmulatedCalls(const char* library) {
    void* opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) return;
    calls_ = reinterpret_cast<const char* (*)()>(dlsym(opened, "emulator_calls"));
    fail_ = reinterpret_cast<void (*)(const char*, int, int)>(dlsym(opened, "emulator_fail"));
  }

  explicit operator bool() const { return fail_ != nullptr; }
  /// After AFTER calls of FUNCTION, the next one returns RESULT.
  void fail(const char* function, int after, int result) const { fail_(function, after, result); }
  /// How often FUNCTION was called.
  std::ptrdiff_t count(const std::string& function) const {
    std::istringstream text(calls_());
    std::ptrdiff_t count = 0;
    for (std::string line; std::getline(text, line);) count += line == function ? 1 : 0;
    return count;
  }

 private:
  const char* (*calls_)() = nullptr;
  void (*fail_)(const char*, int, int) = nullptr;
};

/// Live objects of the emulated driver; 0 on a real GPU.
inline int live_objects() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto live = library == nullptr ? nullptr : reinterpret_cast<int (*)()>(dlsym(library, "emulator_live"));
  return live == nullptr ? 0 : live();
}

}  // namespace saccade::test
