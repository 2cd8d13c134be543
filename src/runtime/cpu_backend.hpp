#pragma once

#include "runtime/tactic.hpp"

namespace saccade {

/// What the cpu module offers; get it with module<CpuModule>("cpu").
struct CpuModule {
  const Backend& (*backend)();
  std::string (*libraries)();
};

/// What the CPU backend is built on, with the versions that run: "oneDNN 2.6.3".
std::string cpu_libraries();

}  // namespace saccade
