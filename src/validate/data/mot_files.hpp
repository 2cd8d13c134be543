#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// A line of gt.txt.
struct MotObject {
  std::int64_t id = 0;
  std::array<double, 4> box{};  ///< x1, y1, x2, y2 in pixels
  int class_number = 1;         ///< from 1
  bool counts = true;           ///< false: predictions of it are ignored
};

/// A video with the truth of each frame.
struct MotSequence {
  std::string name;
  std::vector<std::filesystem::path> images;
  std::vector<std::vector<MotObject>> frames;  ///< as many
  double frame_rate = 0;                       ///< 0: unknown
};

/// Sequences in the layout of MOTChallenge (A. Milan et al., "MOT16: a benchmark for multi-object tracking", 2016).
struct MotFiles {
  std::vector<MotSequence> sequences;  ///< by name
  /// Of gt/labels.txt, as CVAT writes it; empty: MOTChallenge's.
  std::vector<std::string> labels;
};

/// Reads the sequence FOLDER, or those in it: gt/gt.txt, the images of img1 or of what seqinfo.ini names, which also
/// has the frame rate, and gt/labels.txt. Throws Error (kNotFound, kInvalidFile, kIo) naming the file, and its line.
MotFiles read_mot(const std::filesystem::path& folder);

}  // namespace saccade
