#pragma once

#include <dlfcn.h>

#include <sstream>
#include <string>
#include <vector>

namespace saccade::test {

/// Driver calls of this process, if the driver is the emulated one.
class EmulatorCalls {
 public:
  EmulatorCalls() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    calls_ = reinterpret_cast<const char* (*)()>(dlsym(library, "emulator_calls"));
    fail_ = reinterpret_cast<void (*)(const char*, int, int)>(dlsym(library, "emulator_fail"));
    reset_ = reinterpret_cast<void (*)()>(dlsym(library, "emulator_reset"));
  }

  /// False on a real GPU.
  explicit operator bool() const { return reset_ != nullptr; }
  /// Clears the log.
  void forget() const { reset_(); }
  /// The next call of FUNCTION returns RESULT.
  void fail(const char* function, int result) const { fail_(function, 0, result); }
  /// All but those that select the thread's context.
  std::vector<std::string> since() const {
    std::istringstream text(calls_());
    std::vector<std::string> functions;
    for (std::string line; std::getline(text, line);)
      if (line != "cuCtxSetCurrent") functions.push_back(line);
    return functions;
  }

 private:
  const char* (*calls_)() = nullptr;
  void (*fail_)(const char*, int, int) = nullptr;
  void (*reset_)() = nullptr;
};

}  // namespace saccade::test
