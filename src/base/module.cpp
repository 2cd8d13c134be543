#include "base/module.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "base/elf.hpp"
#include "base/error.hpp"

namespace saccade {
namespace {

std::filesystem::path library_folder() {
  Dl_info info;
  SACCADE_ASSERT(dladdr(reinterpret_cast<void*>(&open_module), &info) != 0);
  return std::filesystem::canonical(info.dli_fname).parent_path();
}

/// The loader maps what a file's headers describe; access to a truncated part raises SIGBUS. A file that cannot be read
/// is left to the loader, which reports why.
void check_is_whole(const std::string& name, const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat facts {};
  const bool is_known = fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
  const auto bytes = is_known ? static_cast<std::size_t>(facts.st_size) : 0;
  void* mapped = bytes == 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  const bool is_whole = mapped != MAP_FAILED && is_whole_elf({static_cast<const char*>(mapped), bytes});
  if (mapped != MAP_FAILED) munmap(mapped, bytes);
  if (!is_whole)
    fail(ErrorCode::kInvalidFile,
         "the module '{}' is damaged: {} is truncated or not a shared object; reinstall Saccade", name, file.string());
}

void* open_once(const std::string& name) {
  const auto file = library_folder() / "saccade" / (name + ".so");
  check_is_whole(name, file);
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail(ErrorCode::kNotFound, "the module '{}' can't be opened: {}", name, dlerror());
  void* entry = dlsym(handle, ("saccade_module_" + name).c_str());
  if (entry == nullptr)
    fail(ErrorCode::kInternal, "{} has no entry point: it belongs to another version", file.string());
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

std::filesystem::path helper_program(const std::string& name) { return library_folder() / "saccade" / name; }

std::filesystem::path data_file(const std::string& name) {
  // lib/libsaccade.so, or lib/ARCHITECTURE/libsaccade.so as Debian has it.
  const std::filesystem::path folder = library_folder();
  for (const auto& prefix : {folder.parent_path(), folder.parent_path().parent_path()}) {
    std::filesystem::path file = prefix / "share" / "saccade" / name;
    if (std::filesystem::exists(file)) return file;
  }
  fail(ErrorCode::kNotFound, "share/saccade/{} is missing beside {}: reinstall Saccade", name, folder.string());
}

}  // namespace saccade
