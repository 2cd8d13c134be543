#include "validate/precision_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"
#include "base/cpu_features.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "media/synthetic.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "pipeline/model/model_impl.hpp"
#include "saccade/frame_session.hpp"
#include "saccade/printable.hpp"
#include "validate/query_selection.hpp"
#include "validate/validate.hpp"

namespace saccade {
namespace {

constexpr std::int64_t kEnough = 200;     // predictions
constexpr double kLeastAgreement = 0.99;  // of them
constexpr double kMostTime = 0.97;        // of fp32's: less is within the noise
constexpr std::size_t kFewestFrames = 24;
constexpr std::size_t kMostFrames = 256;
constexpr std::size_t kFramesOfScene = 16;
constexpr std::chrono::seconds kLongest{120};

/// Every part of an agreement that has something to compare, and its name.
std::vector<std::pair<Agreement::Share, std::string_view>> parts_of(const Agreement& agreement) {
  std::vector<std::pair<Agreement::Share, std::string_view>> parts;
  for (const auto& [share, name] : {std::pair<Agreement::Share, std::string_view>{agreement.matched90, "boxes matched"},
                                    {agreement.confirmed90, "boxes confirmed"},
                                    {agreement.same_class, "top classes equal"},
                                    {agreement.same_pixels, "pixels of one class"},
                                    {agreement.near_pixels, "depths close"},
                                    {agreement.same_second_class, "second classes equal"},
                                    {agreement.same_texts, "texts equal"}})
    if (share.whole > 0) parts.emplace_back(share, name);
  return parts;
}

std::int64_t predictions(const Agreement& agreement) {
  std::int64_t most = 0;
  for (const auto& [share, name] : parts_of(agreement)) most = std::max(most, share.whole);
  return most;
}

/// A model in one precision, with the times of its frames.
class Contender {
 public:
  Contender(const PrecisionRequest& request, const DecidedPrecision& precision)
      : model_(load(request, precision)), session_(model_) {}

  const Result& run(const FrameView& frame) {
    const auto start = Clock::now();
    const Result& result = session_.run(frame);
    times_.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    return result;
  }
  std::span<const double> times() const { return times_; }

 private:
  static Model load(const PrecisionRequest& request, const DecidedPrecision& precision) {
    ModelOptions options = request.options;
    options.post.confidence = Agreement::kNearlySure;
    Model model = Model::load(request.model, options);
    impl_of(model).use_precision(precision);
    return model;
  }

  Model model_;
  FrameSession session_;
  std::vector<double> times_;
};

/// The median ratio of the times of the same frames; those of the first frames warm up.
double relative_time(std::span<const double> times, std::span<const double> reference) {
  constexpr std::size_t kWarmUp = 4;
  std::vector<double> ratios;
  for (std::size_t i = std::min(kWarmUp, times.size() - 1); i < times.size(); ++i)
    ratios.push_back(times[i] / reference[i]);
  std::ranges::nth_element(ratios, ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2));
  return ratios[ratios.size() / 2];
}

/// Warnings about a model are not repeated for each precision.
class QuietLog {
 public:
  QuietLog() : before_(log_level()) { set_log_level(std::min(before_, LogLevel::kError)); }
  ~QuietLog() { set_log_level(before_); }
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;

 private:
  LogLevel before_;
};

/// The same frames in fp32 and in a candidate, in turn.
class Trial {
 public:
  Trial(const PrecisionRequest& request, const DecidedPrecision& precision)
      : precision_(precision.precision),
        reference_(request, {.precision = Precision::kFp32}),
        contender_(load_quietly(request, precision)) {}

  void add(const FrameView& frame) {
    if (frames_++ % 2 == 0) {
      kept_.keep(reference_.run(frame));
      agreement_.add(contender_.run(frame), kept_.get());
    } else {
      kept_.keep(contender_.run(frame));
      agreement_.add(kept_.get(), reference_.run(frame));
    }
  }
  bool has_enough() const { return frames_ >= kFewestFrames && predictions(agreement_) >= kEnough; }
  bool is_hopeless() const {
    return predictions(agreement_) == 0 || relative_time(contender_.times(), reference_.times()) >= kMostTime;
  }
  std::size_t frames() const { return frames_; }
  PrecisionCandidate candidate() const {
    return candidate_of(precision_, relative_time(contender_.times(), reference_.times()), agreement_);
  }

