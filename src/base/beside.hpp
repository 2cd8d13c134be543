#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace saccade {

/// Files referenced by an untrusted file: a model's weights, a card's labels. The reference must not make the process
/// read anything else.
class Beside {
 public:
  /// FILE need not exist. References are relative to its folder or, if FILE is a link, to the folder of its target:
  /// model stores link to their files.
  explicit Beside(const std::filesystem::path& file);

  /// The file NAME; nothing if NAME leads outside: an absolute path, one with "..", a link that leaves the folder, one
  /// with a NUL in it. Throws Error (kIo) if links form a cycle.
  std::optional<std::filesystem::path> find(const std::string& name) const;

 private:
  std::filesystem::path folder_;
  std::filesystem::path real_folder_;       ///< the same with links resolved
  std::filesystem::path folder_of_target_;  ///< of FILE's target
};

}  // namespace saccade
