#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace saccade {

// The outside of a plan file, all numbers little-endian:
//   0  8 bytes of magic
//   8  32-bit version of the format
//  12  digest() of all from 44 up to the blob
//  44  digest() of the blob
//  76  64-bit length of the header
//  84  64-bit length of the blob
//  92  the header (JSON), zeros up to a multiple of 64 bytes, the blob (constants and kernels), the end
// So every byte counts: what was flipped, cut off or appended anywhere is found before any of it is believed. The
// header has a digest of its own, so that it can be read without the blob.

inline constexpr std::uint32_t kPlanVersion = 6;
inline constexpr std::size_t kPlanPrefix = 92;  ///< bytes before the header

/// Whether a file that starts with these bytes (8 or more) is a plan, of whichever version.
bool starts_plan(std::string_view start);

/// A plan file of a HEADER and a BLOB.
std::string seal_plan(std::string_view header, std::string_view blob);

/// Where a plan's parts lie.
struct PlanLayout {
  std::size_t header_bytes = 0;
  std::size_t blob = 0;  ///< where the blob begins
  std::size_t blob_bytes = 0;
};

/// The layout that the first kPlanPrefix bytes (START may hold more, or be a whole shorter file) of a plan of
/// FILE_BYTES bytes tell. Throws Error (kInvalidFile) where the version is another one, or the file is not as long as
/// it says.
PlanLayout plan_layout(std::string_view start, std::size_t file_bytes);
/// The header of a plan that starts with START, all before the blob. Throws Error (kInvalidFile) where it is damaged.
std::string_view plan_header(std::string_view start, const PlanLayout& layout);
/// The blob of a WHOLE plan whose header was looked at. Throws Error (kInvalidFile) where it is damaged.
std::string_view plan_blob(std::string_view whole, const PlanLayout& layout);

}  // namespace saccade
