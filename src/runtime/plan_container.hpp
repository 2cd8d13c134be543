#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace saccade {

// The container of a plan file. Numbers are little-endian:
//   0  8 bytes of magic
//   8  32-bit version of the format
//  12  digest() of the bytes from 44 to the blob
//  44  digest() of the blob
//  76  64-bit length of the header
//  84  64-bit length of the blob
//  92  the header (JSON), zeros up to a multiple of 64 bytes, the blob (constants, kernels, packed weights), the end
// The digests cover every byte: flipped, truncated or appended bytes are found before the contents are used. The header
// has its own digest, so that it can be read without the blob.

inline constexpr std::uint32_t kPlanVersion = 9;
inline constexpr std::size_t kPlanPrefix = 92;  ///< bytes before the header

/// Whether a file that starts with these bytes (at least 8) is a plan, of any version.
bool starts_plan(std::string_view start);

/// A plan file of a HEADER and a BLOB.
std::string seal_plan(std::string_view header, std::string_view blob);

/// The parts of a plan file.
struct PlanLayout {
  std::size_t header_bytes = 0;
  std::size_t blob = 0;  ///< offset
  std::size_t blob_bytes = 0;
};

/// Parses the first kPlanPrefix bytes of a plan of FILE_BYTES bytes. START may have more bytes, or fewer if the file
/// does. Throws Error (kInvalidFile) for another version or a wrong length.
PlanLayout plan_layout(std::string_view start, std::size_t file_bytes);
/// The header of a plan; START is everything before the blob. Throws Error (kInvalidFile) if it is damaged.
std::string_view plan_header(std::string_view start, const PlanLayout& layout);
/// The blob of a WHOLE plan file after plan_header(). Reads it in parts and calls AFTER_PART, if set, after each.
/// Throws Error (kInvalidFile) if it is damaged.
std::string_view plan_blob(std::string_view whole, const PlanLayout& layout,
                           const std::function<void()>& after_part = {});

}  // namespace saccade
