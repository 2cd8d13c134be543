#pragma once

namespace saccade::emulator {

/// Of the only device, as CUDA and NVML spell it.
inline constexpr char kPciBusId[] = "0000:3B:00.0";

}  // namespace saccade::emulator
