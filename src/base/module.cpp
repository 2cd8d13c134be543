#include "base/module.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "base/error.hpp"
#include "base/openmp_spin.hpp"

namespace saccade {
namespace {

std::filesystem::path library_folder() {
  Dl_info info;
  SACCADE_ASSERT(dladdr(reinterpret_cast<void*>(&open_module), &info) != 0);
  return std::filesystem::canonical(info.dli_fname).parent_path();
}

void* open_once(const std::string& name) {
  const auto file = library_folder() / "saccade" / (name + ".so");
  const BoundedSpin spin;  // any module may bring OpenMP's library: FFmpeg's does
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail(ErrorCode::kNotFound, "the module '{}' can't be opened: {}", name, dlerror());
  void* entry = dlsym(handle, ("saccade_module_" + name).c_str());
  if (entry == nullptr) fail(ErrorCode::kInternal, "{} has no entry point: it is of another version", file.string());
  return entry;
}

}  // namespace

void* open_module(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, void*> opened;
  const std::scoped_lock lock(mutex);
  auto found = opened.find(name);
  if (found == opened.end()) found = opened.emplace(name, open_once(name)).first;
  return found->second;
}

std::filesystem::path data_file(const std::string& name) {
  // lib/libsaccade.so, or lib/ARCHITECTURE/libsaccade.so as Debian has it.
  const std::filesystem::path folder = library_folder();
  for (const auto& prefix : {folder.parent_path(), folder.parent_path().parent_path()}) {
    std::filesystem::path file = prefix / "share" / "saccade" / name;
    if (std::filesystem::exists(file)) return file;
  }
  fail(ErrorCode::kNotFound, "share/saccade/{} is missing beside {}: install Saccade again", name, folder.string());
}

}  // namespace saccade
