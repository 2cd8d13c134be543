#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "media/convert.hpp"
#include "media/ffmpeg/handles.hpp"
#include "media/images.hpp"

namespace saccade::test {

inline void check_av(int error) {
  if (error < 0) throw std::runtime_error("FFmpeg refused: " + std::to_string(error));
}

/// A file of one video stream, written by FFmpeg's muxer for FORMAT with OPTIONS ("live=1").
class Muxer {
 public:
  Muxer(const std::string& path, const char* format, const AVCodecParameters& parameters, AVRational unit,
        const char* options = "") {
    check_av(avformat_alloc_output_context2(&output_, nullptr, format, path.c_str()));
    AVStream* stream = avformat_new_stream(output_, nullptr);
    check_av(avcodec_parameters_copy(stream->codecpar, &parameters));
    stream->codecpar->codec_tag = 0;
    stream->time_base = unit_ = unit;
    check_av(avio_open(&output_->pb, ("file:" + path).c_str(), AVIO_FLAG_WRITE));
    AVDictionary* entries = nullptr;
    av_dict_parse_string(&entries, options, "=", ",", 0);
    check_av(avformat_write_header(output_, &entries));
    av_dict_free(&entries);
  }
  ~Muxer() {
    av_write_trailer(output_);
    avio_closep(&output_->pb);
    avformat_free_context(output_);
  }
  Muxer(const Muxer&) = delete;
  Muxer& operator=(const Muxer&) = delete;

  void write(AVPacket& packet) {
    packet.stream_index = 0;
    av_packet_rescale_ts(&packet, unit_, output_->streams[0]->time_base);
    check_av(av_interleaved_write_frame(output_, &packet));
  }

 private:
  AVFormatContext* output_ = nullptr;
  AVRational unit_{};
};

/// The video of FROM in another container.
inline void remux(const std::string& from, const std::string& to, const char* format, const char* options = "") {
  AVFormatContext* context = nullptr;
  check_av(avformat_open_input(&context, ("file:" + from).c_str(), nullptr, nullptr));
  const AvInput input(context);
  check_av(avformat_find_stream_info(context, nullptr));
  Muxer muxer(to, format, *context->streams[0]->codecpar, context->streams[0]->time_base, options);
  const AvPacket packet(av_packet_alloc());
  while (av_read_frame(context, packet.get()) == 0) muxer.write(*packet);
}

/// How encode_video() encodes.
struct Encoding {
  int width = 160;
  int height = 128;
  const char* options = "";  ///< of the encoder: "bf=0,color_range=pc"
};

/// FRAMES with motion, 25 per second, encoded by CODEC with its default settings (B-frames, slices). False if this
/// FFmpeg lacks the encoder.
inline bool encode_video(const std::string& path, const char* format, const char* codec, int frames,
                         const char* options_of_format = "", const Encoding& encoding = {}) {
  const AVCodec* encoder = avcodec_find_encoder_by_name(codec);
  if (encoder == nullptr) return false;
  const int width = encoding.width;
  const int height = encoding.height;
  const AvCodec context(avcodec_alloc_context3(encoder));
  context->width = width;
  context->height = height;
  context->pix_fmt = AV_PIX_FMT_YUV420P;
  context->time_base = {1, 25};
  context->framerate = {25, 1};
  context->gop_size = 25;
  if ((av_guess_format(format, nullptr, nullptr)->flags & AVFMT_GLOBALHEADER) != 0)
    context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  context->thread_count = 1;
  AVDictionary* options = nullptr;
  check_av(av_dict_parse_string(&options, encoding.options, "=", ",", 0));
  if (codec == std::string_view("libx265")) av_dict_set(&options, "preset", "ultrafast", 0);
  av_dict_set(&options, "x265-params", "log-level=none:pools=1", 0);
  check_av(avcodec_open2(context.get(), encoder, &options));
  av_dict_free(&options);
  AVCodecParameters* parameters = avcodec_parameters_alloc();
  check_av(avcodec_parameters_from_context(parameters, context.get()));
  Muxer muxer(path, format, *parameters, context->time_base, options_of_format);
  avcodec_parameters_free(&parameters);
  const AvFrame image(av_frame_alloc());
  image->format = AV_PIX_FMT_YUV420P;
  image->width = width;
  image->height = height;
  check_av(av_frame_get_buffer(image.get(), 0));
  const AvPacket packet(av_packet_alloc());
  std::uint32_t random = 7;
  for (int i = 0; i <= frames; ++i) {
    if (i < frames) {
      check_av(av_frame_make_writable(image.get()));
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          random = random * 1664525U + 1013904223U;
          image->data[0][y * image->linesize[0] + x] =
              static_cast<std::uint8_t>(((x + 3 * i) ^ (y + i)) + static_cast<int>(random >> 29));
        }
      for (int plane = 1; plane < 3; ++plane)
        for (int y = 0; y < (height + 1) / 2; ++y)
          for (int x = 0; x < (width + 1) / 2; ++x)
            image->data[plane][y * image->linesize[plane] + x] = static_cast<std::uint8_t>(2 * x + i + 40 * plane);
      image->pts = i;
    }
    check_av(avcodec_send_frame(context.get(), i < frames ? image.get() : nullptr));
    while (avcodec_receive_packet(context.get(), packet.get()) == 0) {
      if (packet->duration == 0) packet->duration = 1;
      muxer.write(*packet);
    }
  }
  return true;
}

}  // namespace saccade::test
