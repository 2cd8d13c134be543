#include "measure/limits/precision.hpp"

namespace saccade {

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::kFloat32: return "fp32";
    case Precision::kBFloat16: return "bf16";
    case Precision::kInt8: return "int8";
  }
  return "";
}

std::optional<Precision> precision_of(std::string_view name) {
  for (const Precision precision : kPrecisions)
    if (to_string(precision) == name) return precision;
  return std::nullopt;
}

std::int64_t bits_of(Precision precision) {
  switch (precision) {
    case Precision::kFloat32: return 32;
    case Precision::kBFloat16: return 16;
    case Precision::kInt8: return 8;
  }
  return 0;
}

}  // namespace saccade
