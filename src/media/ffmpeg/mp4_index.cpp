#include "ffmpeg/mp4_index.hpp"

extern "C" {
#include <libavutil/mem.h>
}

#include <cstring>

#include "base/error.hpp"

namespace saccade {

void Mp4Index::Free::operator()(AVFormatContext* context) const noexcept {
  if (context->pb != nullptr) {
    av_freep(&context->pb->buffer);
    avio_context_free(&context->pb);
  }
  avformat_free_context(context);
}

Mp4Index::Mp4Index(const AVFormatContext& output) {
  constexpr int kBuffer = 65536;
  AVFormatContext* context = nullptr;
  int error = avformat_alloc_output_context2(&context, output.oformat, nullptr, nullptr);
  output_.reset(context);
  if (error >= 0) {
    auto* buffer = static_cast<unsigned char*>(av_malloc(kBuffer));
    if (buffer != nullptr) context->pb = avio_alloc_context(buffer, kBuffer, 1, this, nullptr, take, move);
    AVStream* stream = avformat_new_stream(context, nullptr);
    if (context->pb == nullptr || stream == nullptr) throw std::bad_alloc();
    const AVStream& like = *output.streams[0];
    error = avcodec_parameters_copy(stream->codecpar, like.codecpar);
    stream->time_base = like.time_base;
    stream->avg_frame_rate = like.avg_frame_rate;
  }
  if (error >= 0) error = avformat_write_header(context, nullptr);
  if (error < 0) fail(ErrorCode::kIo, "the index of a video can't be created: {}", reason(error));
}

Mp4Index::~Mp4Index() = default;

std::int64_t Mp4Index::add(AVPacket& packet, std::int64_t place) {
  avio_seek(output_->pb, place, SEEK_SET);
  const int error = av_write_frame(output_.get(), &packet);
  return error < 0 ? error : avio_tell(output_->pb);
}

std::string Mp4Index::finish(std::int64_t place) {
  avio_seek(output_->pb, place, SEEK_SET);
  kept_from_ = place;
  const int error = av_write_trailer(output_.get());
  avio_flush(output_->pb);
  return error < 0 ? std::string() : std::move(kept_);
}

int Mp4Index::take(void* self, std::uint8_t* bytes, int count) {
  auto& index = *static_cast<Mp4Index*>(self);
  if (index.at_ >= index.kept_from_) {
    const auto from = static_cast<std::size_t>(index.at_ - index.kept_from_);
    const auto size = static_cast<std::size_t>(count);
    if (index.kept_.size() < from + size) index.kept_.resize(from + size);
    std::memcpy(index.kept_.data() + from, bytes, size);
  }
  index.at_ += count;
  return count;
}

std::int64_t Mp4Index::move(void* self, std::int64_t offset, int whence) {
  if (whence != SEEK_SET) return -1;
  return static_cast<Mp4Index*>(self)->at_ = offset;
}

}  // namespace saccade
