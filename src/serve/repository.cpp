#include "serve/repository.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/log.hpp"

namespace saccade::serve {
namespace {

bool is_model(const std::filesystem::path& file) { return file.extension() == ".onnx" || file.extension() == ".plan"; }

/// Whether FOLDER has a model in the layout of Triton's repositories.
bool has_nested_model(const std::string& folder) {
  std::error_code ignored;
  return std::ranges::any_of(std::filesystem::directory_iterator(folder), [&](const auto& entry) {
    return std::filesystem::exists(entry.path() / "1" / "model.onnx", ignored);
  });
}

}  // namespace

Repository::Repository(Load load, std::string folder) : load_(std::move(load)), folder_(std::move(folder)) {}

Repository::~Repository() = default;

void Repository::add(const std::string& path) {
  auto model = load_(path);
  const std::string name = model->model().name();
  const std::scoped_lock lock(mutex_);
  if (models_.contains(name))
    fail(ErrorCode::kInvalidArgument, "two models are called '{}': requests could not tell them apart", name);
  models_.emplace(name, std::move(model));
}

void Repository::add_folder() {
  if (!is_controlled()) return;
  for (const std::string& name : names()) fixed_.insert(name);
  const std::vector<std::string> files = file_names();
  if (files.empty())
    log(LogLevel::kWarning, "there is no .onnx file or plan in '{}'{}", folder_,
        has_nested_model(folder_) ? ": a model NAME/1/model.onnx is to be NAME.onnx" : "");
  for (const std::string& name : files) add(path_of(name));
}

void Repository::check_is_controlled() const {
  if (!is_controlled())
    fail(ErrorCode::kInvalidArgument, "models can't be loaded or unloaded: the server was started without --model-dir");
}

/// What is unloaded can be loaded again.
void Repository::check_is_of_folder(const std::string& name) const {
  if (fixed_.contains(name))
    fail(ErrorCode::kInvalidArgument, "'{}' is a model of the command line, and stays as it is", name);
}

void Repository::load(const std::string& name) {
  check_is_controlled();
  check_is_of_folder(name);
  const std::scoped_lock loading(loading_);
  const std::string path = path_of(name);
  std::unique_ptr<ServedModel> model;
  try {
    model = load_(path);
  } catch (const Error& error) {
    log(LogLevel::kWarning, "'{}' is not loaded: {}", name, error.what());
    fail(error.code(), "'{}' can't be loaded: the server's log says why", name);
  }
  {
    const std::scoped_lock lock(mutex_);
    models_[name].swap(model);
    ending_ = model.get();
  }
  // The old one responds to what it has taken while the new one runs.
  if (model != nullptr) end(*model);
}

void Repository::unload(const std::string& name) {
  check_is_controlled();
  check_is_of_folder(name);
  const std::scoped_lock loading(loading_);
  std::unique_ptr<ServedModel> model;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = models_.find(name);
    if (found == models_.end()) fail(ErrorCode::kInvalidArgument, "no model '{}' is loaded", brief(name));
    model = std::move(found->second);
    models_.erase(found);
    ending_ = model.get();
  }
  end(*model);
}

void Repository::end(ServedModel& model) {
  model.finish();
  const std::scoped_lock lock(mutex_);
  ended_[model.model().name()] += model.use();
  ending_ = nullptr;
}

/// No path comes from a request: NAME is compared with those of the folder.
std::string Repository::path_of(const std::string& name) const {
  std::string path;
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    if (!is_model(file.path()) || file.path().stem().string() != name) continue;
    if (!path.empty())
      fail(ErrorCode::kInvalidArgument, "there are two files of a model '{}', an ONNX file and a plan: remove one",
           name);
    path = file.path().string();
  }
  if (path.empty()) fail(ErrorCode::kInvalidArgument, "there is no file of a model '{}'", brief(name));
  return path;
}

/// The names of the models in the folder.
std::vector<std::string> Repository::file_names() const {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder_))
    if (is_model(file.path())) names.insert(file.path().stem().string());
  return {names.begin(), names.end()};
}

std::vector<Repository::Entry> Repository::index() const {
  std::map<std::string, bool> is_ready;
  if (is_controlled())
    for (const std::string& name : file_names()) is_ready[name] = false;
  for (const std::string& name : names()) is_ready[name] = true;
  std::vector<Entry> entries;
  entries.reserve(is_ready.size());
  for (const auto& [name, ready] : is_ready) entries.push_back({name, ready});
  return entries;
}

bool Repository::with(std::string_view name, const std::function<void(ServedModel&)>& use) const {
  const std::shared_lock lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) return false;
  use(*found->second);
  return true;
}

std::vector<std::string> Repository::names() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::string> names;
  names.reserve(models_.size());
  for (const auto& [name, model] : models_) names.push_back(name);
  return names;
}

std::map<std::string, ModelUse> Repository::use() const {
  const std::shared_lock lock(mutex_);
  std::map<std::string, ModelUse> all = ended_;
  if (ending_ != nullptr) all[ending_->model().name()] += ending_->use();
  for (const auto& [name, model] : models_) all[name] += model->use();
  return all;
}

}  // namespace saccade::serve
