#include "base/error.hpp"
#include "base/module.hpp"
#include "media/modules.hpp"
#include "metrics/segmentation_metric.hpp"
#include "validate/data/heads.hpp"
#include "validate/data/paired_files.hpp"

namespace saccade {
namespace {

/// Evaluates class maps per image pixel.
class MapEvaluator final : public Evaluator {
 public:
  MapEvaluator(const Model& model, const Head& head, const PairedFiles& files)
      : model_(model),
        labels_(head.labels),
        files_(files),
        // A model with one score has two classes.
        classes_(labels_.size() < 2 ? SegmentationMetric::kIgnored : static_cast<int>(labels_.size())),
        metric_(classes_) {}

  void add(std::size_t image, const Result& result) override {
    const StoredPlane truth = read(image, result);
    std::vector<std::int32_t> found;
    found.reserve(truth.samples.size());
    for (int y = 0; y < truth.height; ++y)
      for (int x = 0; x < truth.width; ++x) found.push_back(result.class_map.at(x, y));
    metric_.add(found, truth.samples);
  }

  std::vector<Score> scores() const override {
    const SegmentationMetric::Scores scores = metric_.scores();
    Score score{.name = "semantic",
                .counted = "pixels",
                .figures = {{"miou", scores.mean_iou}, {"accuracy", scores.accuracy}},
                .classes = {}};
    for (int c = 0; c < classes_; ++c) {
      const SegmentationMetric::ClassScores each = metric_.class_scores(c);
      const auto i = static_cast<std::size_t>(c);
      if (each.iou >= 0)
        score.classes.push_back({i < labels_.size() ? labels_[i] : std::to_string(c), each.pixels, each.iou});
    }
    return {score};
  }

  std::vector<Headline> headlines() const override {
    return {[this](std::span<const int> times) { return metric_.scores(times).mean_iou; }};
  }

 private:
  StoredPlane read(std::size_t image, const Result& result) const {
    const std::string file = files_.truth[image].string();
    StoredPlane truth = module<ImagesModule>("images").read_plane(file);
    check_size(files_, image, truth.width, truth.height, result);
    for (const std::uint16_t sample : truth.samples)
      if (sample >= classes_ && sample != SegmentationMetric::kIgnored)
        fail(ErrorCode::kInvalidFile, "'{}' holds the class {}, but {} has {} of them ({} is ignored)", file, sample,
             model_.name(), classes_, SegmentationMetric::kIgnored);
    return truth;
  }

  Model model_;
  std::vector<std::string> labels_;
  const PairedFiles& files_;
  int classes_;
  SegmentationMetric metric_;
};

std::unique_ptr<Evaluator> make_map_evaluator(const Model& model, const PairedFiles& files) {
  const Head& head = need_head(model, {Task::kSemantic}, "masks:", "class map");
  return std::make_unique<MapEvaluator>(model, head, files);
}

}  // namespace

std::unique_ptr<DataSet> open_label_masks(const std::filesystem::path& folder) {
  return std::make_unique<PairedData>(find_pairs(folder, "masks", {".png"}), "with label images", make_map_evaluator);
}

}  // namespace saccade
