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

struct JsonlOptions {
  bool contours = false;  ///< masks' outer borders too ("contours")
};

/// One JSON object a line and result, the summary last; what a result holds is what its line has. PATH "-" is standard
/// output. Throws Error (kIo).
std::unique_ptr<Sink> open_jsonl(const std::string& path, const JsonlOptions& options = {});
/// One line an object, class, segment or depth map, under a line of column names. Throws Error (kIo).
std::unique_ptr<Sink> open_csv(const std::string& path);
/// COCO's results format: a list of {image_id, category_id, bbox [x, y, width, height], score}, with segmentation (run
/// lengths) of masks and keypoints [x, y, 2, ...]. image_id is the number in the image's file name, else the frame's;
/// categories are numbered as COCO does where a model's labels are COCO's, else by class id. Throws Error (kIo),
/// (kInvalidArgument) for a model that finds no objects, and (kConflict) where two frames of CAMERAS have one image_id.
std::unique_ptr<Sink> open_coco(const std::string& path, std::span<const Model> models,
                                std::span<const Camera> cameras);

struct YoloOptions {
  bool confidence = false;  ///< each object's line ends with it
};

/// Labels as Ultralytics writes and reads them, a text file for each frame: FOLDER/NAME.txt after the image's file,
/// else FOLDER/STREAM-FRAME.txt. A line is an object: its class id and, in shares of the frame's size, box (centre and
/// size), corners of its turned box, or the outer border of its mask, then its keypoints (x, y, confidence); or, of a
/// classifier, confidence and name. Several cameras put their number before NAME, several models have folders of their
/// own: FOLDER/INDEX-MODEL. Throws Error (kIo), and (kInvalidArgument) for a model that gives neither objects nor
/// classes.
std::unique_ptr<Sink> open_yolo(const std::string& folder, std::span<const Model> models, std::size_t cameras,
                                const YoloOptions& options = {});

/// The frames with the results drawn on them, as a video of the cameras' rate; several cameras make a file each, named
/// by their place: out.mp4, out-1.mp4, ... Can be played up to half a second before its end whenever the process is
/// killed (AVI: by players that do without its index). A frame of another size than its camera's first, or too large
/// for the encoder, is left out, which close() tells by an Error (kUnsupported). Throws Error.
std::unique_ptr<Sink> open_video(const std::string& path, std::span<const Camera> cameras);
/// The same as pictures FOLDER/STREAM-FRAME.jpg; the folder is made where it is missing. Beside them, of the frame's
/// size, lie depth maps, STREAM-FRAME.depth.npy (float32, NaN where the model did not look), and class maps,
/// STREAM-FRAME.classes.png (8 bits a pixel: the class id, 255 where the model did not look or a NaN leaves no class);
/// those of the second model on are named ...depth-1.npy and so on. What a format can't hold (a JPEG's side above 65500
/// pixels, a class map's id above 254) is left out, which close() tells by an Error (kUnsupported). Throws Error.
std::unique_ptr<Sink> open_frames(const std::string& folder);

}  // namespace saccade
