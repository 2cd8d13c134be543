#pragma once

#include <type_traits>

namespace saccade::cuda {

/// A library that tactics may use where it is installed.
class OptionalLibrary {
 public:
  /// Opens FILE; where that fails, the log says that its tactics are not tried. It is never closed.
  explicit OptionalLibrary(const char* file);

  /// Whether POINTER now has the function NAME; where not, the log says so.
  template <typename Function>
  bool find(Function& pointer, const char* name) const {
    static_assert(std::is_pointer_v<Function>, "a pointer to a function");
    pointer = reinterpret_cast<Function>(symbol(name));
    return pointer != nullptr;
  }

 private:
  void* symbol(const char* name) const;

  const char* file_;
  void* library_;
};

}  // namespace saccade::cuda
