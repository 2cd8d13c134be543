#pragma once

#include "runtime/tactic.hpp"

namespace saccade {

/// The interface of the cpu module: module<CpuModule>("cpu").
struct CpuModule {
  const Backend& (*backend)();
};

}  // namespace saccade
