#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace saccade {

/// The files beside a file that a stranger may have written: a model's weights, a card's labels. It must not make us
/// read anything else.
class Beside {
 public:
  /// FILE need not exist. Beside it is its folder, and the one to which a link of that name leads: stores of models
  /// link to their files.
  explicit Beside(const std::filesystem::path& file);

  /// The file NAME there; nothing where NAME leads elsewhere: an absolute path, one with "..", a link that leaves the
  /// folder, one with a NUL in it. Throws Error (kIo) where links go in circles.
  std::optional<std::filesystem::path> find(const std::string& name) const;

 private:
  std::filesystem::path folder_;
  std::filesystem::path real_folder_;       ///< the same without links
  std::filesystem::path folder_of_target_;  ///< where the file really is
};

}  // namespace saccade
