#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/memory_budget.hpp"
#include "runtime/graph_json.hpp"
#include "runtime/plan.hpp"

// A plan file: 8 bytes of magic, a 32-bit version and the header's 64-bit length (little-endian), the header (JSON:
// backend, device, threads, tactics, graph), zeros up to a multiple of 64 bytes, the constants. Weights are kept as the
// model has them; packing them for the device takes milliseconds when the plan is opened.
namespace saccade {
namespace {

using Json = nlohmann::json;

constexpr std::array<char, 8> kMagic = {'S', 'A', 'C', 'C', 'P', 'L', 'A', 'N'};
constexpr std::uint32_t kVersion = 1;
// A header has less; what copies or prints a JSON value goes down into it and would end the stack.
constexpr int kMaxDepth = 32;
constexpr std::size_t kPrefix = kMagic.size() + sizeof(std::uint32_t) + sizeof(std::uint64_t);

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorCode::kIo, "it can't be read: {}", std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

Json parse_header(const std::string& bytes, std::string_view& blob) {
  std::uint32_t version = 0;
  std::uint64_t length = 0;
  if (bytes.size() < kPrefix) fail(ErrorCode::kInvalidFile, "it is cut short: compile the plan again");
  std::memcpy(&version, bytes.data() + kMagic.size(), sizeof version);
  std::memcpy(&length, bytes.data() + kMagic.size() + sizeof version, sizeof length);
  if (version != kVersion)
    fail(ErrorCode::kInvalidFile, "it is a plan of version {}, this saccade reads {}: compile it again", version,
         kVersion);
  if (length > bytes.size() - kPrefix) fail(ErrorCode::kInvalidFile, "it is cut short: compile the plan again");
  const std::size_t start = std::min(aligned(kPrefix + length), bytes.size());
  blob = std::string_view(bytes).substr(start);
  const auto flat = [](int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) {
    if (depth > kMaxDepth) fail(ErrorCode::kInvalidFile, "its header is nested too deep: compile the plan again");
    return true;
  };
  return Json::parse(std::string_view(bytes).substr(kPrefix, length), flat);
}

}  // namespace

bool is_plan_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kMagic.size()> start{};
  file.read(start.data(), start.size());
  return file && start == kMagic;
}

void save_plan(const Plan& plan, const std::string& path) {
  TensorBlob blob;
  Json header{{"backend", plan.backend().name()},
              {"device", plan.backend().device_name()},
              {"threads", plan.threads()},
              {"graph", to_json(plan.graph(), blob)}};
  header["tactics"] = Json::array();
  for (const Step& step : plan.steps()) header["tactics"].push_back(step.tactic == nullptr ? "" : step.tactic->name());
  const std::string text = header.dump();
  const auto length = static_cast<std::uint64_t>(text.size());
  std::string bytes(kMagic.data(), kMagic.size());
  bytes.append(reinterpret_cast<const char*>(&kVersion), sizeof kVersion);
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += text;
  bytes.resize(aligned(bytes.size()));
  bytes += blob.bytes();
  // A reader never sees half a plan: the file gets its name once it is whole.
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) fail(ErrorCode::kIo, "{} can't be written: {}", path, std::strerror(errno));
  std::error_code error;
  std::filesystem::rename(part, path, error);
  if (error) fail(ErrorCode::kIo, "{} can't be written: {}", path, error.message());
}

std::shared_ptr<const Plan> load_plan(const std::string& path, const Backend& backend, const CompileOptions& options) {
  if (!is_plan_file(path)) fail(ErrorCode::kInvalidFile, "{} is not a plan", path);
  try {
    MemoryBudget(options.max_memory).check(std::filesystem::file_size(path));
    const std::string bytes = read_file(path);
    std::string_view blob;
    const Json header = parse_header(bytes, blob);
    if (header.at("backend") != backend.name())
      fail(ErrorCode::kUnsupported, "it was compiled for the {} backend, not for {}",
           header.at("backend").get<std::string>(), backend.name());
    CompileOptions stored = options;
    stored.tactics = header.at("tactics").get<std::vector<std::string>>();
    // Tactics were chosen on another device: they are chosen anew.
    if (header.at("device") != backend.device_name()) stored.tactics.clear();
    return Plan::compile(graph_from_json(header.at("graph"), blob), backend, stored);
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::kInvalidFile, "{} is damaged ({}): compile the plan again", path, error.what());
  } catch (const Error& error) {
    throw error.in(path);
  }
}

}  // namespace saccade
