#include "driver/module.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "calls.hpp"
#include "driver/driver_functions.hpp"
#include "driver/state.hpp"
#include "unbuilt.hpp"

// Modules and their functions.
namespace saccade::emulator {
namespace {

constexpr int kDefaultSharedBytes = 48 << 10;

/// 0: not an ELF file.
std::size_t elf_bytes(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  return header.e_shoff + std::size_t{header.e_shentsize} * header.e_shnum;  // the section table is last
}

/// "sm_90a" runs on capability 9.0 only, "sm_80" on it and later ones of the same major version.
bool runs_here(const std::string& architecture) {
  if (!architecture.starts_with("sm_")) return false;
  const int made_for = std::atoi(architecture.c_str() + 3);
  if (architecture.ends_with('a')) return made_for == capability();
  return made_for / 10 == capability() / 10 && made_for <= capability();
}

/// Kernels named by a text that begins with kUnbuilt; they cannot be called.
struct Unbuilt {
  explicit Unbuilt(const char* text) {
    std::istringstream lines(text + std::strlen(kUnbuilt));
    std::getline(lines, architecture);
    for (std::string name, letters; std::getline(lines, name, ' ') && std::getline(lines, letters);) {
      names.push_back(name);
      auto& taken = parameters.emplace_back();
      for (char letter : letters) taken.push_back({.bytes = letter == 'p' ? 8U : 0U, .pointer = letter == 'p'});
    }
    for (std::size_t i = 0; i < names.size(); ++i)
      entries.push_back({.name = names[i].c_str(),
                         .parameters = parameters[i].data(),
                         .count = static_cast<unsigned>(parameters[i].size()),
                         .cluster = {1, 1, 1}});
    object.runtime_bytes = sizeof(saccade_emulator::Runtime);
    object.architecture = architecture.c_str();
    object.entries = entries.data();
    object.count = static_cast<unsigned>(entries.size());
  }
  Unbuilt(const Unbuilt&) = delete;
  Unbuilt& operator=(const Unbuilt&) = delete;

  std::string architecture;
  std::vector<std::string> names;
  std::vector<std::vector<saccade_emulator::Parameter>> parameters;
  std::vector<saccade_emulator::Entry> entries;
  saccade_emulator::Object object{};
};

std::shared_ptr<LoadedObject> open_unbuilt(const char* text) {
  const auto unbuilt = std::make_shared<Unbuilt>(text);
  auto* loaded = new LoadedObject(nullptr, unbuilt->object);
  return {loaded, [unbuilt](LoadedObject* object) { delete object; }};
}

}  // namespace

std::shared_ptr<LoadedObject> LoadedObject::open(const void* image) {
  const auto* text = static_cast<const char*>(image);
  if (std::strncmp(text, kUnbuilt, std::strlen(kUnbuilt)) == 0) return open_unbuilt(text);
  const std::size_t bytes = elf_bytes(image);
  if (bytes == 0) return nullptr;
  // A unique name: dlopen() would return an object that is already open under the same name.
  std::string path = cache_folder() + "/loaded.XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) return nullptr;
  const bool written = write(file, image, bytes) == static_cast<ssize_t>(bytes);
  close(file);
  void* library = written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(path.c_str());
  if (library == nullptr) {
    if (written) std::fprintf(stderr, "emulator: %s\n", dlerror());
    return nullptr;
  }
  const auto* object = static_cast<const saccade_emulator::Object*>(dlsym(library, "saccade_emulated_object"));
  if (object != nullptr && object->runtime_bytes == sizeof(saccade_emulator::Runtime))
    return std::make_shared<LoadedObject>(library, *object);
  if (object != nullptr) std::fprintf(stderr, "emulator: libcuda.so.1 and libnvrtc.so.13 are of two builds\n");
  dlclose(library);
  return nullptr;
}

LoadedObject::~LoadedObject() {
  if (library_ != nullptr) dlclose(library_);
}

int live_modules() { return static_cast<int>(handles<CUmod_st>().all().size()); }

CUfunc_st* find_function(CUfunction function) {
  for (const auto& module : handles<CUmod_st>().all())
    for (const auto& each : module->functions)
      if (each.get() == function) return each.get();
  return nullptr;
}

}  // namespace saccade::emulator

namespace saccade::cuda {

using namespace emulator;

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  SACCADE_BEGIN(cuModuleLoadData, Needs::kNoCapture);
  const auto object = LoadedObject::open(image);
  if (object == nullptr) return kInvalidImage;
  if (!runs_here(object->object().architecture)) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  auto made = std::make_shared<CUmod_st>();
  made->object = object;
  for (unsigned i = 0; i < object->object().count; ++i)
    made->functions.push_back(std::make_unique<CUfunc_st>(
        CUfunc_st{object, &object->object().entries[i], kDefaultSharedBytes - object->shared_bytes()}));
  *module = handles<CUmod_st>().add(std::move(made));
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  SACCADE_BEGIN(cuModuleUnload, Needs::kNoCapture);
  const CUresult result = drain_all();
  return handles<CUmod_st>().take(module) == nullptr ? kInvalidHandle : result;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  SACCADE_BEGIN(cuModuleGetFunction, Needs::kContext);
  if (handles<CUmod_st>().find(module) == nullptr) return kInvalidHandle;
  for (const auto& each : module->functions) {
    if (std::strcmp(each->entry->name, name) != 0) continue;
    *function = each.get();
    return CUDA_SUCCESS;
  }
  return kNotFound;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  SACCADE_BEGIN(cuFuncGetAttribute, Needs::kContext);
  const CUfunc_st* found = find_function(function);
  if (found == nullptr) return kInvalidHandle;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 32; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = found->dynamic_bytes; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = -1; break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  SACCADE_BEGIN(cuFuncSetAttribute, Needs::kContext);
  CUfunc_st* found = find_function(function);
  if (found == nullptr) return kInvalidHandle;
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) return CUDA_SUCCESS;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
  if (value < 0 || value + found->object->shared_bytes() > most_shared_bytes()) return CUDA_ERROR_INVALID_VALUE;
  found->dynamic_bytes = value;
  return CUDA_SUCCESS;
}

}  // namespace saccade::cuda