 private:
  static Contender load_quietly(const PrecisionRequest& request, const DecidedPrecision& precision) {
    const QuietLog quiet;
    return {request, precision};
  }

  Precision precision_;
  Contender reference_;
  Contender contender_;
  KeptResult kept_;
  Agreement agreement_;
  std::size_t frames_ = 0;
};

/// Different scenes of the built-in generator.
PrecisionCandidate try_on_scene(const PrecisionRequest& request, const DecidedPrecision& precision,
                                const PrecisionEvents& events) {
  Trial trial(request, precision);
  FramePool pool(1);
  const auto start = Clock::now();
  // More frames change nothing where there is nothing to compare, or nothing to gain.
  const auto is_hopeless = [&] { return trial.frames() >= kFewestFrames && trial.is_hopeless(); };
  const auto is_done = [&] {
    const bool is_late = Clock::now() - start > kLongest && trial.frames() >= kFewestFrames;
    return is_hopeless() || trial.has_enough() || trial.frames() >= kMostFrames || is_late;
  };
  for (int seed = 1; !is_done(); ++seed) {
    const auto reader = open_synthetic(fmt::format("synthetic:?seed={}", seed));
    for (std::size_t i = 0; i < kFramesOfScene && !is_done(); ++i) {
      trial.add(read_scene(*reader, pool).view);
      if (events.progress)
        events.progress(std::string(to_string(precision.precision)), static_cast<double>(trial.frames()) / kMostFrames);
    }
  }
  return trial.candidate();
}

/// The verdict of annotated images, with the time of frames of the scene.
PrecisionCandidate try_on_data(const PrecisionRequest& request, const DecidedPrecision& precision,
                               const PrecisionEvents& events) {
  PrecisionCandidate candidate = try_on_scene(request, precision, events);
  if (candidate.time >= kMostTime) return candidate;
  const auto in = [&](const DecidedPrecision& decided) {
    EvaluatedModel model{.file = request.model, .options = request.options, .keep_fp32 = decided.keep_fp32};
    model.options.precision = decided.precision;
    return model;
  };
  ValidateEvents events_of_validation;
  events_of_validation.progress = [&](const std::string& what, double share) {
    if (events.progress) events.progress(what, share);
  };
  const Validation found = validate({.data = request.data,
                                     .model = in(precision),
                                     .against = in({.precision = Precision::kFp32}),
                                     .tolerance = request.tolerance},
                                    events_of_validation);
  candidate.agrees = found.against->holds();
  candidate.is_comparable = !found.against->differences.empty();
  candidate.evidence.clear();
  for (const Difference& each : found.against->differences)
    candidate.evidence += fmt::format("{}{} {} {:+.2f} points", candidate.evidence.empty() ? "" : ", ", each.score,
                                      each.figure, each.points);
  if (candidate.evidence.empty()) candidate.evidence = "nothing to compare";
  return candidate;
}

std::string name_of(const PrecisionCandidate& candidate) {
  if (candidate.kept.empty()) return std::string(to_string(candidate.precision));
  return fmt::format("{} with {} of {} products in fp32", to_string(candidate.precision), candidate.kept.size(),
                     candidate.products.value_or(0));
}

/// PRECISION with the products of KEPT in fp32.
PrecisionCandidate try_one(const PrecisionRequest& request, Precision precision, const NodeNames& kept,
                           const PrecisionEvents& events) {
  const DecidedPrecision decided{precision, kept};
  PrecisionCandidate candidate =
      request.data.empty() ? try_on_scene(request, decided, events) : try_on_data(request, decided, events);
  candidate.kept = kept;
  return candidate;
}

/// PRECISION for all products; where predictions differ, with more and more of them in fp32.
std::vector<PrecisionCandidate> try_in_steps(const PrecisionRequest& request, Precision precision,
                                             const PrecisionEvents& events) {
  std::vector<PrecisionCandidate> candidates{try_one(request, precision, {}, events)};
  const auto is_done = [&] {
    const PrecisionCandidate& last = candidates.back();
    return last.agrees || !last.is_comparable || last.time >= kMostTime;
  };
  if (is_done()) return candidates;
  try {
    const QuietLog quiet;
    const std::vector<ProductGroup> groups =
        find_sensitive_products(request.model, request.options, precision, [&](double share) {
          if (events.progress) events.progress(fmt::format("{}, products", to_string(precision)), share);
        });
    for (const NodeNames& kept : steps_to_keep(groups)) {
      candidates.push_back(try_one(request, precision, kept, events));
      std::size_t products = 0;
      for (const ProductGroup& each : groups) products += each.products.size();
      candidates.back().products = products;
      if (is_done()) break;
    }
  } catch (const Error& error) {
    // What was tried before stays valid.
    log(LogLevel::kWarning, "no products can be kept in fp32 beside {}: {}", to_string(precision), error.what());
  }
  return candidates;
}

bool selects_queries_in(const PrecisionRequest& request) {
  const QuietLog quiet;
  return selects_queries(impl_of(Model::load(request.model, request.options)).graph());
}

}  // namespace

