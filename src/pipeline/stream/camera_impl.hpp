#pragma once

#include <atomic>
#include <memory>

#include "media/source.hpp"
#include "saccade/camera.hpp"

namespace saccade {

class Camera::Impl {
 public:
  explicit Impl(std::unique_ptr<Source> source);

  Source& source() { return *source_; }
  const CameraInfo& info() const { return info_; }
  /// Acquires the source for one pipeline. Throws Error if it is already in use.
  void take();

 private:
  std::unique_ptr<Source> source_;
  CameraInfo info_;
  std::atomic<bool> taken_{false};
};

}  // namespace saccade
