#pragma once

#include <map>
#include <optional>
#include <saccade/model.hpp>
#include <string>
#include <vector>

namespace saccade::app {

/// The values of --conf, --iou, --classes and --target of a command with several models: VALUE is for all of them,
/// NAME:VALUE for the models of that name, which it concerns alone.
class ModelValues {
 public:
  /// Each reads the flag's values. Throws UsageError about one that is given twice.
  void read_confidences(const std::vector<std::string>& texts) { read("--conf", texts, confidences_); }
  void read_ious(const std::vector<std::string>& texts) { read("--iou", texts, ious_); }
  void read_classes(const std::vector<std::string>& texts);
  void read_targets(const std::vector<std::string>& texts);

  /// Throws UsageError with a name that none of the models at PATHS has, and their names.
  void check_names(const std::vector<std::string>& paths) const;
  /// OPTIONS with the values of the model at PATH.
  ModelOptions options_for(const std::string& path, ModelOptions options) const;

 private:
  /// By model; "" is for all.
  using Numbers = std::map<std::string, float, std::less<>>;
  static void read(const char* flag, const std::vector<std::string>& texts, Numbers& numbers);

  Numbers confidences_;
  Numbers ious_;
  std::map<std::string, std::vector<std::string>, std::less<>> classes_;
  std::map<std::string, Region, std::less<>> targets_;
};

}  // namespace saccade::app
