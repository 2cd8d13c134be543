#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "media/modules.hpp"

namespace saccade::nvdec {

/// What the units of a frame are.
struct UnitFacts {
  bool is_key = false;        ///< decoding can begin with it
  bool is_idr = false;        ///< no image from it on refers to one before it
  bool is_skippable = false;  ///< an image of HEVC that can't be decoded if decoding begins with the key frame before
};

/// Facts about a frame in Annex B format.
UnitFacts inspect_unit(std::span<const std::uint8_t> unit, ExactCodec codec);

/// An elementary stream in Annex B format (ITU-T H.264 and H.265): start codes and NAL units. It is read frame by
/// frame, in a buffer that grows with them. One thread.
class AnnexBFile {
 public:
  /// CODEC is H.264 or HEVC. Throws Error naming PATH if it can't be read, or has no start code.
  AnnexBFile(const std::string& path, ExactCodec codec);

  /// The next frame with the parameter sets before it; empty at the end. Valid until the next call. Throws Error naming
  /// the file if it can't be read, or a frame is larger than any video's.
  std::span<const std::uint8_t> next();
  /// Begins again.
  void rewind();

 private:
  bool fill();
  std::optional<std::size_t> find_start(std::size_t from);
  std::span<const std::uint8_t> take(std::size_t end);

  std::string path_;
  ExactCodec codec_;
  std::ifstream file_;
  std::vector<std::uint8_t> bytes_;
  std::size_t begin_ = 0;   ///< of the next frame within bytes_
  std::size_t filled_ = 0;  ///< bytes of bytes_
};

}  // namespace saccade::nvdec
