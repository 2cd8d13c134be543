#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// Transposes runs of pixels between rows and columns. The cost is proportional to the length of borders, not to areas.
/// Reuses its memory.
class RunTransposer {
 public:
  /// The pixels [first, last) on line `line`.
  struct Run {
    std::int32_t line = 0;
    std::int32_t first = 0;
    std::int32_t last = 0;
  };

  /// Starts an image with LINES lines of LENGTH pixels, which become LENGTH lines of LINES pixels.
  void begin(int lines, int length);
  /// Runs must be sorted by line, then `first`; runs of a line may be adjacent, but must not overlap. Clipped to the
  /// image.
  void add(Run run);
  void finish();

  /// The positions, in ascending order and even in number, where the transposed line at PLACE changes between outside
  /// and inside; `lines` is the end of the line. Valid until begin().
  std::span<const std::int32_t> changes(int place) const;

 private:
  void close_line();
  void keep(std::int32_t line, std::int32_t first, std::int32_t last);

  int lines_ = 0;
  int length_ = 0;
  std::int32_t line_ = 0;              ///< current line
  std::vector<std::int32_t> edges_;    ///< begin and end of each of its runs
  std::vector<std::int32_t> before_;   ///< of the previous line
  std::vector<Run> differences_;       ///< where a line differs from the previous one
  std::vector<std::int32_t> places_;   ///< index of the first change of each transposed line
  std::vector<std::int32_t> changes_;  ///< of all transposed lines
};

/// Converts masks to COCO run lengths and back: alternating numbers of pixels outside and inside, in column-major
/// order, outside first; as a list, or as the compressed text of pycocotools. Reuses its memory: a returned view is
/// valid until the next call of the same function.
class RunLengths {
 public:
  /// The run lengths of a mask clipped to WIDTH x HEIGHT; their sum is WIDTH * HEIGHT.
  std::span<const std::uint32_t> encode(std::span<const MaskRun> runs, int width, int height);
  /// The same as compressed text: "counts" of a COCO segmentation whose "size" is [HEIGHT, WIDTH].
  std::string_view encode_text(std::span<const MaskRun> runs, int width, int height);

  /// The mask of WIDTH x HEIGHT with the given COUNTS. Throws Error (kInvalidFile) if a count is negative, their sum is
  /// not WIDTH * HEIGHT, or the image is empty or has more than 2^28 pixels.
  Mask decode(std::span<const std::int64_t> counts, int width, int height);
  /// The same from compressed text. Throws Error (kInvalidFile) also if it is malformed.
  Mask decode(std::string_view text, int width, int height);

 private:
  void unpack(std::string_view text);
  void split_into_columns(std::span<const std::int64_t> counts, int width, int height);

  RunTransposer transposer_;
  std::vector<std::uint32_t> counts_;
  std::vector<char> text_;
  std::vector<std::int64_t> unpacked_;
  std::vector<MaskRun> runs_;
};

}  // namespace saccade
