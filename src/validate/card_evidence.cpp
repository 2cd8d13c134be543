#include "validate/card_evidence.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "metrics/similarity.hpp"
#include "pipeline/model/model_impl.hpp"
#include "pipeline/stream/source_impl.hpp"
#include "saccade/pipeline.hpp"
#include "validate/agreement.hpp"
#include "validate/data_image_reader.hpp"

namespace saccade {
namespace {

constexpr double kNoEvidence = std::numeric_limits<double>::quiet_NaN();

/// More than all that a true class has a share of.
constexpr int kReportedClasses = 200;

/// The logarithm of PROBABILITY: 1 for certainty, 0 for chance, -1 for the square of chance and less. The probability
/// itself would reward a card with too large pixels, which makes a classifier more certain but no more often right.
double certainty_of(double probability, int classes) {
  if (std::isnan(probability)) return kNoEvidence;
  const double chance = 1.0 / std::max(2, classes);
  return 1 - std::log(std::clamp(probability, chance * chance, 1.0)) / std::log(chance);
}

/// FNV-1a.
void add_to_hash(std::uint64_t& hash, std::uint32_t bits) {
  for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (bits >> (8 * byte) & 0xFF)) * 0x100000001b3U;
}

void add_to_hash(std::uint64_t& hash, const Result& result) {
  add_to_hash(hash, static_cast<std::uint32_t>(result.detections.size()));
  for (const Detection& found : result.detections) {
    for (const float side : found.box) add_to_hash(hash, std::bit_cast<std::uint32_t>(side));
    add_to_hash(hash, static_cast<std::uint32_t>(found.class_id));
    add_to_hash(hash, std::bit_cast<std::uint32_t>(found.confidence));
  }
  for (const Classification& each : result.classes) {
    add_to_hash(hash, static_cast<std::uint32_t>(each.class_id));
    add_to_hash(hash, std::bit_cast<std::uint32_t>(each.confidence));
  }
}

/// Calls EACH with the result for every image, in order.
template <typename Each>
void run_on(const Model& model, const std::string& name, const std::vector<DataImage>& images,
            const Condition* condition, const std::function<bool()>& stop, Each each) {
  Pipeline pipeline({source_of(open_data_images(name, images, condition))}, {model});
  for (std::size_t i = 0; i < images.size() && !stop(); ++i) {
    const Outcome<Result&> result = pipeline.next();
    if (!result) fail(ErrorCode::kInvalidFile, "{}", result.failure().message);
    each(i, *result);
  }
}

/// Images with the ground truth of a data set.
class LabelledImages final : public EvidenceSource {
 public:
  LabelledImages(const std::string& data, std::size_t limit)
      : name_(data), has_boxes_(find_data_kind(data).has_boxes), data_(open_data_set(data)) {
    chosen_ = spread(data_->images().size(), limit);
    for (const std::size_t i : chosen_) images_.push_back(data_->images()[i]);
  }

  std::size_t images() const override { return images_.size(); }
  std::string metric() const override { return has_boxes_ ? "ap" : "top1"; }
  std::string meaning() const override {
    return has_boxes_ ? "the image's AP" : "log probability of the true class (0: chance, 1: certainty)";
  }

  /// Boxes whose numbers are read in a wrong order match some objects; the true class is no better than chance.
  double least() const override { return has_boxes_ ? 0.1 : 0.02; }

  bool takes(Task task) const override {
    if (!has_boxes_) return task == Task::kClassify;
    return task == Task::kDetect || task == Task::kSegment || task == Task::kPose || task == Task::kOriented;
  }

  std::vector<NumberedClass> classes() const override {
    std::vector<NumberedClass> classes;
    for (const CocoCategory& category : data_->categories()) classes.push_back({category.id, category.name});
    return classes;
  }

  PostprocessOptions post() const override {
    PostprocessOptions post;
    if (has_boxes_) post.confidence = 0.001F;  // as in COCO's evaluation
    post.top_k = kReportedClasses;
    return post;
  }

