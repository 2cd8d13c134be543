#include "cpu/kernels/transpose_kernels.hpp"
#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/transpose_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void transpose_4x4(const std::uint32_t* src, std::int64_t src_stride, std::uint32_t* dst,
                              std::int64_t dst_stride) {
  for (std::int64_t c = 0; c < 4; ++c)
    for (std::int64_t r = 0; r < 4; ++r) dst[c * dst_stride + r] = src[r * src_stride + c];
}
#else
/// Four rows of four, transposed in registers.
HWY_INLINE void transpose_4x4(const std::uint32_t* src, std::int64_t src_stride, std::uint32_t* dst,
                              std::int64_t dst_stride) {
  const hn::FixedTag<std::uint32_t, 4> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const auto r0 = hn::LoadU(d, src);
  const auto r1 = hn::LoadU(d, src + src_stride);
  const auto r2 = hn::LoadU(d, src + 2 * src_stride);
  const auto r3 = hn::LoadU(d, src + 3 * src_stride);
  const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, low01, low23)), d, dst);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23)), d, dst + dst_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, high01, high23)), d, dst + 2 * dst_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23)), d, dst + 3 * dst_stride);
}
#endif

void transpose(const std::uint32_t* src, std::int64_t src_stride, std::uint32_t* dst, std::int64_t dst_stride,
               std::int64_t rows, std::int64_t columns) {
  const std::int64_t whole_rows = rows / 4 * 4;
  const std::int64_t whole_columns = columns / 4 * 4;
  for (std::int64_t c = 0; c < whole_columns; c += 4)
    for (std::int64_t r = 0; r < whole_rows; r += 4)
      transpose_4x4(src + r * src_stride + c, src_stride, dst + c * dst_stride + r, dst_stride);
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = c < whole_columns ? whole_rows : 0; r < rows; ++r)
      dst[c * dst_stride + r] = src[r * src_stride + c];
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace saccade::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade::cpu {
namespace {
HWY_EXPORT(transpose);
}  // namespace

void transpose_block(const std::uint32_t* src, std::int64_t src_stride, std::uint32_t* dst, std::int64_t dst_stride,
                     std::int64_t rows, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose)(src, src_stride, dst, dst_stride, rows, columns);
}

}  // namespace saccade::cpu
#endif
