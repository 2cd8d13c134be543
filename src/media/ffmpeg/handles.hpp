#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <memory>
#include <string>

namespace saccade {

/// FFmpeg frees through a pointer to the pointer.
template <auto kFree>
struct AvDeleter {
  template <typename T>
  void operator()(T* object) const noexcept {
    kFree(&object);
  }
};

using AvInput = std::unique_ptr<AVFormatContext, AvDeleter<avformat_close_input>>;
using AvCodec = std::unique_ptr<AVCodecContext, AvDeleter<avcodec_free_context>>;
using AvFrame = std::unique_ptr<AVFrame, AvDeleter<av_frame_free>>;
using AvPacket = std::unique_ptr<AVPacket, AvDeleter<av_packet_free>>;

/// From here on FFmpeg's messages go to no terminal; each thread keeps its last one for reason(). Idempotent.
void catch_messages();
/// FFmpeg's words for an error, with this thread's last message where there is one; forgets that message.
std::string reason(int error);
/// Forgets this thread's last message, so that reason() can't give an older one.
void forget_message();

}  // namespace saccade