  Evidence collect(const Model& model, const std::function<bool()>& stop) const override {
    const std::unique_ptr<Evaluator> evaluator = data_->make_evaluator(model);
    std::size_t done = 0;
    Evidence evidence;
    run_on(model, name_, images_, nullptr, stop, [&](std::size_t i, const Result& result) {
      evaluator->add(chosen_[i], result);
      add_to_hash(evidence.predictions, result);
      ++done;
    });
    evidence.images = evaluator->true_class_probabilities();
    for (double& value : evidence.images) value = certainty_of(value, impl_of(model).card().head().classes);
    if (done == 0) return evidence;
    evidence.metric = evaluator->scores().front().headline();
    if (has_boxes_) evidence.images = image_by_image(evaluator->headlines().front(), done);
    return evidence;
  }

 private:
  /// The metric of each image alone.
  static std::vector<double> image_by_image(const Headline& headline, std::size_t count) {
    std::vector<double> values;
    std::vector<int> times(count);
    for (std::size_t i = 0; i < count; ++i) {
      times[i] = 1;
      const double value = headline(times);
      times[i] = 0;
      values.push_back(value < 0 ? kNoEvidence : value);
    }
    return values;
  }

  std::string name_;
  bool has_boxes_;
  std::unique_ptr<DataSet> data_;
  std::vector<std::size_t> chosen_;
  std::vector<DataImage> images_;
};

void mirror(const RgbView& image, std::uint64_t /*seed*/) {
  for (int y = 0; y < image.height; ++y) {
    std::uint8_t* row = image.data + static_cast<std::ptrdiff_t>(y) * image.pitch_bytes;
    for (int left = 0, right = image.width - 1; left < right; ++left, --right)
      std::swap_ranges(row + 3 * static_cast<std::ptrdiff_t>(left), row + 3 * static_cast<std::ptrdiff_t>(left) + 3,
                       row + 3 * static_cast<std::ptrdiff_t>(right));
  }
}
constexpr Condition kMirrored{"mirrored", "", mirror};

/// A detection's box, in the mirrored image if WIDTH is its width, else (0) where it is.
CocoBox box_in(const Detection& found, int width) {
  const double left = width == 0 ? found.box[0] : width - found.box[2];
  return {left, found.box[1], static_cast<double>(found.box[2]) - found.box[0],
          static_cast<double>(found.box[3]) - found.box[1]};
}

double probability_of(const Result& result, int class_id) {
  const auto found = std::ranges::find(result.classes, class_id, &Classification::class_id);
  return found == result.classes.end() || !std::isfinite(found->confidence) ? 0 : found->confidence;
}

/// How certain each is of the other's best class.
double agreement_on_classes(const Result& a, const Result& b, int classes) {
  return (certainty_of(probability_of(a, b.classes.front().class_id), classes) +
          certainty_of(probability_of(b, a.classes.front().class_id), classes)) /
         2;
}

/// By image, the agreement with its own mirrored image above that with the others': a classifier that says the same of
/// all images has none.
std::vector<double> evidence_of_classes(const std::vector<KeptResult>& images, const std::vector<KeptResult>& mirrored,
                                        int classes) {
  std::vector<double> evidence(images.size(), kNoEvidence);
  const auto has_classes = [](const KeptResult& kept) { return !kept.get().classes.empty(); };
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!has_classes(images[i]) || !has_classes(mirrored[i])) continue;
    double others = 0;
    int count = 0;
    for (std::size_t j = 0; j < images.size(); ++j) {
      if (j == i || !has_classes(mirrored[j])) continue;
      others += agreement_on_classes(images[i].get(), mirrored[j].get(), classes);
      ++count;
    }
    evidence[i] = agreement_on_classes(images[i].get(), mirrored[i].get(), classes) - others / std::max(1, count);
  }
  return evidence;
}

/// Detections of less than nearly the whole frame, which a mirrored image would always confirm.
std::vector<Detection> telling(const Result& result) {
  constexpr double kNearlyAll = 0.9;
  const CocoBox frame{0, 0, static_cast<double>(result.width), static_cast<double>(result.height)};
  std::vector<Detection> kept;
  for (const Detection& found : result.detections)
    if (overlap(box_in(found, 0), frame, false) < kNearlyAll) kept.push_back(found);
  return kept;
}

