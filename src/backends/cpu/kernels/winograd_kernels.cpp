#include "cpu/kernels/winograd_kernels.hpp"

#include <array>

#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/winograd_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/half_vectors-inl.hpp"
#include "cpu/kernels/vector_math-inl.hpp"

// Both transforms are the same one-dimensional one for columns, then rows. Even and odd powers of a point and its
// negative are shared. Bound: 144 operations per tile and vector of input channels, 146 per vector of output channels,
// and the bytes of L1.
HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t kInputs = WinogradKernels::kInputs;
constexpr std::size_t kOutputs = WinogradKernels::kOutputs;

constexpr auto kNear = static_cast<float>(WinogradKernels::kNear);
constexpr auto kFar = static_cast<float>(WinogradKernels::kFar);
constexpr float kNear2 = kNear * kNear;
constexpr float kFar2 = kFar * kFar;

HWY_INLINE void input_line(const Float (&d)[kInputs], Float (&t)[kInputs]) {
  const FloatTag tag;
  const Float near = hn::Set(tag, kNear);
  const Float far = hn::Set(tag, kFar);
  const Float near2 = hn::Set(tag, kNear2);
  const Float far2 = hn::Set(tag, kFar2);
  const Float squares = hn::Set(tag, kNear2 + kFar2);
  const Float even_near = hn::NegMulAdd(far2, d[2], d[4]);
  const Float odd_near = hn::NegMulAdd(far2, d[1], d[3]);
  const Float even_far = hn::NegMulAdd(near2, d[2], d[4]);
  const Float odd_far = hn::NegMulAdd(near2, d[1], d[3]);
  t[0] = hn::NegMulAdd(squares, d[2], hn::Add(d[0], d[4]));
  t[1] = hn::MulAdd(near, odd_near, even_near);
  t[2] = hn::NegMulAdd(near, odd_near, even_near);
  t[3] = hn::MulAdd(far, odd_far, even_far);
  t[4] = hn::NegMulAdd(far, odd_far, even_far);
  t[5] = hn::NegMulAdd(squares, d[3], hn::Add(d[1], d[5]));
}

HWY_INLINE void output_line(const Float (&m)[kInputs], Float (&y)[kOutputs]) {
  const FloatTag tag;
  const Float even_near = hn::Add(m[1], m[2]);
  const Float odd_near = hn::Sub(m[1], m[2]);
  const Float even_far = hn::Add(m[3], m[4]);
  const Float odd_far = hn::Sub(m[3], m[4]);
  y[0] = hn::Add(hn::Add(m[0], even_near), even_far);
  y[1] = hn::MulAdd(hn::Set(tag, kNear), odd_near, hn::Mul(hn::Set(tag, kFar), odd_far));
  y[2] = hn::MulAdd(hn::Set(tag, kNear2), even_near, hn::Mul(hn::Set(tag, kFar2), even_far));
  y[3] = hn::MulAdd(hn::Set(tag, kNear2 * kNear), odd_near, hn::MulAdd(hn::Set(tag, kFar2 * kFar), odd_far, m[5]));
}

/// One vector of channels; LOAD(pixel) reads it.
template <typename Load>
HWY_INLINE void input_vector(const Load& load, float* to, std::size_t step) {
  const FloatTag d;
  Float half[kInputs][kInputs];  // by row, column
  for (std::size_t x = 0; x < kInputs; ++x) {
    Float line[kInputs];
    Float transformed[kInputs];
    for (std::size_t y = 0; y < kInputs; ++y) line[y] = load(y * kInputs + x);
    input_line(line, transformed);
    for (std::size_t y = 0; y < kInputs; ++y) half[y][x] = transformed[y];
  }
  for (std::size_t y = 0; y < kInputs; ++y) {
    Float transformed[kInputs];
    input_line(half[y], transformed);
    for (std::size_t x = 0; x < kInputs; ++x) hn::StoreU(transformed[x], d, to + (y * kInputs + x) * step);
  }
}

void transform_input(const float* const* pixels, std::size_t channels, float* to, std::size_t step) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t c = 0;
  for (; c + lanes <= channels; c += lanes)
    input_vector([&](std::size_t i) { return hn::LoadU(d, pixels[i] + c); }, to + c, step);
  if (c < channels)
    input_vector([&](std::size_t i) { return load_tail(d, pixels[i] + c, channels - c); }, to + c, step);
}

void transform_half_input(const std::uint16_t* const* pixels, std::size_t channels, float* to, std::size_t step) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  std::size_t c = 0;
  for (; c + lanes <= channels; c += lanes)
    input_vector([&](std::size_t i) { return load_half(pixels[i] + c); }, to + c, step);
  if (c < channels)
    input_vector([&](std::size_t i) { return load_half_tail(pixels[i] + c, channels - c); }, to + c, step);
}

