#pragma once

#include <memory>
#include <span>
#include <string>

#include "saccade/camera.hpp"
#include "saccade/frame.hpp"
#include "saccade/model.hpp"
#include "saccade/results.hpp"
#include "saccade/summary.hpp"

namespace saccade {

/// Where results go. Opening creates the file, so that an unwritable one is found before the first frame is read.
/// A sink whose close() was not called leaves what it wrote so far. One thread at a time.
class Sink {
 public:
  virtual ~Sink() = default;
  /// RESULT and the pixels that it is about. Throws Error (kIo) naming the file.
  virtual void write(const Result& result, const FrameView& frame) = 0;
  /// Finishes the file; nothing may be written after it. Throws Error (kIo).
  virtual void close(const Summary& summary) = 0;
};

/// One JSON object a line and result, the summary last. PATH "-" is standard output. Throws Error (kIo).
std::unique_ptr<Sink> open_jsonl(const std::string& path);
/// One line a detection or class, under a line of column names. Throws Error (kIo).
std::unique_ptr<Sink> open_csv(const std::string& path);
/// COCO's results format: a list of {image_id, category_id, bbox [x, y, width, height], score}. image_id is the number
/// in the image's file name, else the frame's; categories are numbered as COCO does where a model's labels are COCO's,
/// else by class id. Throws Error (kIo), and (kInvalidArgument) for a model that does not detect.
std::unique_ptr<Sink> open_coco(const std::string& path, std::span<const Model> models);
/// The frames with the results drawn on them, as a video of the cameras' rate; several cameras make a file each, named
/// by their place: out.mp4, out-1.mp4, ... All frames of one camera must be of one size. Throws Error.
std::unique_ptr<Sink> open_video(const std::string& path, std::span<const Camera> cameras);
/// The same as pictures FOLDER/STREAM-FRAME.jpg; the folder is made where it is missing. Throws Error.
std::unique_ptr<Sink> open_frames(const std::string& folder);

}  // namespace saccade
