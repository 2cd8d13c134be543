#include "measure/bench/bench_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "runtime/json_words.hpp"

namespace saccade {
namespace {

using nlohmann::json;

struct Entry {
  std::string model;
  std::string run;  ///< precision, input, threads: what has to be equal
  LoadMedians medians;
};

struct Bench {
  std::vector<Entry> entries;
  json settings;
  std::string device;
};

Entry read_entry(const json& model) {
  Entry entry{.model = model.at("model"), .medians = model.at("block_medians_ms")};
  entry.run = fmt::format("{}, {}, {} threads", model.at("precision").get<std::string>(),
                          model.at("input").get<std::string>(), model.at("threads").get<int>());
  const std::vector<double> medians = flattened(entry.medians);
  const bool are_times = std::ranges::all_of(medians, [](double median) { return median > 0; });
  if (medians.empty() || !are_times) fail(ErrorCode::kInvalidFile, "has invalid block medians");
  return entry;
}

Bench read(const std::string& path) {
  std::ifstream file = open_input(path);
  try {
    const json parsed = json::parse(file);
    Bench bench{.settings = parsed.at("settings"), .device = parsed.at("device")};
    if (!bench.settings.is_object()) fail(ErrorCode::kInvalidFile, "has settings that are not an object");
    for (const json& model : parsed.at("models")) bench.entries.push_back(read_entry(model));
    return bench;
  } catch (const json::exception& error) {
    fail(ErrorCode::kInvalidFile, "{} is not what `saccade bench --json` prints: it {}", path, in_words(error));
  } catch (const Error& error) {
    fail(ErrorCode::kInvalidFile, "{} is not what `saccade bench --json` prints: it {}", path, error.what());
  }
}

const Entry* find(const Bench& bench, const std::string& model) {
  const auto found = std::ranges::find(bench.entries, model, &Entry::model);
  return found == bench.entries.end() ? nullptr : &*found;
}

void note_settings(Comparisons& result, const Bench& before, const Bench& after) {
  if (before.device != after.device)
    result.notes.push_back(fmt::format("the devices differ: {} and {}", before.device, after.device));
  for (const char* name : {"batch", "streams"})
    if (before.settings.value(name, json()) != after.settings.value(name, json()))
      result.notes.push_back(fmt::format("--{} differs", name));
  if (before.settings.value("resident", false) != after.settings.value("resident", false))
    result.notes.emplace_back("--resident differs");
}

Comparison compare(const Entry& before, const Entry& after, double tolerance) {
  Comparison row{.model = before.model,
                 .before_ms = median_of(flattened(before.medians)),
                 .after_ms = median_of(flattened(after.medians)),
                 .ratio = median_ratio(after.medians, before.medians)};
  row.verdict = verdict_of(row.ratio, tolerance);
  return row;
}

}  // namespace

bool Comparisons::any_slower() const {
  return std::ranges::any_of(models, [](const Comparison& model) { return model.verdict == Verdict::kSlower; });
}

Comparisons compare_benches(const std::string& before, const std::string& after, double tolerance) {
  const Bench old_bench = read(before);
  const Bench new_bench = read(after);
  Comparisons result;
  note_settings(result, old_bench, new_bench);
  for (const Entry& entry : old_bench.entries) {
    const Entry* other = find(new_bench, entry.model);
    if (other == nullptr) {
      result.notes.push_back(fmt::format("{} is only in {}", entry.model, before));
      continue;
    }
    if (other->run != entry.run)
      result.notes.push_back(fmt::format("{} was measured on {}, then on {}", entry.model, entry.run, other->run));
    result.models.push_back(compare(entry, *other, tolerance));
  }
  for (const Entry& entry : new_bench.entries)
    if (find(old_bench, entry.model) == nullptr)
      result.notes.push_back(fmt::format("{} is only in {}", entry.model, after));
  if (result.models.empty()) fail(ErrorCode::kInvalidFile, "no model is in both {} and {}", before, after);
  return result;
}

nlohmann::ordered_json to_json(const Comparisons& comparisons) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Comparison& model : comparisons.models)
    rows.push_back({{"model", model.model},
                    {"before_ms", model.before_ms},
                    {"after_ms", model.after_ms},
                    {"ratio", model.ratio.value},
                    {"interval", {model.ratio.interval.low, model.ratio.interval.high}},
                    {"verdict", to_string(model.verdict)}});
  return {{"models", rows}, {"notes", comparisons.notes}, {"any_slower", comparisons.any_slower()}};
}

ReportText to_text(const Comparisons& comparisons) {
  std::size_t width = 5;
  for (const Comparison& model : comparisons.models) width = std::max(width, model.model.size());
  ReportText text = report_text("{:<{}} {:>12} {:>12}  after / before (above 1: slower; 95 % interval)\n", "model",
                                width, "before, ms", "after, ms");
  for (const Comparison& model : comparisons.models)
    text += report_text("{:<{}} {:>12.3f} {:>12.3f}  {:.3f} [{:.3f}, {:.3f}]  {}\n", model.model, width,
                        model.before_ms, model.after_ms, model.ratio.value, model.ratio.interval.low,
                        model.ratio.interval.high, to_string(model.verdict));
  for (const std::string& note : comparisons.notes) text += report_text("note: {}\n", note);
  return text;
}

}  // namespace saccade
