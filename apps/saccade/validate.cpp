#include "validate/validate.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <saccade/error.hpp>

#include "command.hpp"
#include "common.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "validate/condition.hpp"
#include "validate/data/data_set.hpp"
#include "validate/report.hpp"

namespace saccade::app {
namespace {

// As in Ultralytics' val and COCO's evaluation: low-confidence detections complete the precision-recall curve.
constexpr float kConfidence = 0.001F;

struct ValidateFlags {
  CommonFlags common;
  ValidateOptions options;
  std::string against;
  std::string against_card;
  std::vector<std::string> precisions;
};

int run(const ValidateFlags& flags) {
  ValidateOptions options = flags.options;
  options.model.options = flags.common.model;
  options.model.options.precision = flags.precisions.front();
  if (!flags.against.empty() || flags.precisions.size() == 2) {
    options.against = options.model;
    if (!flags.against.empty()) {
      options.against->file = flags.against;
      options.against->options.card = flags.against_card;
    }
    options.against->options.precision = flags.precisions.back();
  }
  StatusLine status;
  const Validation validation = validate(
      options, {.progress = [&](const std::string& what, double share) { status.say(bar(share) + " " + what); },
                .stop = interrupted});
  status.finish();
  if (flags.common.json)
    print_json(to_json(validation));
  else
    print_report(to_text(validation), is_standard_output(options.results) ? Channel::kError : Channel::kOutput);
  return validation.against && !validation.against->holds() ? kVerdict : kOk;
}

/// Rejects invalid combinations of flags.
void check(const ValidateFlags& flags) {
  if (flags.precisions.size() > 2)
    throw CLI::ValidationError("--precision",
                               fmt::format("{} precisions are given: give one or two", flags.precisions.size()));
  if (flags.precisions.size() == 2 && !flags.against.empty())
    throw CLI::ValidationError("--precision", "give two precisions, or --against another model");
  if (!flags.against_card.empty() && flags.against.empty())
    throw CLI::ValidationError("--against-card", "it needs --against");
  if (is_standard_output(flags.options.results) && flags.common.json)
    throw CLI::ValidationError("standard output", "only one of --results -, --json can use it");
  const DataKind kind = parsed("--data", [&] { return find_data_kind(flags.options.data); });
  if (!flags.options.results.empty() && !kind.has_boxes)
    throw CLI::ValidationError(
        "--results", fmt::format("{} has no boxes: predictions are written with coco: only", flags.options.data));
  for (const std::string& name : flags.options.conditions) parsed("--condition", [&] { return find_condition(name); });
}

void add_reference_flags(CLI::App& app, ValidateFlags& flags) {
  const std::string group = "Comparison";
  app.add_option("--against", flags.against, "Evaluate this reference model, too, and give a verdict")
      ->type_name("MODEL")
      ->group(group);
  app.add_option("--against-card", flags.against_card, "The card of the reference model")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--tolerance", flags.options.tolerance,
                 "Points by which the model may be worse than its reference; exit with 3 beyond")
      ->capture_default_str()
      ->check(number(0, 100))
      ->type_name("POINTS")
      ->group(group);
  app.add_option("--resamples", flags.options.resample.resamples,
                 "Number of bootstrap resamples for the confidence interval")
      ->capture_default_str()
      ->transform(whole(kFewestResamples, 1'000'000))
      ->type_name("N")
      ->group(group);
  app.add_option("--seed", flags.options.resample.seed, "Seed of the bootstrap")
      ->capture_default_str()
      ->transform(whole(std::uint64_t{0}))
      ->type_name("N")
      ->group(group);
}

}  // namespace

std::function<int()> add_validate(CLI::App& app) {
  const auto flags = std::make_shared<ValidateFlags>();
  app.add_option("MODEL", flags->options.model.file, "An ONNX file or a plan")->required();
  app.add_option("--data", flags->options.data, "Annotated data: coco:DIR, imagenet:DIR, masks:DIR or depth:DIR")
      ->required()
      ->type_name("KIND:DIR");
  app.add_option("--condition", flags->options.conditions,
                 "Also evaluate on degraded images: night, blur, noise, jpeg, low-contrast, rain")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->allow_extra_args(false);
  app.add_option("--limit", flags->options.limit, "Maximum number of images, spread evenly over the set; 0: all")
      ->capture_default_str()
      ->transform(whole(std::int64_t{0}))
      ->type_name("N");
  app.add_option("--results", flags->options.results,
                 "Write the predictions in COCO's results format; '-' is standard output")
      ->type_name("FILE");
  flags->common.model.confidence = kConfidence;
  add_reference_flags(app, *flags);
  flags->common.add_to(app, true, &flags->precisions);
  app.get_option("--conf")->description(fmt::format("Confidence threshold (default: {:g})", kConfidence));
  app.get_option("--multi-label")
      ->description(
          "One detection per class above --conf instead of the best class only (default: true for YOLO models with "
          "coco:, else the card's)");
  app.footer("Ctrl-C ends the run in order and reports what was evaluated so far.");
  app.callback([flags] { check(*flags); });
  return [flags] { return run(*flags); };
}

}  // namespace saccade::app
