#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace saccade {

/// The type of a file, by its first bytes.
enum class FileKind {
  kJpeg,
  kPng,
  kOtherImage,  ///< a still image that FFmpeg decodes: BMP, WebP, TIFF, PNM
  kOther,       ///< a video, or unknown
};

FileKind file_kind(std::span<const std::uint8_t> head);
/// The type of the file at PATH. Throws Error naming it if it is missing, empty, unreadable or not a regular file.
FileKind file_kind(const std::string& path);

/// The number at the end of a file's name ("000000000139.jpg": 139); -1 if there is none.
std::int64_t number_in_name(const std::string& path);

/// Above this many pixels a header is considered damaged (2^28; larger sensors do not exist).
constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;

}  // namespace saccade
