#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saccade/frame.hpp"
#include "saccade/model.hpp"
#include "saccade/results.hpp"
#include "saccade/rotation.hpp"
#include "saccade/source.hpp"
#include "saccade/summary.hpp"

namespace saccade {

/// A consumer of results. Opening a sink creates its file, so that an unwritable one fails before the first frame. A
/// sink without close() leaves what it wrote so far. One thread at a time.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Writes RESULT and the pixels of its frame. Throws Error (kIo) with the file's name.
  virtual void write(const Result& result, const FrameView& frame) = 0;
  /// Whether write() reads the pixels. If so, those that a GPU has decoded are copied to the host; else the samples of
  /// such a frame are MemoryKind::kDevice. Always the same. Any thread.
  virtual bool reads_pixels() const { return true; }
  /// Completes the file; no writes may follow. Throws Error (kIo).
  virtual void close(const Summary& summary) = 0;
  /// Results that were accepted by write() and then dropped, because they could not be sent in time. Any thread.
  virtual std::int64_t dropped() const { return 0; }
  /// Results that were accepted by write() and could not be written after all, because the format can't hold them. Any
  /// thread.
  virtual std::int64_t failed() const { return 0; }
};

/// Options of open_jsonl().
struct JsonlOptions {
  bool contours = false;  ///< also write the contours of masks ("contours")
  bool results = true;    ///< write results; if not, only the events of zones
  bool summary = true;    ///< end with the summary
  Rotation rotation;      ///< the summary ends the last file
};

/// JSON lines: one object per result, followed by one per event of its zones; the summary last unless OPTIONS omit it.
/// A line has the contents of its result. PATH "-" is standard output. Throws Error (kIo).
std::unique_ptr<Sink> open_jsonl(const std::string& path, const JsonlOptions& options = {});
/// CSV: one row per object, class, segment, depth map or line of text, after a header. An object's row has its best
/// class and its text by a second model. Embeddings are not written; a warning says so for those of objects. With
/// ROTATION, each file has the header. Throws Error (kIo), and (kInvalidArgument) if one of MODELS has the task kEmbed.
std::unique_ptr<Sink> open_csv(const std::string& path, std::span<const Model> models = {},
                               const Rotation& rotation = {});
/// COCO's results format: a list of {image_id, category_id, bbox [x, y, width, height], score}, with segmentation (RLE)
/// for masks and keypoints [x, y, 2, ...]. image_id is the number in the image's file name, else the frame's. Category
/// IDs are COCO's if the model's labels are, else class IDs. With ROTATION, each file is a list. Throws Error (kIo),
/// (kInvalidArgument) for a model without detections, and (kConflict) if two frames of SOURCES have the same image_id.
std::unique_ptr<Sink> open_coco(const std::string& path, std::span<const Model> models, std::span<const Source> sources,
                                const Rotation& rotation = {});

/// By class ID, the category IDs that open_coco() writes for MODEL: COCO's if its labels are COCO's or only "person",
/// else the class IDs. Throws Error as Model::task() does. Any thread.
std::vector<int> coco_categories(const Model& model);

/// Tracks in MOTChallenge's format for results: a line "frame,id,left,top,width,height,confidence,-1,-1,-1" for each
/// detection on a confirmed track, with frames from 1 and pixels from 0. Several sources have one file each: out.txt,
/// out-1.txt, ... Throws Error (kIo), and (kInvalidArgument) unless exactly one of MODELS tracks objects.
std::unique_ptr<Sink> open_mot(const std::string& path, std::span<const Model> models, std::span<const Source> sources);

/// Options of open_yolo().
struct YoloOptions {
  bool confidence = false;  ///< append it to each line
};

/// Labels in Ultralytics' format, one text file per frame: FOLDER/NAME.txt after the image's file name, else
/// FOLDER/STREAM-FRAME.txt. A line is an object: its class ID and, normalized to the frame's size, its box (centre and
/// size), the corners of its oriented box, or the contour of its mask, then its keypoints (x, y, confidence), and its
/// track ID; for a classifier, confidence and name. With several sources NAME is prefixed with their index; several
/// models have separate folders, FOLDER/INDEX-MODEL. Throws Error (kIo), and (kInvalidArgument) for a model without
/// objects and classes.
std::unique_ptr<Sink> open_yolo(const std::string& folder, std::span<const Model> models, std::size_t sources,
                                const YoloOptions& options = {});

/// Video of the frames with the results drawn, at the sources' frame rate. Several sources have one file each: out.mp4,
/// out-1.mp4, ... With ROTATION, each of them rotates on its own; every file is a whole video that starts at time 0,
/// and has the frame size of its first frame. If the process is killed, the file plays up to half a second before that
/// point (AVI: in players that do not need its index). A frame of another size than its source's first, or too large
/// for the encoder, is skipped; close() reports it as an Error (kUnsupported). Throws Error.
std::unique_ptr<Sink> open_video(const std::string& path, std::span<const Source> sources,
                                 const Rotation& rotation = {});

/// A sink that writes one file, or a series of it.
class FileSink : public Sink {
 public:
  /// As it was given, with the source's number.
  virtual const std::string& path() const = 0;
};

