#include <fmt/format.h>

#include <algorithm>

#include "measure/profile_report.hpp"
#include "measure/profile_tables.hpp"
#include "measure/terminal_histogram.hpp"

namespace saccade {
namespace {

constexpr int kRows = 20;
constexpr std::size_t kWidth = 80;
constexpr std::size_t kIndent = 12;

/// SENTENCE behind LABEL, broken at words.
std::string wrap(std::string_view label, std::string_view sentence) {
  std::string text = fmt::format("{:<{}}", label, kIndent);
  std::size_t column = kIndent;
  while (!sentence.empty()) {
    const std::size_t end = std::min(sentence.find(' '), sentence.size());
    const std::string_view word = sentence.substr(0, end);
    if (column > kIndent && column + 1 + word.size() > kWidth) {
      text += "\n" + std::string(kIndent, ' ');
      column = kIndent;
    }
    if (column > kIndent) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
    sentence.remove_prefix(std::min(end + 1, sentence.size()));
  }
  return text + "\n";
}

std::string head_text(const Profile& profile) {
  const std::string source =
      profile.source.empty() ? "random tensors" : fmt::format("{}, {}", profile.source, profile.frame);
  std::string text = fmt::format("model       {}, {} launches\n", profile.model, profile.launches.size());
  text += fmt::format("source      {}\n", source);
  text += fmt::format("machine     {}, {} threads\n", profile.plan->backend().device_name(), profile.plan->threads());
  return text + fmt::format("frames      {} in {}, {} a second, after {} to warm up\n", profile.frames,
                            duration_text(profile.elapsed), number_text(profile.frames_per_second), profile.warm_up);
}

std::string with_ascii_units(std::string text) {
  for (std::size_t at = text.find("µs"); at != std::string::npos; at = text.find("µs", at)) text.replace(at, 3, "us");
  return text;
}

}  // namespace

std::string to_text(const Profile& profile, const TextOptions& options) {
  const auto launches = longest_launches(profile, options.launches);
  std::string text = head_text(profile) + "\n" + to_text(stages_table(profile));
  if (!launches.empty())
    text += fmt::format("\nthe {} longest of {} launches\n{}", launches.size(), profile.launches.size(),
                        to_text(launches_table(launches)));
  text += "\nidle, a frame\n" + to_text(gaps_table(profile));
  text += fmt::format("\n{}\n", profile.source.empty() ? "time of a run" : "from capture to result");
  text += terminal_histogram(shape_of(profile.latency, kRows), options.is_utf8);
  text +=
      "\n" + wrap("profiler", overhead_text(profile.overhead)) + "\n" + wrap("bottleneck", profile.bottleneck.sentence);
  return options.is_utf8 ? text : with_ascii_units(text);
}

}  // namespace saccade
