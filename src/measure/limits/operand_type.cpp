#include "measure/limits/operand_type.hpp"

namespace saccade {

std::string_view to_string(OperandType type) {
  switch (type) {
    case OperandType::kFloat32: return "fp32";
    case OperandType::kBFloat16: return "bf16";
    case OperandType::kInt8: return "int8";
  }
  return "";
}

std::optional<OperandType> operand_type_of(std::string_view name) {
  for (const OperandType type : kOperandTypes)
    if (to_string(type) == name) return type;
  return std::nullopt;
}

std::int64_t bits_of(OperandType type) {
  switch (type) {
    case OperandType::kFloat32: return 32;
    case OperandType::kBFloat16: return 16;
    case OperandType::kInt8: return 8;
  }
  return 0;
}

}  // namespace saccade
