#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace saccade {

/// Operand type of a multiply-add. Accumulators are float32, or int32 for kInt8.
enum class Precision : std::uint8_t { kFloat32, kBFloat16, kInt8 };

inline constexpr std::array kPrecisions = {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8};

/// "fp32", "bf16", "int8".
std::string_view to_string(Precision precision);
/// The precision of that name; empty if there is none.
std::optional<Precision> precision_of(std::string_view name);
/// Bits of one operand.
std::int64_t bits_of(Precision precision);

}  // namespace saccade
