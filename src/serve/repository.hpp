#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "serve/served_model.hpp"

namespace saccade::serve {

/// The models of a server, by name. Any thread.
class Repository {
 public:
  struct Entry {
    std::string name;
    bool is_loaded = false;
  };
  using Load = std::function<std::unique_ptr<ServedModel>(const std::string& path)>;

  /// LOAD loads the model at a path. FOLDER: the .onnx files and plans in it can be loaded and unloaded by name; empty:
  /// none can.
  Repository(Load load, std::string folder);
  ~Repository();
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  /// Loads the model at PATH, at the start. Throws Error, (kInvalidArgument) if there is one of its name.
  void add(const std::string& path);
  /// Loads all models of the folder, at the start, after add(). Throws Error, (kInvalidArgument) if one has the name of
  /// another one.
  void add_folder();
  /// Whether models can be loaded and unloaded.
  bool is_controlled() const { return !folder_.empty(); }
  /// Loads the model NAME of the folder. A model of that name is replaced once the new one is warm: requests that it
  /// has taken get their responses from it, and none is refused. Returns when the old one has ended. Throws Error,
  /// (kInvalidArgument) if there is no folder, no such file in it, or two, or if NAME was added by add().
  void load(const std::string& name);
  /// Ends the model NAME once it has responded to what it has taken. Throws Error (kInvalidArgument) if there is none
  /// or no folder, or if it was added by add().
  void unload(const std::string& name);
  /// The models that are loaded, and those of the folder, by name.
  std::vector<Entry> index() const;

  /// Calls USE with the model NAME, which stays loaded until USE returns; false if there is none. USE must not wait.
  bool with(std::string_view name, const std::function<void(ServedModel&)>& use) const;
  /// The names of the models that are loaded.
  std::vector<std::string> names() const;
  /// What happened to the requests of each model that is or was loaded, by name.
  std::map<std::string, ModelUse> use() const;

 private:
  void check_is_controlled() const;
  void check_is_of_folder(const std::string& name) const;
  std::vector<std::string> file_names() const;
  std::string path_of(const std::string& name) const;
  void end(ServedModel& model);

  Load load_;
  std::string folder_;
  std::set<std::string> fixed_;  ///< names of models that are not of the folder
  std::mutex loading_;           ///< one load or unload at a time
  mutable std::shared_mutex mutex_;
  std::map<std::string, std::unique_ptr<ServedModel>, std::less<>> models_;
  const ServedModel* ending_ = nullptr;    ///< it has yet to respond to some requests
  std::map<std::string, ModelUse> ended_;  ///< of models that were replaced or unloaded
};

}  // namespace saccade::serve
