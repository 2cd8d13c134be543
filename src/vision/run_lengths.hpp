#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// Runs of pixels along lines (rows or columns) turned into runs along the lines that cross them. What it costs goes
/// with the silhouettes' borders, not with their areas. Keeps its memory between calls.
class RunTransposer {
 public:
  /// From `first` up to, but not with, `last` on line `line`.
  struct Run {
    std::int32_t line = 0;
    std::int32_t first = 0;
    std::int32_t last = 0;
  };

  /// Starts an image in which LINES lines of LENGTH pixels run one way, and LENGTH lines of LINES pixels the other.
  void begin(int lines, int length);
  /// Sorted by line, then `first`; runs of a line may be adjacent, but do not overlap. What lies outside is cut off.
  void add(Run run);
  void finish();

  /// Where the crossing line at PLACE changes between outside and inside, rising and of an even number; `lines` is the
  /// end of the line. Valid until begin().
  std::span<const std::int32_t> changes(int place) const;

 private:
  void close_line();
  void keep(std::int32_t line, std::int32_t first, std::int32_t last);

  int lines_ = 0;
  int length_ = 0;
  std::int32_t line_ = 0;              ///< the one that is being added
  std::vector<std::int32_t> edges_;    ///< on it: where runs begin and end, in turns
  std::vector<std::int32_t> before_;   ///< on the line before
  std::vector<Run> differences_;       ///< where a line and the one before it are not the same
  std::vector<std::int32_t> places_;   ///< the first of each crossing line's changes
  std::vector<std::int32_t> changes_;  ///< of all crossing lines, one line after the other
};

/// Turns masks into COCO's run lengths and back: numbers of pixels outside and inside, in turns, down the columns of a
/// image one after the other, outside first; as a list, or as the text that pycocotools packs them into. Keeps its
/// memory between calls: what a call gives is valid until the next one of the same name.
class RunLengths {
 public:
  /// The run lengths of a mask of WIDTH x HEIGHT; they add up to it. What lies outside of the image is left out.
  std::span<const std::uint32_t> encode(std::span<const MaskRun> runs, int width, int height);
  /// The same packed: "counts" of a COCO segmentation, whose "size" is [HEIGHT, WIDTH].
  std::string_view encode_text(std::span<const MaskRun> runs, int width, int height);

  /// The mask of WIDTH x HEIGHT that COUNTS describe. Throws Error (kInvalidFile) where a count is negative or they do
  /// not add up to the image, and where the image itself has no size or more than 2^28 pixels.
  Mask decode(std::span<const std::int64_t> counts, int width, int height);
  /// The same of a packed text. Throws Error (kInvalidFile) also where it holds what no such text can hold.
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