/// The videos of open_video(), each a sink of its own, for its PipelineSink::stream: one that fails, or whose disk is
/// slow, costs no other's frames. In the order of the sources.
std::vector<std::unique_ptr<FileSink>> open_videos(const std::string& path, std::span<const Source> sources,
                                                   const Rotation& rotation = {});

/// A sink that sends to a server.
class NetworkSink : public Sink {
 public:
  /// Of the server, without passwords.
  virtual const std::string& address() const = 0;
};

/// Publishes the frames of the source with the index STREAM with the results of the MODELS drawn at URL: rtsp, rtsps,
/// rtmp, rtmps or srt, H.264. "{stream}" in it is the index, which several sources need; options follow a '#', as in
/// Source::open(). It connects at the first frame, and again after an error. write() blocks while the server does, at
/// most for the URL's timeout: give it a PipelineSink of its own, with its PipelineSink::stream. Throws Error
/// (kInvalidArgument) for another scheme or option, and if the source is not live.
std::unique_ptr<NetworkSink> open_publish(const std::string& url, std::size_t stream, std::span<const Source> sources,
                                          std::size_t models);

/// Options of open_preview().
struct PreviewOptions {
  std::string host = "127.0.0.1";  ///< an IP address of this machine; "0.0.0.0" and "::": all of them
  int port = 0;                    ///< 0: any free one
  std::string certificate;         ///< PEM file: TLS with this chain of certificates; empty: no TLS
  std::string key;                 ///< PEM file of its private key, without password
  /// Clients send it: "Authorization: Bearer", or as the password of HTTP's Basic authentication with any user. Empty:
  /// they need not.
  std::string token;
  std::size_t viewers = 16;  ///< of all streams; others get the status 503
  /// The summary of the run, whose ledgers are shown; nothing before it begins. Called by threads of the server as long
  /// as a sink exists. Empty: no ledger is shown.
  std::function<std::optional<Summary>()> summary;
};

/// Serves a page with the frames of SOURCES with the results of the MODELS drawn: "/", "/stream/N.mjpg" (MJPEG),
/// "/stream/N.jpg" (the next frame) and "/status.json". One sink per source, for its PipelineSink::stream: address() is
/// that of the page. Frames are drawn while someone watches, at most 25 a second. A viewer gets the newest frame when
/// it can take it: a slow one misses the others. Throws Error (kIo) naming the address if it cannot be used,
/// (kInvalidFile) naming the certificate or key.
std::vector<std::unique_ptr<NetworkSink>> open_preview(const PreviewOptions& options, std::span<const Source> sources,
                                                       std::size_t models);

/// Publishes the lines of open_jsonl() without the summary at the MQTT broker of URL,
/// mqtt://[USER:PASSWORD@]HOST[:PORT]/TOPIC (mqtts: TLS, with the system's certificates), one message a line.
/// "{stream}" in TOPIC is the index of the source; options follow a '#': qos=0|1|2, backlog=1000, timeout=5s,
/// client=NAME. It connects on a thread of its own, and again after an error. While it is not connected, BACKLOG lines
/// are kept; older ones are dropped(). Throws Error (kInvalidArgument) for a URL that is none, and (kNotFound) without
/// libmosquitto.
std::unique_ptr<NetworkSink> open_mqtt(const std::string& url, const JsonlOptions& options = {});

/// Shows the newest frame of each of SOURCES with the results of the MODELS drawn in one window (SDL2). The space bar
/// holds the image. CLOSE is called by the window's thread when a person closes it, also by q or Escape. One sink per
/// source, for its PipelineSink::stream. Throws Error (kDevice) without a display, and (kNotFound) without SDL2.
std::vector<std::unique_ptr<Sink>> open_show(std::span<const Source> sources, std::size_t models,
                                             std::function<void()> close);

/// Frames with the results drawn, as images FOLDER/STREAM-FRAME.jpg; a missing folder is created. Depth maps,
/// STREAM-FRAME.depth.npy (float32, NaN outside the model's input), and class maps, STREAM-FRAME.classes.png (8 bits
/// per pixel: the class ID, 255 outside the model's input or where a NaN leaves no class), are written beside them at
/// the frame's size. Those of the second model are named ...depth-1.npy and so on. What a format cannot hold (a JPEG
/// side above 65500 pixels, a class ID above 254) is skipped; close() reports it as an Error (kUnsupported). Throws
/// Error.
std::unique_ptr<Sink> open_frames(const std::string& folder);

/// A sink that makes its own folders.
class FolderSink : public Sink {
 public:
  /// The folders made so far, in the order of the sources.
  virtual const std::vector<std::string>& folders() const = 0;
};

/// The frames of each source with the results drawn, in a new folder ROOT/NAME, where NAME is the source's file or
/// folder without its extension: images as IMAGE.jpg, a video or a scene as NAME.mp4. A folder that exists is left
/// alone: the next one is NAME-2; so are sources of one name, in their order. Folders are made at the first frame of
/// their source. A source that never ends (live, or a scene without `frames`) is written only if ENDLESS. What a format
/// can't hold is skipped, as by open_frames() and open_video(). write() throws Error (kIo).
std::unique_ptr<FolderSink> open_drawn(const std::string& root, std::span<const Source> sources, bool endless);

}  // namespace saccade
