#include "runtime/cpu_backend.hpp"

#include "base/module.hpp"

namespace saccade {

const Backend& cpu_backend() { return module<CpuModule>("cpu").backend(); }

}  // namespace saccade
