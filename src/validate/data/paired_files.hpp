#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "validate/data/data_set.hpp"

namespace saccade {

/// Images with one ground-truth file of the same stem each.
struct PairedFiles {
  std::vector<DataImage> images;  ///< by name
  std::vector<std::filesystem::path> truth;
};

/// Pairs the images in FOLDER/images, or else in FOLDER, with the files in FOLDER/TRUTH with one of ENDINGS as
/// extension. Throws Error (kNotFound) with the missing folder, image or file, and (kInvalidFile) if two files belong
/// to one image.
PairedFiles find_pairs(const std::filesystem::path& folder, const std::string& truth,
                       const std::vector<std::string>& endings);

/// Throws Error (kInvalidFile) with both names if the ground truth of the image with the index IMAGE has another
/// size, WIDTH x HEIGHT, than the image of RESULT.
void check_size(const PairedFiles& files, std::size_t image, std::int64_t width, std::int64_t height,
                const Result& result);

/// A data set of pairs.
class PairedData final : public DataSet {
 public:
  /// As DataSet::make_evaluator(), of FILES that outlive the evaluator.
  using MakeEvaluator = std::unique_ptr<Evaluator> (*)(const Model& model, const PairedFiles& files);

  PairedData(PairedFiles files, std::string contents, MakeEvaluator make_evaluator)
      : files_(std::move(files)), contents_(std::move(contents)), make_evaluator_(make_evaluator) {}

  std::span<const DataImage> images() const override { return files_.images; }
  std::string contents() const override { return contents_; }
  std::unique_ptr<Evaluator> make_evaluator(const Model& model, CocoResults* /*results*/) const override {
    return make_evaluator_(model, files_);
  }

 private:
  PairedFiles files_;
  std::string contents_;
  MakeEvaluator make_evaluator_;
};

}  // namespace saccade