std::vector<Precision> faster_precisions(const ModelOptions& options) {
  if (options.device.kind == Device::Kind::kCuda) return {Precision::kTf32, Precision::kFp16};
  const bool is_fast = options.device.kind == Device::Kind::kCpu && cpu_features().multiplies_bf16();
  return is_fast ? std::vector{Precision::kBf16} : std::vector<Precision>{};
}

PrecisionCandidate candidate_of(Precision precision, double time, const Agreement& agreement) {
  PrecisionCandidate candidate{.precision = precision, .time = time};
  candidate.agrees = candidate.is_comparable = predictions(agreement) >= kEnough;
  if (!candidate.is_comparable) {
    candidate.evidence =
        fmt::format("only {} of {} predictions to compare: give --data", predictions(agreement), kEnough);
    return candidate;
  }
  double least = 2;
  for (const auto& [share, name] : parts_of(agreement)) {
    candidate.agrees = candidate.agrees && share.value() >= kLeastAgreement;
    if (share.value() >= least) continue;
    least = share.value();
    candidate.evidence = fmt::format("{:.1f} % of {} {}", 100 * share.value(), share.whole, name);
  }
  return candidate;
}

PrecisionChoice decide(std::vector<PrecisionCandidate> candidates) {
  PrecisionChoice choice{.why = "there is no faster precision on this device"};
  double least = kMostTime;
  for (const PrecisionCandidate& each : candidates) {
    const bool is_faster = each.time < least;
    if (choice.decided.precision == Precision::kFp32 || (each.agrees && is_faster)) {
      choice.why = fmt::format("{} takes {:.2f} of the time of fp32", name_of(each), each.time);
      if (each.time < kMostTime) choice.why += (each.agrees ? ", " : ", but ") + each.evidence;
    }
    if (!each.agrees || !is_faster) continue;
    choice.decided = {each.precision, each.kept};
    least = each.time;
  }
  choice.candidates = std::move(candidates);
  return choice;
}

PrecisionChoice choose_precision(const PrecisionRequest& request, const PrecisionEvents& events) {
  std::vector<PrecisionCandidate> candidates;
  try {
    if (request.data.empty() && !request.candidates.empty() && selects_queries_in(request))
      return {.why = "it selects queries by rank, which rounding changes on some images: decide it with --data"};
    for (const Precision precision : request.candidates)
      for (PrecisionCandidate& each : try_in_steps(request, precision, events)) candidates.push_back(std::move(each));
  } catch (const Error& error) {
    // A model that is not recognised, a tracker without a target, a region outside of the scene: fp32 is always right.
    if (!request.data.empty()) throw;
    const std::string_view message = error.what();
    return {.why =
                fmt::format("its predictions can't be compared: {}", printable(message.substr(0, message.find(". "))))};
  }
  return decide(std::move(candidates));
}

}  // namespace saccade
