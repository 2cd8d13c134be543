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

// What Ultralytics' val and COCO's evaluation take: weak answers draw the rest of the precision-recall curve.
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
    print_report(to_text(validation), options.results == "-" ? Channel::kError : Channel::kOutput);
  return validation.against && !validation.against->holds() ? kVerdict : kOk;
}

/// What only the whole command line shows to make no sense.
void check(const ValidateFlags& flags) {
  if (flags.precisions.size() > 2)
    throw CLI::ValidationError("--precision",
                               fmt::format("{} precisions are given: one or two", flags.precisions.size()));
  if (flags.precisions.size() == 2 && !flags.against.empty())
    throw CLI::ValidationError("--precision", "give two precisions, or --against another model");
  if (!flags.against_card.empty() && flags.against.empty())
    throw CLI::ValidationError("--against-card", "there is no model that it is for: give --against");
  if (flags.options.results == "-" && flags.common.json)
    throw CLI::ValidationError("standard output", "only one of --results -, --json can have it");
  const DataKind kind = parsed("--data", [&] { return find_data_kind(flags.options.data); });
  if (!flags.options.results.empty() && !kind.has_boxes)
    throw CLI::ValidationError(
        "--results", fmt::format("{} has no boxes: answers are written with coco: alone", flags.options.data));
  for (const std::string& name : flags.options.conditions) parsed("--condition", [&] { return find_condition(name); });
}

void add_reference_flags(CLI::App& app, ValidateFlags& flags) {
  const std::string group = "Side by side";
  app.add_option("--against", flags.against, "Judge this model too, the reference, and give a verdict")
      ->type_name("MODEL")
      ->group(group);
  app.add_option("--against-card", flags.against_card, "The reference's card")->type_name("FILE")->group(group);
  app.add_option("--tolerance", flags.options.tolerance,
                 "Points that the model may be worse than its reference; beyond, exit with 3")
      ->capture_default_str()
      ->check(number(0, 100))
      ->type_name("POINTS")
      ->group(group);
  app.add_option("--resamples", flags.options.resample.resamples, "Resampled sets that draw the difference's interval")
      ->capture_default_str()
      ->transform(whole(kFewestResamples, 1'000'000))
      ->type_name("N")
      ->group(group);
  app.add_option("--seed", flags.options.resample.seed, "Of the resampled sets")
      ->capture_default_str()
      ->transform(whole(std::uint64_t{0}))
      ->type_name("N")
      ->group(group);
}

}  // namespace

std::function<int()> add_validate(CLI::App& app) {
  const auto flags = std::make_shared<ValidateFlags>();
  app.add_option("MODEL", flags->options.model.file, "An ONNX file or a plan")->required();
  app.add_option("--data", flags->options.data, "What to judge it by: coco:, imagenet:, masks: or depth: and a folder")
      ->required()
      ->type_name("KIND:DIR");
  app.add_option("--condition", flags->options.conditions,
                 "Judge it on worse pictures too: night, blur, noise, jpeg, low-contrast, rain")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->allow_extra_args(false);
  app.add_option("--limit", flags->options.limit, "Pictures to judge at most, spread evenly over the set; 0: all")
      ->capture_default_str()
      ->transform(whole(std::int64_t{0}))
      ->type_name("N");
  app.add_option("--results", flags->options.results,
                 "Write the answers to this file too, in COCO's format; '-' is standard output")
      ->type_name("FILE");
  flags->common.model.confidence = kConfidence;
  add_reference_flags(app, *flags);
  flags->common.add_to(app, true, &flags->precisions);
  app.get_option("--conf")->description(
      fmt::format("Leave out answers below this confidence (default: {:g})", kConfidence));
  app.get_option("--multi-label")
      ->description(
          "Whether a box answers for every class above --conf, or for its best alone (default: true for YOLO models "
          "with "
          "coco:, else as the card says)");
  app.footer("Ctrl-C ends the run in order: what was judged until then is reported.");
  app.callback([flags] { check(*flags); });
  return [flags] { return run(*flags); };
}

}  // namespace saccade::app
