#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "media/frame_reader.hpp"

namespace saccade::test {

/// RGB24 pixels owned by a test.
struct RgbImage {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;

  RgbImage(int w, int h) : width(w), height(h), rgb(3 * static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}

  std::uint8_t* at(int x, int y) { return rgb.data() + 3 * (static_cast<std::ptrdiff_t>(y) * width + x); }
  RgbView pixels() { return {rgb.data(), 3 * width, width, height}; }
  FrameView view() { return view_of(pixels()); }
};

/// Smooth in both directions, so that JPEG and H.264 keep it: red grows to the right, green downwards, blue is BLUE.
inline RgbImage gradient(int width, int height, std::uint8_t blue = 128) {
  RgbImage image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.at(x, y)[0] = static_cast<std::uint8_t>(255 * x / width);
      image.at(x, y)[1] = static_cast<std::uint8_t>(255 * y / height);
      image.at(x, y)[2] = blue;
    }
  }
  return image;
}

inline RgbImage flat(int width, int height, std::uint8_t r, std::uint8_t g, std::uint8_t b) {
  RgbImage image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.at(x, y)[0] = r;
      image.at(x, y)[1] = g;
      image.at(x, y)[2] = b;
    }
  }
  return image;
}

/// A JPEG with an EXIF block with ORIENTATION (below 256), big-endian.
inline std::string with_orientation(const std::string& jpeg, char orientation) {
  using namespace std::string_literals;
  const std::string tiff =
      "MM\0*\0\0\0\x08\0\x01"s + "\x01\x12\0\x03\0\0\0\x01\0"s + orientation + "\0\0"s + "\0\0\0\0"s;
  const std::string block = "Exif\0\0"s + tiff;
  const std::string size = {'\0', static_cast<char>(block.size() + 2)};
  return jpeg.substr(0, 2) + "\xFF\xE1" + size + block + jpeg.substr(2);
}

/// The bytes of a FILE, which must outlive them.
inline std::span<const std::uint8_t> bytes_of(const std::string& file) {
  return {reinterpret_cast<const std::uint8_t*>(file.data()), file.size()};
}

/// The result of reading to the end.
struct Reading {
  int frames = 0;
  int corrupt = 0;
  Status end = Status::kEnd;
  std::string message;          ///< of the end
  std::string corrupt_message;  ///< of the last corrupt frame
  std::vector<std::int64_t> timestamps;
};

inline Reading read_all(FrameReader& reader, FrameAllocator& allocator) {
  Reading reading;
  for (;;) {
    const Outcome<Frame> frame = reader.read(allocator);
    if (frame) {
      ++reading.frames;
      reading.timestamps.push_back(frame->timestamp_ns);
    } else if (frame.failure().status == Status::kCorrupt) {
      ++reading.corrupt;
      reading.corrupt_message = frame.failure().message;
    } else {
      reading.end = frame.failure().status;
      reading.message = frame.failure().message;
      return reading;
    }
  }
}

}  // namespace saccade::test
