#pragma once

#include <cstdint>
#include <string_view>

namespace saccade {

/// Instruction sets of x86 processors, each with those before it.
enum class Isa : std::uint8_t {
  kSse4,
  kAvx2,    ///< with FMA
  kAvx512,  ///< F, BW, CD, DQ and VL, and the extensions for int8 (VNNI) and bfloat16
  kAmx,     ///< tiles
};

/// Restricts the CPU backend of this process to the instruction sets up to MOST, to test or to measure what other
/// processors run. The default is all that the processor has. Throws Error (kInvalidArgument) if the backend already
/// runs with another limit: call it before the first model is loaded. Any thread.
void limit_isa(Isa most);

/// The instruction set of that NAME: "sse4", "avx2", "avx512" or "amx". Throws Error (kInvalidArgument).
Isa parse_isa(std::string_view name);
/// "sse4", "avx2", "avx512", "amx"
std::string_view to_string(Isa isa) noexcept;

}  // namespace saccade
