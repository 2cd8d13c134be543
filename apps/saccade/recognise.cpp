#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <saccade/error.hpp>
#include <saccade/log.hpp>

#include "command.hpp"
#include "common.hpp"
#include "inspect/write_card.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "validate/data/data_set.hpp"
#include "validate/recognition.hpp"

namespace saccade::app {
namespace {

struct RecogniseFlags {
  CommonFlags common;
  RecognitionOptions options;
  std::string card_to_write;
};

/// The search, without warnings: most of the tried cards are wrong, and their predictions invalid.
Recognition search(const RecognitionOptions& options) {
  const LogLevel level = log_level();
  set_log_level(std::min(level, LogLevel::kError));
  StatusLine status;
  Recognition recognition = recognise_on(
      options, {.progress = [&](const std::string& what, double share) { status.say(bar(share) + " " + what); },
                .stop = interrupted});
  set_log_level(level);
  return recognition;
}

int recognise(const RecogniseFlags& flags) {
  RecognitionOptions options = flags.options;
  options.model = flags.common.model;
  // Fails before the search, which takes a while.
  if (!flags.card_to_write.empty()) check_card_output(flags.card_to_write);
  const Recognition recognition = search(options);
  print_result(
      flags.common.json, [&] { return to_json(recognition); }, [&] { return to_text(recognition); });
  const Card* card = recognition.card();
  if (card == nullptr) return kVerdict;
  if (!flags.card_to_write.empty()) {
    Card chosen = *card;
    chosen.origin = fmt::format("saccade recognise, {} images of {}", recognition.images, recognition.data);
    chosen.assumptions.clear();
    for (const CardAxis axis : recognition.undecided)
      chosen.assumptions.push_back(
          fmt::format("the {}: {} cards are too close to tell", to_string(axis), recognition.close));
    write_card(flags.card_to_write, commented_card(chosen));
  }
  return kOk;
}

}  // namespace

Action add_recognise(FlagBinder& binder) {
  const auto flags = std::make_shared<RecogniseFlags>();
  binder.bind("MODEL", &flags->options.file);
  binder.bind("--data", [flags = flags.get()](const std::string& data) {
    std::error_code error;  // opening the data reports it
    if (data.find(':') != std::string::npos && !std::filesystem::is_directory(data, error)) find_data_kind(data);
    flags->options.data = data;
  });
  binder.bind("--max-frames", &flags->options.limit);
  binder.bind("--write-card", &flags->card_to_write);
  flags->common.bind(binder);
  return {.run = [flags] { return recognise(*flags); }};
}

}  // namespace saccade::app
