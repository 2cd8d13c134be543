#include "pipeline/sinks/drawn_frame.hpp"

#include <exception>

#include "media/convert.hpp"

namespace saccade {

void DrawnFrame::show(const FrameView& frame) {
  const int pitch = 3 * frame.width;
  pixels_.resize(static_cast<std::size_t>(pitch) * static_cast<std::size_t>(frame.height));
  view_ = {pixels_.data(), pitch, frame.width, frame.height};
  to_rgb(frame, view_);
}

void DrawnFrame::add(const Result& result, const FrameView& frame) {
  // Results arrive in model order: a model that does not follow the last one belongs to another frame.
  std::exception_ptr failure;
  if (last_model_ >= 0 && (result.frame != frame_ || result.model_index <= last_model_)) {
    try {
      finish();
    } catch (...) {
      // This frame is drawn all the same: an error is of the frame before, and no frame without one counts as written.
      failure = std::current_exception();
    }
  }
  if (last_model_ < 0) {
    show(frame);
    results_ = 0;
    frame_ = result.frame;
    timestamp_ns_ = result.timestamp_ns;
  }
  last_model_ = result.model_index;
  ++results_;
  if (result.image.width > 0) show(result.image);
  drawer_->draw(result, view_);
  if (failure != nullptr) std::rethrow_exception(failure);
}

void DrawnFrame::finish() {
  if (last_model_ < 0) return;
  last_model_ = -1;
  done_(*this);
}

}  // namespace saccade
