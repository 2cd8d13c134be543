#include "runtime/plan_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "base/input_file.hpp"
#include "base/memory_budget.hpp"
#include "base/output_file.hpp"
#include "base/utf8.hpp"
#include "runtime/graph_json.hpp"
#include "runtime/json_words.hpp"

// A plan file: 8 bytes of magic, a 32-bit version and the header's 64-bit length (little-endian), the header (JSON:
// what PlanFacts holds, and the graph), zeros up to a multiple of 64 bytes, the constants and the kernels. The model is
// kept as it was read: passes take milliseconds, and what they make of it depends on flags that a plan's user may give,
// thresholds and classes among them.
namespace saccade {
namespace {

using Json = nlohmann::json;

constexpr std::array<char, 8> kMagic = {'S', 'A', 'C', 'C', 'P', 'L', 'A', 'N'};
constexpr std::uint32_t kVersion = 4;
// A header has less; what copies or prints a JSON value goes down into it and would end the stack.
constexpr int kMaxDepth = 32;
constexpr std::size_t kPrefix = kMagic.size() + sizeof(std::uint32_t) + sizeof(std::uint64_t);

std::size_t aligned_offset(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// A plan file, read from its beginning on.
class Reader {
 public:
  Reader(const std::string& path, std::size_t max_memory) : file_(open_input(path)) {
    file_.seekg(0, std::ios::end);
    left_ = static_cast<std::size_t>(file_.tellg());
    MemoryBudget(max_memory).check(left_);
    file_.seekg(0);
  }

  Json header() {
    const std::string prefix = take(kPrefix);
    std::uint32_t version = 0;
    std::uint64_t length = 0;
    std::memcpy(&version, prefix.data() + kMagic.size(), sizeof version);
    std::memcpy(&length, prefix.data() + kMagic.size() + sizeof version, sizeof length);
    if (version != kVersion)
      fail(ErrorCode::kInvalidFile, "it is a plan of version {}, this saccade reads {}: compile it again", version,
           kVersion);
    const std::string text = take(length);
    const auto flat = [](int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) {
      if (depth > kMaxDepth) fail(ErrorCode::kInvalidFile, "its header is nested too deep: compile the plan again");
      return true;
    };
    Json header = Json::parse(text, flat);
    take(std::min(aligned_offset(kPrefix + length) - kPrefix - length, left_));
    return header;
  }

  /// What comes behind the header.
  std::string rest() { return take(left_); }

 private:
  std::string take(std::uint64_t bytes) {
    if (bytes > left_) fail(ErrorCode::kInvalidFile, "it is cut short: compile the plan again");
    std::string taken(bytes, '\0');
    file_.read(taken.data(), static_cast<std::streamsize>(bytes));
    if (!file_) fail(ErrorCode::kIo, "it can't be read: {}", std::strerror(errno));
    left_ -= bytes;
    return taken;
  }

  std::ifstream file_;
  std::size_t left_ = 0;
};

/// Calls READ with a reader of the plan PATH; errors name it.
template <typename Read>
auto reading(const std::string& path, std::size_t max_memory, Read read) {
  if (!is_plan_file(path)) fail(ErrorCode::kInvalidFile, "{} is not a plan", path);
  try {
    Reader reader(path, max_memory);
    return read(reader);
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::kInvalidFile, "{} is damaged (its header {}): compile the plan again", path, in_words(error));
  } catch (const Error& error) {
    throw error.in(path);
  }
}

Json choices_json(const TacticChoices& choices) {
  Json json = Json::object();
  for (const auto& [node, choice] : choices) json[node] = {choice.tactic, choice.configuration};
  return json;
}

TacticChoices choices_from(const Json& json) {
  TacticChoices choices;
  for (const auto& [node, choice] : json.get<std::map<std::string, std::array<std::string, 2>>>())
    choices[node] = {choice[0], choice[1]};
  return choices;
}

Json kernels_json(const KernelImages& kernels, TensorBlob& blob) {
  Json json = Json::array();
  for (const auto& [key, image] : kernels)
    json.push_back({{"key", key}, {"offset", blob.add(image)}, {"bytes", image.size()}, {"digest", digest(image)}});
  return json;
}

std::size_t size_from(const Json& json) {
  if (!json.is_number_unsigned())
    fail(ErrorCode::kInvalidFile, "a kernel's place is no number: compile the plan again");
  return json.get<std::size_t>();
}

KernelImages kernels_from(const Json& json, std::string_view blob) {
  KernelImages kernels;
  std::size_t left = blob.size();
  for (const Json& kernel : json) {
    const std::size_t offset = size_from(kernel.at("offset"));
    const std::size_t bytes = size_from(kernel.at("bytes"));
    if (offset > blob.size() || bytes > blob.size() - offset)
      fail(ErrorCode::kInvalidFile, "a kernel lies outside the file: compile the plan again");
    // A small file must not ask for the same bytes again and again.
    if (bytes > left) fail(ErrorCode::kInvalidFile, "its kernels overlap: compile the plan again");
    left -= bytes;
    const std::string_view image = blob.substr(offset, bytes);
    if (digest(image) != kernel.at("digest").get<std::string>())
      fail(ErrorCode::kInvalidFile, "a kernel's machine code is damaged: compile the plan again");
    kernels.emplace(kernel.at("key").get<std::string>(), image);
  }
  return kernels;
}

Json names_json(const PlanFacts::WideValues& names) { return names ? Json(*names) : Json(); }

PlanFacts::WideValues names_from(const Json& json) {
  if (json.is_null()) return {};
  return json.get<PlanFacts::WideValues::value_type>();
}

PlanFacts facts_from(const Json& header, std::string_view blob) {
  PlanFacts facts;
  header.at("backend").get_to(facts.backend);
  header.at("device").get_to(facts.device);
  header.at("kernel_version").get_to(facts.kernel_version);
  header.at("precision").get_to(facts.precision);
  facts.stay_wide = names_from(header.at("stay_wide"));
  facts.stay_wide_on_tensors = names_from(header.at("stay_wide_on_tensors"));
  header.at("fallback").get_to(facts.fallback);
  header.at("card").get_to(facts.card);
  facts.choices = choices_from(header.at("choices"));
  facts.kernels = kernels_from(header.at("kernels"), blob);
  return facts;
}

/// The header as JSON. Throws Error (kUnsupported) naming what is no UTF-8, which JSON can't hold.
std::string text_of(const Json& header, const Graph& graph, const std::string& path) {
  try {
    return header.dump();
  } catch (const nlohmann::json::type_error&) {
    std::string names;
    const auto note = [&](const char* what, const std::string& name) {
      if (names.empty() && !is_utf8(name)) names = fmt::format(": the {} '{}'", what, name);
    };
    for (std::size_t i = 0; i < graph.value_count(); ++i) note("value", graph.value(static_cast<ValueId>(i)).name);
    for (const NodeId id : graph.order()) note("node", graph.node(id).name);
    fail(ErrorCode::kUnsupported, "{}: a name in the model is not UTF-8, and a plan can't hold it{}; rename it", path,
         names);
  }
}

}  // namespace

bool is_plan_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, kMagic.size()> start{};
  file.read(start.data(), start.size());
  return file && start == kMagic;
}

