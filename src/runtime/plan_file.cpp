#include "runtime/plan_file.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/input_file.hpp"
#include "base/mapped_file.hpp"
#include "base/memory_budget.hpp"
#include "base/output_file.hpp"
#include "base/utf8.hpp"
#include "runtime/graph_json.hpp"
#include "runtime/json_words.hpp"
#include "runtime/plan_container.hpp"

// The header of a plan file (runtime/plan_container.hpp) has the graph and PlanFacts; the blob has constants and
// kernels. The graph is stored before passes: they take milliseconds, and their result depends on flags of the plan's
// user, such as thresholds and classes.
namespace saccade {
namespace {

using Json = nlohmann::json;

// More than any header has. The library copies and prints values recursively and would overflow the stack.
constexpr int kMaxDepth = 32;

/// Calls READ; a JSON error means that the file is damaged.
template <typename Read>
auto parsing(Read read) {
  try {
    return read();
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::kInvalidFile, "it is damaged (its header {}): compile the plan again", in_words(error));
  }
}

/// Calls READ with the plan file at PATH; errors name it.
template <typename Read>
auto reading(const std::string& path, Read read) {
  if (!is_plan_file(path)) fail(ErrorCode::kInvalidFile, "{} is not a plan", path);
  const auto file = std::make_shared<const MappedFile>(path);
  try {
    return parsing([&] { return read(file); });
  } catch (const Error& error) {
    throw error.in(path);
  }
}

Json parsed_header(std::string_view text) {
  const auto flat = [](int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) {
    if (depth > kMaxDepth) fail(ErrorCode::kInvalidFile, "its header is nested too deeply: compile the plan again");
    return true;
  };
  return Json::parse(text, flat);
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
    json.push_back({{"key", key}, {"offset", blob.add(image)}, {"bytes", image.size()}});
  return json;
}

std::size_t size_from(const Json& json) {
  if (!json.is_number_unsigned())
    fail(ErrorCode::kInvalidFile, "a kernel's offset is not a number: compile the plan again");
  return json.get<std::size_t>();
}

KernelImages kernels_from(const Json& json, StoredTensors& stored) {
  KernelImages kernels;
  for (const Json& kernel : json) {
    const std::string_view image =
        stored.bytes(size_from(kernel.at("offset")), size_from(kernel.at("bytes")), "a kernel");
    kernels.emplace(kernel.at("key").get<std::string>(), image);
  }
  return kernels;
}

Json packed_json(const PackedTensors& packed, TensorBlob& blob) {
  Json json = Json::object();
  for (const auto& [key, tensor] : packed) json[key] = blob.add(tensor);
  return json;
}

PackedTensors packed_from(const Json& json, StoredTensors& stored) {
  PackedTensors packed;
  for (const auto& [key, tensor] : json.get<std::map<std::string, Json>>()) packed.emplace(key, stored.tensor(tensor));
  return packed;
}

Json names_json(const std::optional<ValueNames>& names) { return names ? Json(*names) : Json(); }

std::optional<ValueNames> names_from(const Json& json) {
  if (json.is_null()) return {};
  return json.get<ValueNames>();
}

/// Calls PARSE; an unknown name means that the file is damaged.
template <typename Parse>
auto parsing_name(Parse parse) {
  try {
    return parse();
  } catch (const Error& error) {
    fail(ErrorCode::kInvalidFile, "its header is damaged ({}): compile the plan again", error.what());
  }
}

Device::Kind backend_from(const Json& header) {
  const auto name = header.at("backend").get<std::string>();
  const Device device = parsing_name([&] { return Device::parse(name); });
  if (device.kind == Device::Kind::kAuto || to_string(device.kind) != name)
    fail(ErrorCode::kInvalidFile, "it is for the backend '{}', which is not known: compile the plan again", name);
  return device.kind;
}

Precision precision_from(const Json& header) {
  const auto name = header.at("precision").get<std::string>();
  return parsing_name([&] { return parse_precision(name); });
}

PlanFacts facts_from(const Json& header, StoredTensors& stored) {
  PlanFacts facts;
  facts.backend = backend_from(header);
  header.at("device").get_to(facts.device);
  header.at("kernel_version").get_to(facts.kernel_version);
  facts.precision = precision_from(header);
  facts.keep_fp32 = names_from(header.at("stay_wide"));
  facts.keep_fp32_on_tensors = names_from(header.at("stay_wide_on_tensors"));
  header.at("stay_wide_for_accuracy").get_to(facts.keep_for_accuracy);
  header.at("fallback").get_to(facts.fallback);
  header.at("card").get_to(facts.card);
  facts.choices = choices_from(header.at("choices"));
  facts.kernels = kernels_from(header.at("kernels"), stored);
  facts.packed = packed_from(header.at("packed"), stored);
  return facts;
}

/// The header as JSON. Throws Error (kUnsupported) naming a string that is not UTF-8.
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

/// The plan of BYTES. Tensors share the memory of FILE, which has these bytes, if there is one.
PlanContents parse(std::string_view bytes, std::shared_ptr<const MappedFile> file, std::size_t max_memory) {
  MemoryBudget budget(max_memory);
  budget.take(bytes.size());
  const PlanLayout layout = plan_layout(bytes, bytes.size());
  const std::string_view text = plan_header(bytes, layout);
  // So that the peak of resident memory is not the whole file.
  const auto release = [&] {
    if (file != nullptr) file->release_pages();
  };
  StoredTensors stored(plan_blob(bytes, layout, release), file);
  return parsing([&] {
    const Json header = parsed_header(text);
    return PlanContents{.graph = graph_from_json(header.at("graph"), stored, budget),
                        .facts = facts_from(header, stored),
                        .file = std::move(file)};
  });
}

}  // namespace

