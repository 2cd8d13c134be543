#include "measure/bench/closeness.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "base/error.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

constexpr double kTwoBFloat16Steps = 0x1p-6;

// Wide enough for every 64-bit integer.
using Wide = long double;

bool is_finite(Wide value) { return std::isfinite(value); }
bool is_finite(std::complex<double> value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

bool is_same(Wide a, Wide b) { return a == b || (std::isnan(a) && std::isnan(b)); }
bool is_same(std::complex<double> a, std::complex<double> b) {
  return is_same(a.real(), b.real()) && is_same(a.imag(), b.imag());
}

std::string text_of(Wide value) { return fmt::format("{:.9g}", static_cast<double>(value)); }
std::string text_of(std::complex<double> value) { return fmt::format("{:.9g}{:+.9g}i", value.real(), value.imag()); }

/// The error of HAVE in units of its tolerance; up to 1 is close enough.
template <typename Number>
double excess(Number have, Number want, Tolerance tolerance) {
  if (is_same(have, want)) return 0;
  if (!is_finite(have) || !is_finite(want)) return std::numeric_limits<double>::infinity();
  const auto error = static_cast<double>(std::abs(have - want));
  return error / (tolerance.absolute + tolerance.relative * static_cast<double>(std::abs(want)));
}

/// Compares the numbers element(tensor, i).
template <typename Element>
std::string compare(const Tensor& have, const Tensor& want, Tolerance tolerance, Element element) {
  std::int64_t worst = 0;
  std::int64_t wrong = 0;
  double most = 0;
  for (std::int64_t i = 0; i < want.elements(); ++i) {
    const double by = excess(element(have, i), element(want, i), tolerance);
    if (by <= 1) continue;
    ++wrong;
    if (by > most) worst = i;
    most = std::max(most, by);
  }
  if (wrong == 0) return {};
  return fmt::format("{} of {} elements differ, the largest difference at element {}: {} instead of {}", wrong,
                     want.elements(), worst, text_of(element(have, worst)), text_of(element(want, worst)));
}

template <typename T>
std::string compare_numbers(const Tensor& have, const Tensor& want, Tolerance tolerance) {
  return compare(have, want, tolerance, [](const Tensor& tensor, std::int64_t i) {
    return static_cast<Wide>(reinterpret_cast<const T*>(tensor.raw())[i]);
  });
}

template <typename T>
std::string compare_complex(const Tensor& have, const Tensor& want, Tolerance tolerance) {
  return compare(have, want, tolerance, [](const Tensor& tensor, std::int64_t i) {
    const T* parts = reinterpret_cast<const T*>(tensor.raw()) + 2 * i;
    return std::complex<double>(parts[0], parts[1]);
  });
}

std::string compare_strings(const Tensor& have, const Tensor& want) {
  const auto [a, b] = std::ranges::mismatch(have.strings(), want.strings());
  if (b == want.strings().end()) return {};
  return fmt::format("element {} is '{}' instead of '{}'", b - want.strings().begin(), *a, *b);
}

std::string compare_bits(const Tensor& have, const Tensor& want) {
  for (std::size_t i = 0; i < want.bytes(); ++i)
    if (have.raw()[i] != want.raw()[i])
      return fmt::format("byte {} is {:#04x} instead of {:#04x}", i, std::to_integer<int>(have.raw()[i]),
                         std::to_integer<int>(want.raw()[i]));
  return {};
}

std::string compare_elements(const Tensor& have, const Tensor& want, Tolerance tolerance) {
  switch (want.dtype()) {
    case DType::kFloat32: return compare_numbers<float>(have, want, tolerance);
    case DType::kFloat64: return compare_numbers<double>(have, want, tolerance);
    case DType::kFloat16: return compare_numbers<Float16>(have, want, tolerance);
    case DType::kBFloat16:
      tolerance.relative = std::max(tolerance.relative, kTwoBFloat16Steps);
      return compare_numbers<BFloat16>(have, want, tolerance);
    case DType::kInt8: return compare_numbers<std::int8_t>(have, want, tolerance);
    case DType::kUInt8: return compare_numbers<std::uint8_t>(have, want, tolerance);
    case DType::kInt16: return compare_numbers<std::int16_t>(have, want, tolerance);
    case DType::kUInt16: return compare_numbers<std::uint16_t>(have, want, tolerance);
    case DType::kInt32: return compare_numbers<std::int32_t>(have, want, tolerance);
    case DType::kUInt32: return compare_numbers<std::uint32_t>(have, want, tolerance);
    case DType::kInt64: return compare_numbers<std::int64_t>(have, want, tolerance);
    case DType::kUInt64: return compare_numbers<std::uint64_t>(have, want, tolerance);
    case DType::kComplex64: return compare_complex<float>(have, want, tolerance);
    case DType::kComplex128: return compare_complex<double>(have, want, tolerance);
    case DType::kString: return compare_strings(have, want);
    // bool and packed types are compared exactly.
    default: return compare_bits(have, want);
  }
}

}  // namespace

std::string difference(const Tensor& have, const Tensor& want, Tolerance tolerance) {
  if (have.dtype() != want.dtype() || have.shape() != want.shape())
    return fmt::format("is {} {} instead of {} {}", to_string(have.dtype()), have.shape().to_string(),
                       to_string(want.dtype()), want.shape().to_string());
  return compare_elements(have, want, tolerance);
}

}  // namespace saccade