void save_plan(const std::string& path, const Graph& graph, const PlanFacts& facts) {
  TensorBlob blob;
  const Json header{{"backend", facts.backend},
                    {"device", facts.device},
                    {"kernel_version", facts.kernel_version},
                    {"precision", facts.precision},
                    {"stay_wide", names_json(facts.stay_wide)},
                    {"stay_wide_on_tensors", names_json(facts.stay_wide_on_tensors)},
                    {"fallback", facts.fallback},
                    {"card", facts.card},
                    {"graph", to_json(graph, blob)},
                    {"choices", choices_json(facts.choices)},
                    {"kernels", kernels_json(facts.kernels, blob)}};
  const std::string text = text_of(header, graph, path);
  const auto length = static_cast<std::uint64_t>(text.size());
  std::string bytes(kMagic.data(), kMagic.size());
  bytes.append(reinterpret_cast<const char*>(&kVersion), sizeof kVersion);
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += text;
  bytes.resize(aligned_offset(bytes.size()));
  bytes += blob.bytes();
  OutputFile file(path);
  if (file.is_stream()) fail(ErrorCode::kInvalidArgument, "a plan can't be written to {}: name a file", path);
  file.write(bytes);
  file.close();
}

PlanContents load_plan(const std::string& path, std::size_t max_memory) {
  return reading(path, max_memory, [](Reader& reader) {
    const Json header = reader.header();
    const std::string blob = reader.rest();
    return PlanContents{.graph = graph_from_json(header.at("graph"), blob), .facts = facts_from(header, blob)};
  });
}

std::string backend_of_plan(const std::string& path) {
  return reading(path, 0, [](Reader& reader) { return reader.header().at("backend").get<std::string>(); });
}

}  // namespace saccade