bool is_plan_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(without_waiting(path), std::ios::binary);
  std::array<char, 8> start{};
  file.read(start.data(), start.size());
  return file && starts_plan({start.data(), start.size()});
}

void save_plan(const std::string& path, const Graph& graph, const PlanFacts& facts) {
  TensorBlob blob;
  const Json header{{"backend", to_string(facts.backend)},
                    {"device", facts.device},
                    {"kernel_version", facts.kernel_version},
                    {"precision", to_string(facts.precision)},
                    {"stay_wide", names_json(facts.keep_fp32)},
                    {"stay_wide_on_tensors", names_json(facts.keep_fp32_on_tensors)},
                    {"stay_wide_for_accuracy", facts.keep_for_accuracy},
                    {"fallback", facts.fallback},
                    {"card", facts.card},
                    {"graph", to_json(graph, blob)},
                    {"choices", choices_json(facts.choices)},
                    {"kernels", kernels_json(facts.kernels, blob)},
                    {"packed", packed_json(facts.packed, blob)}};
  const std::string bytes = seal_plan(text_of(header, graph, path), blob.bytes());
  OutputFile file(path);
  if (file.is_stream()) fail(ErrorCode::kInvalidArgument, "a plan can't be written to {}: name a file", path);
  file.write(bytes);
  file.close();
}

PlanContents parse_plan(std::string_view bytes, std::size_t max_memory) { return parse(bytes, nullptr, max_memory); }

PlanContents load_plan(const std::string& path, std::size_t max_memory) {
  return reading(path,
                 [&](const std::shared_ptr<const MappedFile>& file) { return parse(file->bytes(), file, max_memory); });
}

Device::Kind backend_of_plan(const std::string& path) {
  return reading(path, [](const std::shared_ptr<const MappedFile>& file) {
    const std::string_view bytes = file->bytes();
    return backend_from(parsed_header(plan_header(bytes, plan_layout(bytes, bytes.size()))));
  });
}

}  // namespace saccade
