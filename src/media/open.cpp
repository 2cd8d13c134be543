#include <filesystem>

#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "base/module.hpp"
#include "media/elementary.hpp"
#include "media/file_kind.hpp"
#include "media/image_list.hpp"
#include "media/modules.hpp"
#include "media/network/uri.hpp"
#include "media/synthetic.hpp"
#include "media/v4l2/camera.hpp"
#include "saccade/cameras.hpp"
#include "scene/options.hpp"

namespace saccade {
namespace {

void refuse_unsupported(const std::string& uri) {
  constexpr std::string_view kRemedy =
      "give an image, a folder of images, a video file, a camera, a network stream (rtsp, rtmp, srt, udp or http) or "
      "synthetic:";
  std::error_code error;
  if (uri.ends_with(".onnx") && std::filesystem::is_regular_file(uri, error))
    fail(ErrorCode::kInvalidArgument, "'{}' is a model, not a source; {}", uri, kRemedy);
  if (uri.find("://") != std::string::npos)
    fail(ErrorCode::kUnsupported, "'{}': this kind of source is not supported; {}", network::redact(uri), kRemedy);
}

/// Elementary streams that a GPU decodes need no library: without FFmpeg, they are read nevertheless.
std::unique_ptr<FrameReader> open_video_file(const std::string& path, const ReaderOptions& options) {
  try {
    return module<FfmpegModule>("ffmpeg").open_video(path, options);
  } catch (const Error& error) {
    const bool is_missing = error.code() == ErrorCode::kNotFound;
    if (!is_missing || options.decode == Decoding::kCpu || !elementary_codec(path)) throw;
  }
  return module<NvdecModule>("nvdec").open_elementary(path, options);
}

}  // namespace

std::unique_ptr<FrameReader> open_reader(const std::string& uri, const ReaderOptions& options) {
  if (uri.empty()) fail(ErrorCode::kInvalidArgument, "the source is empty; name an image, a folder or a video file");
  if (is_scene(uri)) return open_synthetic(uri);
  if (is_camera(uri)) return v4l2::open_camera(uri, {options.model_width, options.model_height});
  if (is_network(uri)) return module<FfmpegModule>("ffmpeg").open_network(uri, options);
  refuse_unsupported(uri);
  std::error_code error;
  if (std::filesystem::is_directory(uri, error)) return open_folder(uri, options);
  if (file_kind(uri) != FileKind::kOther) return open_image(uri, options);
  note_input(uri);
  return open_video_file(uri, options);
}

std::unique_ptr<VideoWriter> open_video_writer(const std::string& path, double frame_rate, OutputPath::Claim claim) {
  return module<FfmpegModule>("ffmpeg").open_writer(path, frame_rate, claim);
}

std::unique_ptr<VideoWriter> open_publisher(const std::string& url, double frame_rate) {
  return module<FfmpegModule>("ffmpeg").open_publisher(url, frame_rate);
}

void write_image(const std::string& path, const FrameView& frame) { module<ImagesModule>("images").write(path, frame); }

}  // namespace saccade
