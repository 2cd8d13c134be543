#pragma once

#include <cstdint>

namespace saccade::cpu {

/// Transposes a block of elements of 4 or 2 bytes: dst[c * dst_stride + r] = src[r * src_stride + c], r < ROWS,
/// c < COLUMNS.
void transpose_block(const std::uint32_t* src, std::int64_t src_stride, std::uint32_t* dst, std::int64_t dst_stride,
                     std::int64_t rows, std::int64_t columns);
void transpose_block(const std::uint16_t* src, std::int64_t src_stride, std::uint16_t* dst, std::int64_t dst_stride,
                     std::int64_t rows, std::int64_t columns);

}  // namespace saccade::cpu
