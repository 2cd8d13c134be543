#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace saccade {

/// What a file holds, by its first bytes.
enum class FileKind {
  kJpeg,
  kPng,
  kOtherImage,  ///< a still image that FFmpeg decodes: BMP, WebP, TIFF, PNM
  kOther,       ///< a video, or nothing that we know
};

FileKind file_kind(std::span<const std::uint8_t> head);
/// The same of a file. Throws Error naming it where it is missing, empty, unreadable or no regular file.
FileKind file_kind(const std::string& path);

/// The number that ends a file's name ("000000000139.jpg": 139); -1 where there is none.
std::int64_t number_in_name(const std::string& path);

/// Above this many pixels a header is taken for damaged (2^28; larger sensors don't exist).
constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;

}  // namespace saccade
