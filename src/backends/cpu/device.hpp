#pragma once

#include <string>

namespace saccade::cpu {

/// "AMD EPYC (avx2, avx512, vnni)": the processor's name and the instruction sets that the tactics use.
std::string device_name();

}  // namespace saccade::cpu
