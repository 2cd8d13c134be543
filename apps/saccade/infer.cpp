#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <saccade/saccade.hpp>
#include <set>

#include "command.hpp"
#include "common.hpp"
#include "random_tensor.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

struct InferFlags {
  CommonFlags common;
  std::string model;
  std::vector<std::string> inputs;
  std::string output;
  std::uint64_t seed = 0;
};

/// NAME with characters that are unsafe in file names replaced by '_'.
std::string sanitised(std::string name) {
  constexpr std::string_view kept = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  for (char& c : name)
    if (kept.find(c) == std::string_view::npos) c = '_';
  return name;
}

/// The given tensors in the model's order; missing ones are random.
std::vector<Tensor> gather_inputs(const Model& model, const InferFlags& flags) {
  std::map<std::string, Tensor> given;
  for (const std::string& assignment : flags.inputs) {
    const auto [name, file] = split_assignment(assignment);
    const bool known = std::ranges::find(model.inputs(), name, &TensorInfo::name) != model.inputs().end();
    if (!known) {
      std::string names;
      for (const TensorInfo& input : model.inputs())
        names += fmt::format("{}'{}'", names.empty() ? "" : ", ", input.name);
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} has no input '{}'; its inputs are {}", flags.model, name, names));
    }
    given.insert_or_assign(name, load_npy(file));
  }
  std::vector<Tensor> inputs;
  for (const TensorInfo& input : model.inputs()) {
    const auto found = given.find(input.name);
    inputs.push_back(found != given.end() ? found->second : random_tensor(input, flags.seed + inputs.size()));
  }
  return inputs;
}

/// Rejects two tensors for one input.
void check_inputs(const InferFlags& flags) {
  std::set<std::string> names;
  for (const std::string& assignment : flags.inputs)
    if (const std::string name = split_assignment(assignment).first; !names.insert(name).second)
      throw UsageError("--input", fmt::format("'{}' is given twice", name));
}

/// DIR/NAME.npy for each output. Throws Error if two names map to the same file.
std::vector<std::string> output_paths(const Model& model, const std::string& folder) {
  std::vector<std::string> paths;
  for (const TensorInfo& output : model.outputs()) {
    paths.push_back((std::filesystem::path(folder) / (sanitised(output.name) + ".npy")).string());
    if (std::ranges::count(paths, paths.back()) > 1)
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("two outputs of the model would be written to {}", paths.back()));
  }
  return paths;
}

nlohmann::json to_json(const Model& model, std::span<const Tensor> outputs, std::span<const std::string> paths) {
  auto rows = nlohmann::json::array();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Shape& shape = outputs[i].shape();
    rows.push_back({{"name", model.outputs()[i].name},
                    {"dtype", to_string(outputs[i].dtype())},
                    {"shape", std::vector<std::int64_t>(shape.begin(), shape.end())},
                    {"file", paths[i]}});
  }
  return {{"model", model.name()}, {"outputs", rows}};
}

std::string to_text(const Model& model, std::span<const Tensor> outputs, std::span<const std::string> paths) {
  std::string text;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    text += fmt::format("{}: {} {} -> {}\n", printable(model.outputs()[i].name), to_string(outputs[i].dtype()),
                        outputs[i].shape().to_string(), printable(paths[i]));
  return text;
}

int infer(const InferFlags& flags) {
  const Model model = Model::load(flags.model, flags.common.model);
  Session session(model);  // counts the memory of the tensors before any is generated
  const std::vector<Tensor> inputs = gather_inputs(model, flags);
  const std::vector<std::string> paths = output_paths(model, flags.output);
  for (const std::string& path : paths) check_output(path);
  std::error_code error;
  std::filesystem::create_directories(flags.output, error);
  if (error) throw Error(ErrorCode::kIo, fmt::format("can't create the folder {}: {}", flags.output, error.message()));
  const std::vector<Tensor> outputs = session.run(inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) save_npy(paths[i], outputs[i]);
  print_result(
      flags.common.json, [&] { return to_json(model, outputs, paths); },
      [&] { return to_text(model, outputs, paths); });
  return kOk;
}

}  // namespace

Action add_infer(FlagBinder& binder) {
  const auto flags = std::make_shared<InferFlags>();
  binder.bind("MODEL", &flags->model);
  binder.bind("--input", &flags->inputs);
  binder.bind("--output", &flags->output);
  binder.bind("--seed", &flags->seed);
  flags->common.bind(binder);
  return {.run = [flags] { return infer(*flags); }, .check = [flags] { check_inputs(*flags); }};
}

}  // namespace saccade::app
