#include "ffmpeg/network_reader.hpp"
#include "ffmpeg/video_reader.hpp"
#include "ffmpeg/video_writer.hpp"
#include "media/modules.hpp"

namespace saccade {
namespace {

constexpr FfmpegModule kModule = {open_video, open_network, open_writer, push_video};

}  // namespace
}  // namespace saccade

extern "C" const saccade::FfmpegModule* saccade_module_ffmpeg() { return &saccade::kModule; }
