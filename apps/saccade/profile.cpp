#include "measure/profile/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/output_file.hpp"
#include "command.hpp"
#include "common.hpp"
#include "interrupt.hpp"
#include "measure/profile/profile_report.hpp"
#include "measure/profile/trace.hpp"
#include "measure/report/terminal_histogram.hpp"
#include "pipeline/model/model_impl.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

struct ProfileFlags {
  CommonFlags common;
  std::string model;
  std::string source;
  std::int64_t frames = 0;
  double seconds = 0;
  std::string trace;
  std::string html;
  std::string jsonl;
  std::size_t top = 15;
};

// Formatting the status line for every frame would affect the measurement.
constexpr std::int64_t kFramesToSay = 16;

/// The source to profile on; empty: random tensors.
std::string choose_source(const ProfileFlags& flags, const Model& model) {
  if (!flags.source.empty()) return flags.source;
  return impl_of(model).is_recognised() ? "synthetic:" : "";
}

/// The flags replace the default, a time: --max-frames alone has no limit of time.
void set_limits(const ProfileFlags& flags, ProfileOptions& options) {
  if (flags.frames == 0 && flags.seconds == 0) return;
  if (flags.frames != 0) options.frames = flags.frames;
  options.duration = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(flags.seconds));
}

/// The completed share of the profile, by frames or by time.
double share_of(const ProfileOptions& options, std::int64_t frames, std::chrono::nanoseconds elapsed) {
  const double by_frames = static_cast<double>(frames) / static_cast<double>(options.frames);
  const double by_time = options.duration.count() > 0 ? std::chrono::duration<double>(elapsed) / options.duration : 0;
  return std::max(by_frames, by_time);
}

/// Creates every file before the first frame, so that an unwritable one fails early.
struct Outputs {
  explicit Outputs(const ProfileFlags& flags) {
    if (!flags.html.empty()) html.emplace(flags.html);
    if (!flags.trace.empty()) trace.emplace(flags.trace);
    if (!flags.jsonl.empty()) jsonl = open_jsonl(flags.jsonl);
  }
  std::optional<OutputFile> html;
  std::optional<OutputFile> trace;
  std::unique_ptr<Sink> jsonl;
};

void write_html(OutputFile& file, const Profile& profile, std::size_t top) {
  file.write(to_page(profile, top).html());
  file.close();
}

void print(const ProfileFlags& flags, const Profile& profile) {
  const bool is_taken =
      is_standard_output(flags.jsonl) || is_standard_output(flags.trace) || is_standard_output(flags.html);
  print_result(
      flags.common.json, [&] { return to_json(profile); },
      [&] {
        return to_text(profile, {flags.top, locale_is_utf8()});
      },
      is_taken ? Channel::kError : Channel::kOutput);
}

int profile(const ProfileFlags& flags) {
  const Model model = Model::load(flags.model, flags.common.model);
  const std::string source = choose_source(flags, model);
  if (source.empty() && !flags.jsonl.empty())
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: --jsonl needs predictions, and the model is not recognised: give a --card", flags.model));
  Outputs outputs(flags);
  StatusLine status;
  ProfileOptions options;
  set_limits(flags, options);
  options.trace = outputs.trace.has_value();
  options.sink = outputs.jsonl.get();
  options.on_ceilings = [&status](double share) { status.say("ceilings", "measuring ceilings", share); };
  options.on_frame = [&, start = std::chrono::steady_clock::time_point()](std::int64_t frames) mutable {
    if (frames == 0) start = std::chrono::steady_clock::now();
    if (frames % kFramesToSay == 0)
      status.say("frames", fmt::format("{} frames", frames),
                 share_of(options, frames, std::chrono::steady_clock::now() - start));
    return frames == 0 || !interrupted();  // after a warm-up only there is nothing to report
  };
  const Profile profile = source.empty() ? profile_tensors(model, options) : profile_frames(model, source, options);
  status.finish();
  if (outputs.trace) write_trace(profile, *outputs.trace);
  if (outputs.html) write_html(*outputs.html, profile, flags.top);
  print(flags, profile);
  return kOk;
}

/// Two writers would interleave their lines.
void check_standard_output(const ProfileFlags& flags) {
  const int writers = is_standard_output(flags.jsonl) + is_standard_output(flags.trace) +
                      is_standard_output(flags.html) + flags.common.json;
  if (writers > 1) throw UsageError("standard output", "only one of --jsonl -, --trace -, --html -, --json can use it");
}

}  // namespace

Action add_profile(FlagBinder& binder) {
  const auto flags = std::make_shared<ProfileFlags>();
  binder.bind("MODEL", &flags->model);
  binder.bind("--source", &flags->source);
  binder.bind("--max-frames", &flags->frames);
  binder.bind("--duration", &flags->seconds);
  binder.bind("--trace", &flags->trace);
  binder.bind("--html", &flags->html);
  binder.bind("--jsonl", &flags->jsonl);
  binder.bind("--top", &flags->top);
  flags->common.bind(binder);
  flags->common.bind_predictions(binder);
  flags->common.bind_tiles(binder);
  binder.bind("--target", [common = &flags->common](const std::string& text) {
    common->model.target = parse_region("--target", text);
  });
  return {.run = [flags] { return profile(*flags); }, .check = [flags] { check_standard_output(*flags); }};
}

}  // namespace saccade::app
