#include "validate/validate.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <saccade/error.hpp>

#include "command.hpp"
#include "common.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "validate/condition.hpp"
#include "validate/data/data_set.hpp"
#include "validate/report.hpp"

namespace saccade::app {
namespace {

struct ValidateFlags {
  CommonFlags common;
  ValidateOptions options;
  std::string against;
  std::string against_card;
  std::vector<Precision> precisions;
};

ValidateOptions options_of(const ValidateFlags& flags) {
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
  return options;
}

int run(const ValidateFlags& flags) {
  const ValidateOptions options = options_of(flags);
  StatusLine status;
  const Validation validation = validate(
      options,
      {.progress = [&](const std::string& what, double share) { status.say(what, what, share); }, .stop = interrupted});
  status.finish();
  print_result(
      flags.common.json, [&] { return to_json(validation); }, [&] { return to_text(validation); },
      is_standard_output(options.results) ? Channel::kError : Channel::kOutput);
  return validation.against && !validation.against->holds() ? kVerdict : kOk;
}

/// Rejects invalid combinations of flags.
void check(const ValidateFlags& flags) {
  if (flags.precisions.size() > 2)
    throw UsageError("--precision", fmt::format("{} precisions are given: give one or two", flags.precisions.size()));
  if (flags.precisions.size() == 2 && !flags.against.empty())
    throw UsageError("--precision", "give two precisions, or --against another model");
  if (is_standard_output(flags.options.results) && flags.common.json)
    throw UsageError("standard output", "only one of --results -, --json can use it");
  check_options(options_of(flags));
}

}  // namespace

Action add_validate(FlagBinder& binder) {
  const auto flags = std::make_shared<ValidateFlags>();
  ValidateOptions& options = flags->options;
  binder.bind("MODEL", &options.model.file);
  binder.bind("--data", [&options](const std::string& data) {
    find_data_kind(data);
    options.data = data;
  });
  binder.bind("--condition", [&options](const std::vector<std::string>& names) {
    for (const std::string& name : names) find_condition(name);
    options.conditions = names;
  });
  binder.bind("--max-frames", &options.limit);
  binder.bind("--results", &options.results);
  binder.bind("--against", &flags->against);
  binder.bind("--against-card", &flags->against_card);
  binder.bind("--tolerance", &options.tolerance);
  binder.bind("--resamples", &options.resample.resamples);
  binder.bind("--seed", &options.resample.seed);
  flags->common.bind_all_but_precision(binder);
  binder.bind("--precision", [flags = flags.get()](const std::vector<std::string>& names) {
    flags->precisions.clear();
    for (const std::string& name : names) flags->precisions.push_back(parse_precision(name));
  });
  flags->common.bind_predictions(binder);
  flags->common.bind_tracker(binder);
  flags->common.bind_tiles(binder);
  return {.run = [flags] { return run(*flags); }, .check = [flags] { check(*flags); }};
}

}  // namespace saccade::app
