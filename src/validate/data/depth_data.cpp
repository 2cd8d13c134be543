#include <algorithm>

#include "base/error.hpp"
#include "base/module.hpp"
#include "media/modules.hpp"
#include "metrics/depth_metric.hpp"
#include "saccade/npy.hpp"
#include "validate/data/heads.hpp"
#include "validate/data/paired_files.hpp"

namespace saccade {
namespace {

struct TrueDepth {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<float> metres;
};

template <typename T>
std::vector<float> as_floats(const Tensor& tensor) {
  std::vector<float> values;
  for (const T value : tensor.data<T>()) values.push_back(static_cast<float>(value));
  return values;
}

TrueDepth read_array(const std::string& file) {
  const Tensor tensor = load_npy(file);
  const Shape& shape = tensor.shape();
  const bool is_plane = shape.rank() == 2 || (shape.rank() == 3 && (shape[0] == 1 || shape[2] == 1));
  if (!is_plane || (tensor.dtype() != DType::kFloat32 && tensor.dtype() != DType::kFloat64))
    fail(ErrorCode::kInvalidFile, "'{}' is {} {}: a depth is float32 or float64, height by width, in metres", file,
         to_string(tensor.dtype()), shape.to_string());
  const int first = shape.rank() == 3 && shape[0] == 1 ? 1 : 0;
  return {.width = shape[first + 1],
          .height = shape[first],
          .metres = tensor.dtype() == DType::kFloat32 ? as_floats<float>(tensor) : as_floats<double>(tensor)};
}

TrueDepth read_image(const std::string& file) {
  constexpr float kMillimetre = 0.001F;
  const StoredPlane plane = module<ImagesModule>("images").read_plane(file);
  if (plane.bits != 16)
    fail(ErrorCode::kInvalidFile, "'{}' has {} bits per sample: a depth image has 16, in millimetres", file,
         plane.bits);
  TrueDepth truth{.width = plane.width, .height = plane.height, .metres = {}};
  for (const std::uint16_t sample : plane.samples) truth.metres.push_back(kMillimetre * static_cast<float>(sample));
  return truth;
}

/// Evaluates depth maps per image pixel.
class DepthEvaluator final : public Evaluator {
 public:
  DepthEvaluator(const Model& model, const PairedFiles& files) : model_(model), files_(files) {}

  void add(std::size_t image, const Result& result) override {
    const std::string file = files_.truth[image].string();
    const TrueDepth truth = file.ends_with(".npy") ? read_array(file) : read_image(file);
    check_size(files_, image, truth.width, truth.height, result);
    std::vector<float> found;
    found.reserve(truth.metres.size());
    for (int y = 0; y < result.height; ++y)
      for (int x = 0; x < result.width; ++x) found.push_back(result.depth.at(x, y));
    kind_ = result.depth.kind;
    align_depth(kind_, truth.metres, found);
    images_.push_back(depth_scores(truth.metres, found));
  }

  std::vector<Score> scores() const override {
    const DepthScores scores = mean(images_);
    return {{.name = "depth",
             .counted = "pictures",
             .figures = {{"delta1", scores.delta1}, {"abs_rel", scores.abs_rel, false}, {"rmse", scores.rmse, false}},
             .classes = {}}};
  }

  std::vector<Headline> headlines() const override {
    return {[this](std::span<const int> times) { return mean(images_, times).delta1; }};
  }

  std::vector<std::string> notes() const override {
    if (kind_ == DepthKind::kMetric) return {};
    return {fmt::format("{}'s depth is {}: in each image it was aligned to the {} by a least-squares scale and shift",
                        model_.name(), to_string(kind_),
                        kind_ == DepthKind::kInverse ? "inverse of the ground truth" : "truth")};
  }

 private:
  Model model_;
  const PairedFiles& files_;
  std::vector<DepthScores> images_;
  DepthKind kind_ = DepthKind::kMetric;
};

std::unique_ptr<Evaluator> make_depth_evaluator(const Model& model, const PairedFiles& files) {
  need_head(model, {Task::kDepth}, "depth:", "depth");
  return std::make_unique<DepthEvaluator>(model, files);
}

}  // namespace

std::unique_ptr<DataSet> open_depths(const std::filesystem::path& folder) {
  return std::make_unique<PairedData>(find_pairs(folder, "depth", {".npy", ".png"}), "with depth",
                                      make_depth_evaluator);
}

}  // namespace saccade
