#include "runtime/tactic_cache.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/cache_folder.hpp"
#include "base/digest.hpp"
#include "base/log.hpp"
#include "base/processors.hpp"

namespace saccade {
namespace {

using Json = nlohmann::json;

// Some hundred thousand node classes; a larger file is not a cache of ours.
constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;

/// Empty: there is no cache.
std::filesystem::path path_for(const Backend& backend, int threads) {
  const std::filesystem::path folder = cache_folder();
  if (folder.empty()) return {};
  std::string what = fmt::format("{}\n{}\n{}", backend.name(), backend.device_name(), backend.kernel_version());
  if (backend.runs_on_threads()) what += fmt::format("\n{}", threads > 0 ? threads : available_processors());
  return folder / "tactics" / (digest(what) + ".json");
}

}  // namespace

TacticChoices cached_choices(const Backend& backend, int threads) {
  const std::filesystem::path path = path_for(backend, threads);
  std::error_code error;
  const auto bytes = path.empty() ? 0 : std::filesystem::file_size(path, error);
  if (path.empty() || error) return {};
  if (bytes > kMostBytes) {
    log(LogLevel::kWarning, "{} is too large and is ignored", path.string());
    return {};
  }
  TacticChoices choices;
  try {
    std::ifstream file(path);
    for (const auto& [node, choice] :
         Json::parse(file).at("choices").get<std::map<std::string, std::array<std::string, 2>>>())
      choices[node] = {choice[0], choice[1]};
    return choices;
  } catch (const nlohmann::json::exception& damage) {
    log(LogLevel::kWarning, "{} is damaged and is ignored: it {}", path.string(), in_words(damage));
    return {};
  }
}

void cache_choices(const Backend& backend, int threads, const TacticChoices& choices) {
  const std::filesystem::path path = path_for(backend, threads);
  if (path.empty() || choices.empty()) return;
  TacticChoices all = cached_choices(backend, threads);
  for (const auto& [node, choice] : choices) all.insert_or_assign(node, choice);
  Json json{{"device", backend.device_name()}, {"choices", Json::object()}};
  for (const auto& [node, choice] : all) json["choices"][node] = {choice.tactic, choice.configuration};
  if (!write_whole(path, json.dump(1)))
    log(LogLevel::kWarning, "{} can't be written ({}): tuning will be repeated", path.string(), std::strerror(errno));
}

}  // namespace saccade
