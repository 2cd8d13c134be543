#pragma once

#include "runtime/tactic.hpp"

namespace saccade {

/// The interface of the cpu module: module<CpuModule>("cpu").
struct CpuModule {
  const Backend& (*backend)();
  std::string (*libraries)();
};

/// The libraries of the CPU backend with their versions: "oneDNN 2.6.3".
std::string cpu_libraries();

}  // namespace saccade
