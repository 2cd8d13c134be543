#include "base/error.hpp"
#include "pipeline/stream/camera_impl.hpp"

namespace saccade {

Camera::Impl::Impl(std::unique_ptr<Source> source) : source_(std::move(source)) {
  const SourceInfo& info = source_->info();
  info_ = {info.name, info.live, info.frame_rate, info.frames, info.width, info.height};
}

void Camera::Impl::take() {
  if (taken_.exchange(true))
    fail(ErrorCode::kInvalidArgument, "{} was already read by a pipeline; open it again", info_.name);
}

Camera Camera::open(const std::string& uri) { return Camera(std::make_shared<Impl>(open_source(uri))); }

const CameraInfo& Camera::info() const { return impl_->info(); }

}  // namespace saccade