double evidence_of_boxes(const Result& result, const Result& mirrored) {
  constexpr double kOverlap = 0.5;
  constexpr double kUnconfirmed = 0.5;
  const std::vector<Detection> here = telling(result);
  const std::vector<Detection> there = telling(mirrored);
  if (here.empty() && there.empty()) return kNoEvidence;
  std::vector<bool> is_taken(there.size());
  double evidence = 0;
  for (const Detection& found : here) {
    std::size_t best = is_taken.size();
    double most = kOverlap;
    for (std::size_t i = 0; i < is_taken.size(); ++i) {
      const Detection& other = there[i];
      if (is_taken[i] || other.class_id != found.class_id) continue;
      const double common = overlap(box_in(found, 0), box_in(other, result.width), false);
      if (!(common >= most)) continue;
      most = common;
      best = i;
    }
    if (best == is_taken.size()) {
      evidence -= kUnconfirmed * found.confidence;
      continue;
    }
    is_taken[best] = true;
    evidence += std::sqrt(static_cast<double>(found.confidence) * there[best].confidence);
  }
  for (std::size_t i = 0; i < is_taken.size(); ++i)
    if (!is_taken[i]) evidence -= kUnconfirmed * there[i].confidence;
  return evidence;
}

/// Images without labels.
class PlainImages final : public EvidenceSource {
 public:
  PlainImages(const std::string& folder, std::size_t limit) : name_(folder) {
    const std::vector<std::filesystem::path> files = images_in(folder);
    if (files.empty()) fail(ErrorCode::kNotFound, "'{}' is no folder with images", folder);
    for (const std::size_t i : spread(files.size(), limit))
      images_.push_back({.file = files[i].string(), .id = static_cast<std::int64_t>(i), .said_by = {}});
  }

  std::size_t images() const override { return images_.size(); }
  std::string metric() const override { return {}; }
  std::string meaning() const override { return "confidence that the mirrored image confirms"; }
  bool takes(Task task) const override {
    return task == Task::kClassify || task == Task::kDetect || task == Task::kSegment || task == Task::kPose;
  }
  PostprocessOptions post() const override {
    PostprocessOptions post;
    post.top_k = kReportedClasses;
    return post;
  }
  /// A right card has several times that, unless the images hold almost none of the model's classes.
  double least() const override { return 0.3; }

  Evidence collect(const Model& model, const std::function<bool()>& stop) const override {
    const std::vector<KeptResult> plain = results_of(model, nullptr, stop);
    const std::vector<KeptResult> mirrored = results_of(model, &kMirrored, stop);
    if (mirrored.size() < images_.size() || plain.size() < images_.size()) return {};
    Evidence evidence;
    for (const KeptResult& kept : plain) add_to_hash(evidence.predictions, kept.get());
    if (model.task() == Task::kClassify) {
      evidence.images = evidence_of_classes(plain, mirrored, impl_of(model).card().head().classes);
      return evidence;
    }
    for (std::size_t i = 0; i < images_.size(); ++i)
      evidence.images.push_back(evidence_of_boxes(plain[i].get(), mirrored[i].get()));
    return evidence;
  }

 private:
  /// Fewer if STOP ends it.
  std::vector<KeptResult> results_of(const Model& model, const Condition* condition,
                                     const std::function<bool()>& stop) const {
    std::vector<KeptResult> kept;
    kept.reserve(images_.size());
    run_on(model, name_, images_, condition, stop,
           [&](std::size_t /*image*/, const Result& result) { kept.emplace_back().keep(result); });
    return kept;
  }

  std::string name_;
  std::vector<DataImage> images_;
};

}  // namespace

std::unique_ptr<EvidenceSource> open_evidence(const std::string& data, std::size_t limit) {
  std::error_code error;
  if (std::filesystem::is_directory(data, error)) return std::make_unique<PlainImages>(data, limit);
  return std::make_unique<LabelledImages>(data, limit);
}

}  // namespace saccade
