#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/output_file.hpp"
#include "metrics/similarity.hpp"
#include "pipeline/sinks/mask_json.hpp"

namespace saccade {

/// Evaluated predictions in COCO's results format, which pycocotools loads: a list of {image_id, category_id, bbox,
/// score}, with "segmentation" and "keypoints" if the model predicts them; NaN and infinity become null.
class CocoResults {
 public:
  /// Creates the file. Throws Error (kIo) with its name.
  explicit CocoResults(const std::string& path) : file_(path, OutputFile::Appears::kAtOnce) { file_.write("["); }

  struct Prediction {
    std::int64_t category = 0;  ///< ID in the annotations
    const FoundObject* object = nullptr;
    bool has_mask = false;
  };
  /// Writes the predictions for one image of WIDTH x HEIGHT. Throws Error (kIo).
  void add(std::int64_t image, int width, int height, std::span<const Prediction> predictions);
  /// Completes the file. Throws Error (kIo).
  void close();

 private:
  void append_keypoints(std::span<const CocoPoint> points);

  OutputFile file_;
  JsonBuffer text_;
  RunLengths lengths_;
  bool any_ = false;
};

}  // namespace saccade
