#include "cpu/kernels/half_epilogue_kernels.hpp"

#include <array>

#include "cpu/kernels/half_vectors_x86.hpp"
#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/half_epilogue_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/half_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

enum class Addend { kNone, kBefore, kAfter };

/// 1 / (1 + e^-x) with the 12 bits of an approximate reciprocal.
HWY_INLINE Float quick_sigmoid(FloatTag d, Float x) {
  return hn::ApproximateReciprocal(hn::Add(hn::Set(d, 1.0F), quick_exp(d, hn::Neg(x))));
}

/// x times the normal distribution function, whose log-odds are x times a polynomial of x^2. Coefficients: least
/// maximum of the error of the result, 1.2e-5, on [-5.5, 5.5]; beyond, the polynomial's last value is more than enough.
HWY_INLINE Float quick_gelu(FloatTag d, Float x) {
  static constexpr float kCoefficients[] = {-1.73327538e-05F, -0.000508997549F, 0.0734584508F, 1.59538222F};
  const Float square = hn::Min(hn::Set(d, 30.25F), hn::Mul(x, x));
  return hn::Mul(x, quick_sigmoid(d, hn::Mul(x, polynomial(d, square, kCoefficients))));
}

template <HalfActivation kActivation>
HWY_INLINE Float activate(FloatTag d, Float x, Float low, Float high) {
  static_cast<void>(low), static_cast<void>(high);
  if constexpr (kActivation == HalfActivation::kRelu) return hn::Max(hn::Zero(d), x);
  if constexpr (kActivation == HalfActivation::kLeakyRelu)
    return hn::MulAdd(low, hn::Min(hn::Zero(d), x), hn::Max(hn::Zero(d), x));
  if constexpr (kActivation == HalfActivation::kClip) return hn::Min(high, hn::Max(low, x));
  if constexpr (kActivation == HalfActivation::kSilu) return hn::Mul(x, quick_sigmoid(d, x));
  if constexpr (kActivation == HalfActivation::kSigmoid) return quick_sigmoid(d, x);
  if constexpr (kActivation == HalfActivation::kHardSwish) {
    const Float gate = hn::MulAdd(x, hn::Set(d, 1.0F / 6.0F), hn::Set(d, 0.5F));
    return hn::Mul(x, hn::Max(hn::Zero(d), hn::Min(hn::Set(d, 1.0F), gate)));
  }
  if constexpr (kActivation == HalfActivation::kGelu) return quick_gelu(d, x);
  return x;
}

template <HalfActivation kActivation, Addend kAddend>
void run(const HalfEpilogue& epilogue, StridedRows<const float> sums, std::size_t rows, std::size_t columns,
         StridedRows<std::uint16_t> out) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const Float low = hn::Set(d, epilogue.low);
  const Float high = hn::Set(d, epilogue.high);
  const std::uint16_t* addend = epilogue.addend.first;
  const auto compute = [&](Float v, Float added) {
    if constexpr (kAddend == Addend::kBefore) v = hn::Add(v, added);
    v = activate<kActivation>(d, v, low, high);
    if constexpr (kAddend == Addend::kAfter) v = hn::Add(v, added);
    return quiet_to_half(v);
  };
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t i = 0;
    for (; i + lanes <= columns; i += lanes) {
      const Float added = kAddend == Addend::kNone ? hn::Zero(d) : load_half(addend + i);
      hn::StoreU(compute(hn::LoadU(d, sums.first + i), added), HalfTag(), out.first + i);
    }
    if (i < columns) {
      const Float added = kAddend == Addend::kNone ? hn::Zero(d) : load_half_tail(addend + i, columns - i);
      HWY_ALIGN std::uint16_t rest[HWY_MAX_BYTES / sizeof(float)];
      hn::StoreU(compute(hn::LoadU(d, sums.first + i), added), HalfTag(), rest);
      std::memcpy(out.first + i, rest, (columns - i) * sizeof(std::uint16_t));
    }
    sums.first += sums.stride;
    out.first += out.stride;
    if constexpr (kAddend != Addend::kNone) addend += epilogue.addend.stride;
  }
}

template <Addend kAddend>
constexpr std::array<FinishHalfTile, 8> kByActivation{
    run<HalfActivation::kNone, kAddend>,      run<HalfActivation::kRelu, kAddend>,
    run<HalfActivation::kLeakyRelu, kAddend>, run<HalfActivation::kClip, kAddend>,
    run<HalfActivation::kSilu, kAddend>,      run<HalfActivation::kSigmoid, kAddend>,
    run<HalfActivation::kHardSwish, kAddend>, run<HalfActivation::kGelu, kAddend>,
};

FinishHalfTile kernel_of(const HalfEpilogue& epilogue) {
  const auto at = static_cast<std::size_t>(epilogue.activation);
  if (!epilogue.adds) return kByActivation<Addend::kNone>[at];
  return epilogue.adds_first ? kByActivation<Addend::kBefore>[at] : kByActivation<Addend::kAfter>[at];
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace saccade::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade::cpu {
namespace {
HWY_EXPORT(kernel_of);
}  // namespace

std::optional<HalfActivation> half_activation(std::string_view op) {
  constexpr std::pair<std::string_view, HalfActivation> kNames[] = {
      {"Relu", HalfActivation::kRelu},       {"LeakyRelu", HalfActivation::kLeakyRelu},
      {"Clip", HalfActivation::kClip},       {"Silu", HalfActivation::kSilu},
      {"Sigmoid", HalfActivation::kSigmoid}, {"HardSwish", HalfActivation::kHardSwish},
      {"Gelu", HalfActivation::kGelu},
  };
  for (const auto& [name, activation] : kNames)
    if (name == op) return activation;
  return std::nullopt;
}

FinishHalfTile half_epilogue_kernel(const HalfEpilogue& epilogue) {
  const FinishHalfTile own = avx512_tile(epilogue);
  return own != nullptr ? own : HWY_DYNAMIC_DISPATCH(kernel_of)(epilogue);
}

}  // namespace saccade::cpu
#endif
