#include "measure/bench/test_folder.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/module.hpp"
#include "graph/importer.hpp"
#include "measure/bench/closeness.hpp"
#include "pipeline/model/compile.hpp"
#include "pipeline/model/device.hpp"
#include "runtime/json_words.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModel = "model.onnx";
constexpr std::string_view kDataSet = "test_data_set_";

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// Folders in PATH that are not symbolic links. Throws Error (kIo) if PATH cannot be read.
std::vector<fs::path> folders_in(const fs::path& path) {
  std::vector<fs::path> folders;
  std::error_code error;
  std::error_code ignored;
  fs::directory_iterator entry(path, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) folders.push_back(entry->path());
  if (error) fail(ErrorCode::kIo, "the folder {} can't be read: {}", path.string(), error.message());
  return folders;
}

/// The test folders at and below PATH, which is named NAME.
void find_below(const fs::path& path, const std::string& name, std::vector<TestFolder>& found) {
  if (is_there(path / kModel)) {
    found.push_back({name, path});
    return;
  }
  std::vector<fs::path> folders = folders_in(path);
  for (const fs::path& folder : folders) {
    std::string below = name;
    if (!below.empty()) below += '/';
    below += folder.filename().string();
    find_below(folder, below, found);
  }
}

std::vector<fs::path> data_sets_of(const TestFolder& test) {
  std::vector<fs::path> sets;
  for (const fs::path& folder : folders_in(test.path))
    if (folder.filename().string().starts_with(kDataSet)) sets.push_back(folder);
  if (sets.empty()) fail(ErrorCode::kNotFound, "{} has no {}0", test.path.string(), kDataSet);
  std::ranges::sort(sets);
  return sets;
}

Tolerance tolerance_of(const TestFolder& test) {
  Tolerance tolerance;
  if (!is_there(test.path / "data.json")) return tolerance;
  std::ifstream file = open_input(test.path / "data.json");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) fail(ErrorCode::kInvalidFile, "{} is not a JSON object", (test.path / "data.json").string());
  try {
    tolerance.relative = json.value("rtol", tolerance.relative);
    tolerance.absolute = json.value("atol", tolerance.absolute);
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::kInvalidFile, "{} {}", (test.path / "data.json").string(), in_words(error));
  }
  return tolerance;
}

/// The tensors in WHAT_0.pb, WHAT_1.pb, ... of a data set.
std::vector<Tensor> read_tensors(const fs::path& set, std::string_view what, std::size_t max_memory) {
  std::vector<Tensor> tensors;
  while (true) {
    const fs::path file = set / fmt::format("{}_{}.pb", what, tensors.size());
    if (!is_there(file)) return tensors;
    tensors.push_back(module<OnnxModule>("onnx").read_tensor(file.string(), max_memory));
  }
}

/// The inputs of one data set by name.
std::map<std::string, Tensor> read_inputs(const std::string& model, const fs::path& set, std::size_t max_memory) {
  const std::vector<std::string> names = module<OnnxModule>("onnx").input_names(model, max_memory);
  const std::vector<Tensor> tensors = read_tensors(set, "input", max_memory);
  if (names.size() != tensors.size())
    fail(ErrorCode::kInvalidFile, "the model has {} inputs, but {} has {}", names.size(), set.string(), tensors.size());
  std::map<std::string, Tensor> inputs;
  for (std::size_t i = 0; i < names.size(); ++i) inputs.emplace(names[i], tensors[i]);
  return inputs;
}

Graph import_for(const std::string& model, const std::map<std::string, Tensor>& inputs, const ModelOptions& options) {
  ImportOptions import{
      .shapes = options.shapes, .dimensions = options.dimensions, .contents = inputs, .max_memory = options.max_memory};
  for (const auto& [name, tensor] : inputs)
    import.shapes.try_emplace(name, tensor.shape().begin(), tensor.shape().end());
  return module<OnnxModule>("onnx").import_model(model, import);
}

std::vector<Tensor> run(std::shared_ptr<const Plan> plan, const std::map<std::string, Tensor>& inputs) {
  Execution execution(std::move(plan));
  const Graph& graph = execution.plan().graph();
  for (std::size_t i = 0; i < graph.inputs().size(); ++i)
    copy_elements(view_of(inputs.at(graph.value(graph.inputs()[i]).name)), execution.input(i));
  execution.run();
  return read_data_outputs(execution);
}

/// Why the model's outputs on one data set are wrong; empty if they are right.
std::string run_data_set(const TestFolder& test, const fs::path& set, const ModelOptions& options) {
  const std::string model = (test.path / kModel).string();
  std::map<std::string, Tensor> inputs;
  std::optional<Error> unreadable;
  try {
    inputs = read_inputs(model, set, options.max_memory);
  } catch (const Error& error) {
    unreadable = error;
  }
  // Inputs that are not tensors belong to an unsupported model: the import reports the reason.
  Graph graph = import_for(model, inputs, options);
  if (unreadable) throw Error(*unreadable);
  std::vector<std::string> names;
  for (ValueId output : graph.data_outputs()) names.push_back(graph.value(output).name);
  ModelOptions chosen = options;
  chosen.device = choose_device(model, options, [&]() -> const Graph& { return graph; });
  const std::vector<Tensor> have = run(compile({.graph = std::move(graph), .options = chosen}), inputs);
  const std::vector<Tensor> want = read_tensors(set, "output", options.max_memory);
  if (have.size() != want.size())
    return fmt::format("the model has {} outputs, but {} has {}", have.size(), set.string(), want.size());
  const Tolerance tolerance = tolerance_of(test);
  for (std::size_t i = 0; i < have.size(); ++i)
    if (const std::string why = difference(have[i], want[i], tolerance); !why.empty())
      return fmt::format("{}: output '{}': {}", set.filename().string(), names[i], why);
  return {};
}

/// MESSAGE without the path that all of them begin with.
std::string without_path(const std::string& message, const TestFolder& test) {
  const std::string prefix = (test.path / kModel).string() + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

}  // namespace

std::vector<TestFolder> find_test_folders(std::span<const std::string> folders) {
  std::vector<TestFolder> all;
  for (const std::string& folder : folders) {
    std::error_code error;
    const fs::path path = fs::canonical(folder, error);
    if (error && error != std::errc::no_such_file_or_directory)
      fail(ErrorCode::kIo, "the folder {} can't be read: {}", folder, error.message());
    if (error || !fs::is_directory(path, error)) fail(ErrorCode::kNotFound, "{} is not a folder", folder);
    std::vector<TestFolder> found;
    find_below(path, is_there(path / kModel) ? path.filename().string() : "", found);
    if (found.empty())
      fail(ErrorCode::kNotFound, "{} holds no test: a folder with {} and {}0", folder, kModel, kDataSet);
    all.insert(all.end(), found.begin(), found.end());
  }
  std::ranges::sort(all, {}, &TestFolder::name);
  return all;
}

TestOutcome run_test_folder(const TestFolder& test, const ModelOptions& options) {
  try {
    for (const fs::path& set : data_sets_of(test))
      if (std::string why = run_data_set(test, set, options); !why.empty())
        return {TestVerdict::kFailed, std::move(why)};
    return {};
  } catch (const Error& error) {
    const TestVerdict verdict =
        error.code() == ErrorCode::kUnsupported ? TestVerdict::kUnsupported : TestVerdict::kFailed;
    return {verdict, without_path(error.what(), test)};
  } catch (const std::exception& error) {
    return {TestVerdict::kFailed, error.what()};
  }
}

}  // namespace saccade
