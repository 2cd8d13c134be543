#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace saccade {

/// Properties of a source that are known before its first frame.
struct CameraInfo {
  std::string name;          ///< as it was opened
  bool live = false;         ///< frames arrive in real time
  double frame_rate = 0;     ///< frames per second; 0: none (images) or unknown
  std::int64_t frames = -1;  ///< number of frames; -1: unknown
  int width = 0;             ///< of the first frame, in pixels; 0: unknown
  int height = 0;
};

/// A source of frames: an image, a folder of images, a video or a synthetic scene. Copies are handles to the same
/// source. A source is read once, by one pipeline.
class Camera {
 public:
  /// Throws Error with the file's name if it is missing, empty, damaged or of an unknown kind.
  static Camera open(const std::string& uri);

  const CameraInfo& info() const;

  class Impl;
  explicit Camera(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace saccade
