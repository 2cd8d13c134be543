#pragma once

#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>

namespace saccade::cuda {

/// A library that tactics use if it is installed.
class OptionalLibrary {
 public:
  /// Opens the first of FILES that exists and never closes it. If none does, the log says that its tactics are not
  /// tried.
  explicit OptionalLibrary(std::initializer_list<const char*> files);

  /// Resolves function NAME into POINTER. If it is missing, the log says so.
  template <typename Function>
  bool find(Function& pointer, const char* name) const {
    static_assert(std::is_pointer_v<Function>, "a pointer to a function");
    pointer = reinterpret_cast<Function>(symbol(name));
    return pointer != nullptr;
  }

 private:
  void* symbol(const char* name) const;

  std::string file_;
  void* library_ = nullptr;
};

/// Logs why tactics of LIBRARY are not tried on a GPU.
void log_unusable(const char* library, int ordinal, const char* reason);

/// A library's handles by GPU. They are never destroyed: at exit the driver may be gone already.
template <typename Handle>
class LibraryHandles {
 public:
  std::mutex mutex;  ///< held by callers of of()

  /// The handle for the GPU whose context is current, made by CREATE at the first call. CREATE returns the reason if it
  /// fails, else null. Null if LIBRARY cannot use the GPU.
  template <typename Create>
  Handle of(int ordinal, const char* library, const Create& create) {
    const auto [place, is_new] = made_.emplace(ordinal, nullptr);
    if (!is_new) return place->second;
    const char* reason = create(&place->second);
    if (reason == nullptr) return place->second;
    log_unusable(library, ordinal, reason);
    return place->second = nullptr;
  }

 private:
  std::map<int, Handle> made_;
};

}  // namespace saccade::cuda
