#include "serve/request_image.hpp"

#include "base/error.hpp"
#include "base/module.hpp"
#include "media/modules.hpp"

namespace saccade::serve {

bool RequestImage::decode(std::span<const std::uint8_t> file, std::int64_t most_pixels) {
  const auto reader = module<ImagesModule>("images").make_reader();
  Outcome<Frame> frame = reader->read(file, "the image", most_pixels, *this);
  if (!has_room_) return false;
  if (!frame) fail(ErrorCode::kInvalidFile, "{}", frame.failure().message);
  frame_ = std::move(*frame);
  return true;
}

FrameLease RequestImage::acquire(std::size_t bytes) {
  pending_ = regions_.reserve(bytes, working_bytes_);
  has_room_ = pending_ != nullptr;
  if (!has_room_) return {};
  buffer_.data = plain_frame_memory().allocate(bytes);
  buffer_.capacity = bytes;
  return {*this, buffer_};
}

void RequestImage::release(FrameBuffer& buffer) noexcept {
  plain_frame_memory().deallocate(buffer.data);
  buffer = {};
  pending_.reset();
}

void RequestImage::take(std::size_t bytes) {
  if (bytes == 0) return;
  working_bytes_ = bytes;
  working_ = regions_.reserve(bytes);
  has_room_ = working_ != nullptr;
  if (!has_room_) fail(ErrorCode::kUnsupported, "{} bytes are not free", bytes);
}

void RequestImage::give_back(std::size_t /*bytes*/) noexcept {
  working_.reset();
  working_bytes_ = 0;
}

}  // namespace saccade::serve
