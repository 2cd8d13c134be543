#include "pipeline/picture.hpp"

#include "media/convert.hpp"

namespace saccade {

void Picture::begin(const Result& result, const FrameView& frame) {
  const int pitch = 3 * frame.width;
  pixels_.resize(static_cast<std::size_t>(pitch) * static_cast<std::size_t>(frame.height));
  view_ = {pixels_.data(), pitch, frame.width, frame.height};
  to_rgb(frame, view_);
  frame_ = result.frame;
  timestamp_ns_ = result.timestamp_ns;
}

void Picture::add(const Result& result, const FrameView& frame) {
  // Models answer in their order: one that does not come after the last belongs to another frame.
  if (last_model_ >= 0 && (result.frame != frame_ || result.model_index <= last_model_)) finish();
  if (last_model_ < 0) begin(result, frame);
  last_model_ = result.model_index;
  drawer_->draw(result, view_);
}

void Picture::finish() {
  if (last_model_ < 0) return;
  last_model_ = -1;
  done_(*this);
}

}  // namespace saccade
