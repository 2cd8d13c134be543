#include "runtime/cpu_backend.hpp"

#include "base/module.hpp"

namespace saccade {

const Backend& cpu_backend() { return module<CpuModule>("cpu").backend(); }

std::string cpu_libraries() { return module<CpuModule>("cpu").libraries(); }

}  // namespace saccade
