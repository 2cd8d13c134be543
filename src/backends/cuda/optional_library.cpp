#include "cuda/optional_library.hpp"

#include <dlfcn.h>

#include "base/log.hpp"

namespace saccade::cuda {

OptionalLibrary::OptionalLibrary(const char* file) : file_(file), library_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) log(LogLevel::kInfo, "{} can't be opened ({}): its tactics are not tried", file, dlerror());
}

void* OptionalLibrary::symbol(const char* name) const {
  if (library_ == nullptr) return nullptr;
  void* found = dlsym(library_, name);
  if (found == nullptr) log(LogLevel::kInfo, "{} has no {}: its tactics are not tried", file_, name);
  return found;
}

}  // namespace saccade::cuda
