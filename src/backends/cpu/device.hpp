#pragma once

#include <string>

namespace saccade::cpu {

/// "AMD EPYC (avx2, avx512, vnni)": the processor's own name and the instruction sets that the tactics make use of.
std::string device_name();

}  // namespace saccade::cpu
