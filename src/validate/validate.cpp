#include "validate/validate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/model_impl.hpp"
#include "pipeline/stream/source_impl.hpp"
#include "saccade/pipeline.hpp"
#include "validate/data/coco_results.hpp"
#include "validate/data/data_set.hpp"
#include "validate/data/heads.hpp"
#include "validate/data_image_reader.hpp"

namespace saccade {
namespace {

/// The head that predicts boxes; null if there is none.
const Head* find_boxes(const Model& model) {
  return find_head(model, {Task::kDetect, Task::kSegment, Task::kPose, Task::kOriented});
}

/// The options of MODEL with the card's IoU threshold where they leave it open.
ModelOptions effective_options(const Model& model) {
  ModelOptions options = model.options();
  const Head* head = find_boxes(model);
  if (!options.post.iou && head != nullptr) options.post.iou = head->iou;
  return options;
}

/// Whether the reference evaluation of this model family uses several labels per box.
bool is_ultralytics(const Model& model) {
  const Head* head = find_boxes(model);
  return head != nullptr && head->decoder->name.starts_with("yolov");
}

/// MODEL without its second one.
Model without_second(Model model) {
  Card card = impl_of(model).card();
  card.second.reset();
  impl_of(model).use_card(std::move(card));
  return model;
}

// As in Ultralytics' val and COCO's evaluation: low-confidence detections complete the precision-recall curve.
constexpr float kLeastConfidence = 0.001F;

Model load_evaluated(const EvaluatedModel& evaluated, const DataKind& kind) {
  ModelOptions options = evaluated.options;
  if (kind.has_boxes && !options.post.confidence) options.post.confidence = kLeastConfidence;
  if (kind.is_tracked && !options.post.tracker) options.post.tracker.emplace();
  Model model = Model::load(evaluated.file, options);
  if (kind.has_boxes && !options.post.multi_label && is_ultralytics(model)) {
    options.post.multi_label = true;
    model = Model::load(evaluated.file, options);
  }
  if (!evaluated.keep_fp32.empty()) impl_of(model).use_precision({evaluated.options.precision, evaluated.keep_fp32});
  return model;
}

bool has_second(const Model& model) { return impl_of(model).card().second.has_value(); }

/// Runs the models over the images.
class Validator {
 public:
  Validator(const ValidateOptions& options, const ValidateEvents& events) : options_(options), events_(events) {
    check_options(options);
    const DataKind& kind = find_data_kind(options.data);
    data_ = open_data_set(options.data);
    choose_images(static_cast<std::size_t>(options.limit), kind.is_tracked);
    models_.push_back(load_evaluated(options.model, kind));
    if (options.against) models_.push_back(load_evaluated(*options.against, kind));
    drop_second_models();
    if (!options.results.empty()) results_.emplace(options.results);
  }

  Validation run() {
    Validation validation{.data = options_.data,
                          .contents = data_->contents(),
                          .all_images = data_->images().size(),
                          .device = choose_backend(models_.front().options()).device_name()};
    for (const std::string& name : options_.conditions) find_condition(name);
    const std::vector<std::unique_ptr<Evaluator>> evaluators = evaluate_all(nullptr, validation);
    if (results_) results_->close();
    for (std::size_t m = 0; m < models_.size(); ++m) validation.models.push_back(evaluation(m, *evaluators[m]));
    for (const std::string& name : options_.conditions) {
      validation.is_interrupted = validation.is_interrupted || events_.stop();
      if (validation.is_interrupted) break;
      const Condition& condition = find_condition(name);
      ConditionEvaluation& scores = validation.conditions.emplace_back(
          ConditionEvaluation{std::string(condition.name), std::string(condition.strength), {}});
      for (const auto& evaluator : evaluate_all(&condition, validation)) scores.scores.push_back(evaluator->scores());
      if (validation.is_interrupted) validation.conditions.pop_back();
    }
    if (models_.size() == 2) validation.against = compare_models(evaluators, validation);
    return validation;
  }

 private:
  /// At most LIMIT; 0: all. Frames of videos follow each other.
  void choose_images(std::size_t limit, bool are_frames) {
    const std::size_t size = data_->images().size();
    chosen_ = spread(size, are_frames ? 0 : limit);
    if (are_frames && limit > 0) chosen_.resize(std::min(size, limit));
  }

  /// The metrics are those of first models, which second ones would only slow down: they are run to be compared.
  void drop_second_models() {
    if (models_.size() == 2 && std::ranges::all_of(models_, has_second)) return;
    for (std::size_t m = 0; m < models_.size(); ++m) {
      if (!has_second(models_[m])) continue;
      log(LogLevel::kWarning, "{}: the second model of its card is not run: the metrics are those of the first{}",
          evaluated_model(m).file, models_.size() == 2 ? ", and the other model has none to compare" : "");
      models_[m] = without_second(std::move(models_[m]));
    }
  }

  const EvaluatedModel& evaluated_model(std::size_t m) const { return m == 0 ? options_.model : *options_.against; }

