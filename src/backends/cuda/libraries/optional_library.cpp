#include "cuda/libraries/optional_library.hpp"

#include <dlfcn.h>

#include "base/log.hpp"

namespace saccade::cuda {

OptionalLibrary::OptionalLibrary(std::initializer_list<const char*> files) {
  std::string reasons;
  for (const char* file : files) {
    file_ = file;
    library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) return;
    reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
  }
  log(LogLevel::kInfo, "{} can't be opened ({}): its tactics are not tried", *files.begin(), reasons);
}

void* OptionalLibrary::symbol(const char* name) const {
  if (library_ == nullptr) return nullptr;
  void* found = dlsym(library_, name);
  if (found == nullptr) log(LogLevel::kInfo, "{} has no {}: its tactics are not tried", file_, name);
  return found;
}

void log_unusable(const char* library, int ordinal, const char* reason) {
  log(LogLevel::kInfo, "{} can't use cuda:{} ({}): its tactics are not tried", library, ordinal, reason);
}

}  // namespace saccade::cuda
