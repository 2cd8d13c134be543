#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <memory>
#include <string>

namespace saccade {

/// FFmpeg's free functions take a pointer to the pointer.
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

/// Redirects FFmpeg's messages from the terminal: each thread keeps its last one for reason(). Idempotent.
void catch_messages();
/// FFmpeg's text for an error, with this thread's last message if there is one, without passwords; clears that message.
std::string reason(int error);
/// Clears this thread's last message, so that reason() cannot return an older one.
void forget_message();
/// Whether FFmpeg has missed packets of RTP on this thread since the last call: it says so in messages only.
bool take_losses();

}  // namespace saccade
