#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tensor/frame.hpp"

namespace saccade::v4l2 {

/// A format of cameras that can be read.
struct CameraFormat {
  std::uint32_t code = 0;             ///< V4L2's
  std::string_view name;              ///< "YUYV", as in a URI
  std::optional<PixelFormat> pixels;  ///< nothing: JPEG, whose planes say what they are
  double bus_bytes = 0;               ///< bytes per pixel on the bus; an estimate for JPEG
  double decoding_ns = 0;             ///< of one pixel by one thread
  bool has_color = true;

  bool is_compressed() const { return !pixels; }
};

/// All of them, preferred ones first where nothing else differs.
std::span<const CameraFormat> camera_formats();
/// Null: none of that code.
const CameraFormat* find_format(std::uint32_t code);
/// By its name or V4L2's four characters, in capitals or not. Null: none.
const CameraFormat* find_format(std::string_view name);
/// The four characters of a format's CODE, as 'YUYV'; unprintable ones as dots.
std::string four_characters(std::uint32_t code);

}  // namespace saccade::v4l2
