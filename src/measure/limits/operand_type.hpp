#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace saccade {

/// Operand type of a multiply-add. Accumulators are float32, or int32 for kInt8.
enum class OperandType : std::uint8_t { kFloat32, kBFloat16, kInt8 };

inline constexpr std::array kOperandTypes = {OperandType::kFloat32, OperandType::kBFloat16, OperandType::kInt8};

/// "fp32", "bf16", "int8".
std::string_view to_string(OperandType type);
/// The type of that name; empty if there is none.
std::optional<OperandType> operand_type_of(std::string_view name);
/// Bits of one operand.
std::int64_t bits_of(OperandType type);

}  // namespace saccade
