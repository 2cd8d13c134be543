#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace saccade {

/// What is known of a source before its first frame.
struct CameraInfo {
  std::string name;          ///< as it was opened
  bool live = false;         ///< frames come whether or not anyone waits
  double frame_rate = 0;     ///< frames a second; 0: none (images) or not known
  std::int64_t frames = -1;  ///< how many there will be; -1: not known
  int width = 0;             ///< pixels of the first frame; 0: not known
  int height = 0;
};

/// A source of frames: an image, a folder of images, a video, a synthetic scene. Copies are handles of the same source,
/// which one pipeline reads once.
class Camera {
 public:
  /// Throws Error naming the file where it is missing, empty, damaged or of no known kind.
  static Camera open(const std::string& uri);

  const CameraInfo& info() const;

  class Impl;
  explicit Camera(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace saccade
