#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "saccade/model.hpp"
#include "validate/data/coco_annotations.hpp"
#include "validate/data/data_image.hpp"
#include "validate/data/evaluator.hpp"

namespace saccade {

class CocoResults;

/// Images with ground truth.
class DataSet {
 public:
  virtual ~DataSet() = default;
  /// In order of evaluation.
  virtual std::span<const DataImage> images() const = 0;
  /// "440 objects of 80 categories"
  virtual std::string contents() const = 0;
  /// The categories of its boxes; empty: it has none. The data set owns them.
  virtual std::span<const CocoCategory> categories() const { return {}; }
  /// An evaluator of MODEL's predictions. Throws Error (kInvalidArgument) if its classes are not the data set's. The
  /// data set outlives it. RESULTS, if the data set has boxes, receives the evaluated predictions.
  virtual std::unique_ptr<Evaluator> make_evaluator(const Model& model, CocoResults* results = nullptr) const = 0;
};

/// A kind of data set, the prefix of KIND:FOLDER.
struct DataKind {
  std::string_view name;  ///< "coco"
  std::unique_ptr<DataSet> (*open)(const std::filesystem::path& folder);
  bool has_boxes;           ///< predictions are boxes: low-confidence and overlapping ones count; they can be written
  bool is_tracked = false;  ///< its images are frames of videos, and predictions are tracks
};

/// "coco:", "imagenet:", "masks:", "depth:" or "mot:". Throws Error (kInvalidArgument) if KIND:FOLDER is of another
/// kind.
const DataKind& find_data_kind(const std::string& what);

/// Opens KIND:FOLDER. Throws Error: (kInvalidArgument) for another kind, (kNotFound, kInvalidFile, kIo) with the file
/// in the folder that is missing, empty or invalid.
std::unique_ptr<DataSet> open_data_set(const std::string& what);

/// The annotation files of KIND:FOLDER ("coco:" only), which predictions must not overwrite. Throws Error (kNotFound)
/// if the folder has none.
std::vector<std::string> annotation_files(const std::string& what);

std::unique_ptr<DataSet> open_coco(const std::filesystem::path& folder);
std::unique_ptr<DataSet> open_imagenet(const std::filesystem::path& folder);
std::unique_ptr<DataSet> open_label_masks(const std::filesystem::path& folder);
std::unique_ptr<DataSet> open_depths(const std::filesystem::path& folder);
std::unique_ptr<DataSet> open_mot_data(const std::filesystem::path& folder);

}  // namespace saccade
