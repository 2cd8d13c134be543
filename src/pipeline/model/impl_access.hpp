#pragma once

#include <memory>
#include <utility>

namespace saccade {

/// Opens the handles of the public API (Model, Source, Pipeline) to the code behind it.
struct ImplAccess {
  template <typename Handle>
  static auto& of(const Handle& handle) {
    return *handle.impl_;
  }

  template <typename Handle, typename... Arguments>
  static Handle make(Arguments&&... arguments) {
    return Handle(std::make_shared<typename Handle::Impl>(std::forward<Arguments>(arguments)...));
  }
};

/// The implementation of HANDLE; valid as long as a copy of it exists.
template <typename Handle>
auto& impl_of(const Handle& handle) {
  return ImplAccess::of(handle);
}

}  // namespace saccade