/// One vector of channels; STORE(pixel, vector) writes it. Returns a vector of zeros if all elements are finite.
template <typename Store>
HWY_INLINE Float output_vector(const float* from, std::size_t step, Float bias, const Store& store) {
  const FloatTag d;
  Float half[kOutputs][kInputs];
  for (std::size_t x = 0; x < kInputs; ++x) {
    Float line[kInputs];
    Float transformed[kOutputs];
    for (std::size_t y = 0; y < kInputs; ++y) line[y] = hn::LoadU(d, from + (y * kInputs + x) * step);
    output_line(line, transformed);
    for (std::size_t y = 0; y < kOutputs; ++y) half[y][x] = transformed[y];
  }
  const Float zero = hn::Zero(d);
  Float check = zero;
  for (std::size_t y = 0; y < kOutputs; ++y) {
    Float transformed[kOutputs];
    output_line(half[y], transformed);
    for (std::size_t x = 0; x < kOutputs; ++x) {
      const Float element = hn::Add(transformed[x], bias);
      check = hn::MulAdd(element, zero, check);
      store(y * kOutputs + x, element);
    }
  }
  return check;
}

bool transform_output(const float* from, std::size_t step, std::size_t channels, const float* bias,
                      float* const* pixels) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  Float check = hn::Zero(d);
  std::size_t c = 0;
  for (; c + lanes <= channels; c += lanes)
    check = hn::Add(check, output_vector(from + c, step, hn::LoadU(d, bias + c),
                                         [&](std::size_t i, Float v) { hn::StoreU(v, d, pixels[i] + c); }));
  if (c < channels) {
    const std::size_t left = channels - c;
    const Float last = output_vector(from + c, step, load_tail(d, bias + c, left),
                                     [&](std::size_t i, Float v) { store_tail(d, v, pixels[i] + c, left); });
    check = hn::Add(check, hn::IfThenElseZero(hn::FirstN(d, left), last));
  }
  return hn::AllTrue(d, hn::Eq(check, hn::Zero(d)));
}

const WinogradKernels& kernels() {
  static constexpr WinogradKernels kKernels{transform_input, transform_half_input, transform_output};
  return kKernels;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace saccade::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade::cpu {
namespace {
HWY_EXPORT(kernels);

constexpr std::size_t kTaps = 3;

/// One element of each filter.
using Elements = std::array<double, kWinogradFilters>;

/// The values of a line of a filter, as a polynomial, at the points, over the product of a point's distances to the
/// others.
void filter_line(const Elements* const (&line)[kTaps], Elements* const (&values)[WinogradKernels::kInputs]) {
  constexpr double kNear = WinogradKernels::kNear;
  constexpr double kFar = WinogradKernels::kFar;
  const auto evaluate = [&](double point, double other, Elements& above, Elements& below) {
    const double scale = 1 / (2 * point * point * (point * point - other * other));
    for (std::size_t j = 0; j < kWinogradFilters; ++j) {
      const double even = scale * ((*line[0])[j] + point * point * (*line[2])[j]);
      const double odd = scale * point * (*line[1])[j];
      above[j] = even + odd;
      below[j] = even - odd;
    }
  };
  *values[0] = *line[0];
  evaluate(kNear, kFar, *values[1], *values[2]);
  evaluate(kFar, kNear, *values[3], *values[4]);
  *values[5] = *line[2];
}

}  // namespace

const WinogradKernels& winograd_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

void winograd_filters(const float* filters, std::size_t apart, std::size_t count, float* to, std::size_t step) {
  constexpr std::size_t kInputs = WinogradKernels::kInputs;
  Elements filter[kTaps][kTaps] = {};
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t i = 0; i < kTaps * kTaps; ++i)
      filter[i / kTaps][i % kTaps][j] = static_cast<double>(filters[j * apart + i]);
  Elements half[kInputs][kTaps];
  for (std::size_t x = 0; x < kTaps; ++x)
    filter_line({&filter[0][x], &filter[1][x], &filter[2][x]},
                {&half[0][x], &half[1][x], &half[2][x], &half[3][x], &half[4][x], &half[5][x]});
  for (std::size_t y = 0; y < kInputs; ++y) {
    Elements values[kInputs];
    filter_line({&half[y][0], &half[y][1], &half[y][2]},
                {&values[0], &values[1], &values[2], &values[3], &values[4], &values[5]});
    for (std::size_t x = 0; x < kInputs; ++x)
      for (std::size_t j = 0; j < count; ++j) to[(y * kInputs + x) * step + j] = static_cast<float>(values[x][j]);
  }
}

}  // namespace saccade::cpu
#endif
