#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace saccade {

/// Properties of a source that are known before its first frame.
struct SourceInfo {
  std::string name;          ///< as it was opened
  bool live = false;         ///< a camera: frames arrive whether they are read or not
  double frame_rate = 0;     ///< frames per second; 0: none (images) or unknown
  std::int64_t frames = -1;  ///< number of frames; -1: unknown
  int width = 0;             ///< of the first frame, in pixels; 0: unknown
  /// Of the first frame, in pixels; 0: unknown.
  int height = 0;
  std::vector<std::string> files;  ///< paths of images, one per frame, in order; empty for a video or a scene
};

class CustomSource;

/// A source of frames: an image, a folder of images, a video, a synthetic scene or a CustomSource. Copies are handles
/// to the same source. A source is read once, by one pipeline. Any thread.
class Source {
 public:
  /// Throws Error with the file's name if it is missing, empty, damaged or of an unknown kind.
  static Source open(const std::string& uri);
  /// The source that READER implements (saccade/custom_source.hpp). Throws Error (kInvalidArgument) if it is null.
  static Source from(std::unique_ptr<CustomSource> reader);

  /// Valid as long as a copy of this source exists.
  const SourceInfo& info() const;

 private:
  friend struct ImplAccess;
  class Impl;
  explicit Source(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace saccade
