#pragma once

#include "runtime/tactic.hpp"

namespace saccade {

/// What the cpu module offers; get it with module<CpuModule>("cpu").
struct CpuModule {
  const Backend& (*backend)();
};

}  // namespace saccade