  /// Runs every chosen image through every model. CONDITION null: the original images.
  std::vector<std::unique_ptr<Evaluator>> evaluate_all(const Condition* condition, Validation& validation) {
    std::vector<std::unique_ptr<Evaluator>> evaluators;
    for (const Model& model : models_)
      evaluators.push_back(
          data_->make_evaluator(model, condition == nullptr && evaluators.empty() && results_ ? &*results_ : nullptr));
    const auto start = Clock::now();
    std::size_t done = 0;
    while (done < chosen_.size()) {
      const std::size_t before = done;
      done = evaluate_sequence(condition, done, evaluators);
      if (done == before || !is_end_of_sequence(done)) break;
    }
    if (condition == nullptr) {
      validation.images = done;
      validation.elapsed = Clock::now() - start;
    }
    validation.is_interrupted = validation.is_interrupted || done < chosen_.size();
    if (validation.images == 0) fail(ErrorCode::kInvalidArgument, "it was interrupted before the first image");
    return evaluators;
  }

  const DataImage& chosen(std::size_t i) const { return data_->images()[chosen_[i]]; }
  bool is_end_of_sequence(std::size_t i) const {
    return i == chosen_.size() || chosen(i).sequence != chosen(i - 1).sequence;
  }

  /// Runs the chosen images from FIRST on, up to the end of their sequence, in a pipeline of its own. Returns the
  /// number of images that are done: less if it was interrupted.
  std::size_t evaluate_sequence(const Condition* condition, std::size_t first,
                                std::span<const std::unique_ptr<Evaluator>> evaluators) {
    std::vector<DataImage> images = {chosen(first)};
    while (!is_end_of_sequence(first + images.size())) images.push_back(chosen(first + images.size()));
    const std::string what = condition == nullptr ? "images" : std::string(condition->name);
    Pipeline pipeline({source_of(open_data_images(options_.data, images, condition))}, models_);
    KeptResult reference;
    for (std::size_t done = first; done < first + images.size(); ++done) {
      events_.progress(fmt::format("{} {}/{}", what, done, chosen_.size()),
                       static_cast<double>(done) / static_cast<double>(chosen_.size()));
      if (events_.stop()) return done;
      for (std::size_t m = 0; m < models_.size(); ++m) {
        const Outcome<Result&> result = pipeline.next();
        if (!result) fail(ErrorCode::kInvalidFile, "{}", result.failure().message);
        evaluators[m]->add(chosen_[done], *result);
        if (condition == nullptr && result->invalid()) invalid_[m].add(result->faults);
        if (condition != nullptr || models_.size() == 1) continue;
        if (m == 0)
          reference.keep(*result);
        else
          agreement_.add(reference.get(), *result);
      }
    }
    return first + images.size();
  }

  Evaluation evaluation(std::size_t m, const Evaluator& evaluator) const {
    const Model& model = models_[m];
    const EvaluatedModel& evaluated = evaluated_model(m);
    std::string name = model.name();
    if (models_.size() == 2 && models_[0].name() == models_[1].name())
      name += options_.model.options.precision == options_.against->options.precision
                  ? (m == 0 ? " (A)" : " (B)")
                  : fmt::format(" ({})", to_string(evaluated.options.precision));
    std::vector<std::string> notes = evaluator.notes();
    const Invalid& invalid = invalid_[m];
    if (invalid.images > 0)
      notes.push_back(fmt::format("the predictions for {} of the images are invalid and are evaluated as they are: {}",
                                  invalid.images, to_string(invalid.faults)));
    return {.file = evaluated.file,
            .name = std::move(name),
            .task = std::string(to_string(model.task())),
            .precision = evaluated.options.precision,
            .options = effective_options(model),
            .scores = evaluator.scores(),
            .notes = std::move(notes),
            .invalid = invalid.images};
  }

  Against compare_models(const std::vector<std::unique_ptr<Evaluator>>& evaluators, Validation& validation) const {
    const auto evaluated = [&](std::size_t m) {
      return Evaluated{validation.models[m].name, validation.models[m].scores, evaluators[m]->headlines()};
    };
    Against against = compare(evaluated(0), evaluated(1), validation.images, options_.tolerance, options_.resample,
                              [&](const std::string& score, double share) {
                                events_.progress(fmt::format("resampling: {}", score), share);
                                validation.is_interrupted = validation.is_interrupted || events_.stop();
                                return !validation.is_interrupted;
                              });
    against.agreement = agreement_;
    return against;
  }

  /// Images with invalid predictions, and why.
  struct Invalid {
    std::size_t images = 0;
    Faults faults;
    void add(Faults of) {
      ++images;
      faults.add(of);
    }
  };

  const ValidateOptions& options_;
  const ValidateEvents& events_;
  std::unique_ptr<DataSet> data_;
  std::vector<std::size_t> chosen_;  ///< indices of images in the data set
  std::vector<Model> models_;
  std::vector<Invalid> invalid_ = std::vector<Invalid>(2);  ///< per model
  std::optional<CocoResults> results_;
  Agreement agreement_;
};

}  // namespace

void check_options(const ValidateOptions& options) {
  const DataKind& kind = find_data_kind(options.data);
  if (!options.results.empty() && !kind.has_boxes)
    fail(ErrorCode::kInvalidArgument, "--results: {} has no boxes: predictions are written with coco: only",
         options.data);
  if (options.model.options.post.tracker && !kind.is_tracked)
    fail(ErrorCode::kInvalidArgument, "--track: {} has no tracks: they are evaluated with mot: only", options.data);
  if (options.against && kind.is_tracked)
    fail(ErrorCode::kInvalidArgument,
         "{}: tracks of two models can't be compared, because frames of a video can't be resampled: evaluate each "
         "model on its own",
         options.data);
}

Validation validate(const ValidateOptions& options, const ValidateEvents& events) {
  return Validator(options, events).run();
}

}  // namespace saccade
