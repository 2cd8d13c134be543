#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace saccade {

/// Properties of a source that are known before its first frame.
struct SourceInfo {
  std::string name;          ///< as it was opened; of a network stream without passwords and options
  bool live = false;         ///< a camera or a network stream: frames arrive whether they are read or not
  double frame_rate = 0;     ///< frames per second; 0: none (images) or unknown
  std::int64_t frames = -1;  ///< number of frames; -1: unknown
  bool endless = false;      ///< it ends only when it is stopped: a scene without a length, SourceOptions::loop
  int width = 0;             ///< of the first frame, in pixels; 0: unknown
  /// Of the first frame, in pixels; 0: unknown.
  int height = 0;
  std::vector<std::string> files;  ///< paths of images, one per frame, in order; empty for a video or a scene
};

/// What decodes videos and network streams.
enum class Decoding : std::uint8_t {
  kAuto,  ///< the GPU that the models run on, where its decoder (NVDEC) supports the video; else the CPU
  kCpu,   ///< FFmpeg
  kCuda,  ///< NVDEC of the models' GPU, or of the first one; what it does not support is an error
};
/// "auto", "cpu", "cuda"
std::string_view to_string(Decoding decoding) noexcept;

/// How a source is read.
struct SourceOptions {
  /// A video or a scene at its own frame rate, as a camera: the source is live, and frames that are not taken in time
  /// are dropped and counted. Those of a pipeline begin together, once each has decoded a frame, or after a minute.
  bool realtime = false;
  /// A video or a scene begins again at its end; frame numbers and timestamps continue.
  bool loop = false;
  /// A camera that is missing, or a network stream that can't be opened, is no error: it is tried every 250 ms, or as a
  /// stream that was lost, until it arrives, and is StreamState::kConnecting until then. Its SourceInfo stays that of a
  /// live source of unknown size and rate. Other sources must be there.
  bool wait_for_source = false;
  /// Read it in a child process (saccade-source), so that a crash of its decoder costs only the frames there: the child
  /// is started again, and a file is read once more up to the frame after the last one. A frame that crashes the child
  /// three times counts as corrupt. Not for a CustomSource.
  bool isolate = false;
  /// Width of the model's input, in pixels: what a camera's URI leaves open is chosen for it. 0: 640.
  int model_width = 0;
  int model_height = 0;  ///< height of the model's input, in pixels; 0: 640
  /// Threads that decode each video; 0: two, or one where more sources are opened together than there are processors.
  int decode_threads = 0;
  /// Of videos and network streams. The pixels are the same; those of a GPU stay there: MemoryKind::kDevice.
  Decoding decode = Decoding::kAuto;
};

/// A source as a file lists it.
struct ListedSource {
  std::string uri;    ///< as Source::open() takes it
  std::string place;  ///< "FILE:LINE"; empty: it is in no file
};
/// The sources that the text file PATH lists, a URI a line. Blank lines and those that begin with '#' are ignored.
/// Throws Error naming the file.
std::vector<ListedSource> list_sources(const std::string& path);

class CustomSource;

/// A source of frames: an image, a folder of images, a video, a camera, a network stream, a synthetic scene or a
/// CustomSource. Copies are handles to the same source. A source is read once, by one pipeline. Any thread.
class Source {
 public:
  /// Throws Error with the file's name if it is missing, empty, damaged or of an unknown kind, or if OPTIONS are given
  /// for images. A network stream is rtsp, rtsps, rtmp, rtmps, srt, udp, http or https; its options follow a '#'. An
  /// error names it without passwords.
  static Source open(const std::string& uri, const SourceOptions& options = {});
  /// The source that READER implements (saccade/custom_source.hpp). Throws Error (kInvalidArgument) if it is null.
  static Source from(std::unique_ptr<CustomSource> reader);
  /// Opens URIS in their order, as `saccade run --source` does. One that names no file may be a pattern (*, ?, [...]):
  /// its matches, sorted by name, replace it. A folder gives its images as one source and each of its videos as
  /// another. Images of one folder that follow each other are one source. Throws Error as open() does, and for a
  /// pattern without a match and more than 256 sources.
  static std::vector<Source> open_all(const std::vector<std::string>& uris, const SourceOptions& options = {});
  /// The same for SOURCES. Those of a file are each a source of its own, and errors begin with their place.
  static std::vector<Source> open_listed(const std::vector<ListedSource>& sources, const SourceOptions& options = {});

  /// Valid as long as a copy of this source exists.
  const SourceInfo& info() const;

 private:
  friend struct ImplAccess;
  class Impl;
  explicit Source(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace saccade
