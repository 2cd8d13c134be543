#include "base/beside.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

bool lies_in(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

/// PATH with links resolved, as far as it exists.
fs::path without_links(const fs::path& path, std::error_code& error) {
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : fs::weakly_canonical(absolute, error);
}

}  // namespace

Beside::Beside(const fs::path& file) : folder_(file.parent_path()) {
  std::error_code error;
  real_folder_ = without_links(folder_.empty() ? "." : folder_, error);
  // An open file without a name has no target, and nothing beside it.
  const fs::path target = without_links(file, error);
  folder_of_target_ = error ? real_folder_ : target.parent_path();
}

std::optional<fs::path> Beside::find(const std::string& name) const {
  const fs::path relative(name);
  if (relative.is_absolute() || name.find('\0') != std::string::npos) return {};
  if (std::ranges::find(relative, "..") != relative.end()) return {};
  std::error_code error;
  const fs::path real = without_links(folder_ / relative, error);
  if (error) fail(ErrorCode::kIo, "'{}' can't be read: {}", (folder_ / relative).string(), error.message());
  if (!lies_in(real, real_folder_) && !lies_in(real, folder_of_target_)) return {};
  return folder_ / relative;
}

}  // namespace saccade
