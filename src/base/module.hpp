#pragma once

#include <filesystem>
#include <string>

namespace saccade {

/// Opens saccade/NAME.so beside the library (once; it stays open) and returns its entry point `saccade_module_NAME`.
/// Throws kNotFound with the loader's reason, kInvalidFile where the file is truncated. Safe from any thread.
void* open_module(const std::string& name);

/// saccade/NAME beside the library: a program that Saccade starts. It need not exist.
std::filesystem::path helper_program(const std::string& name);

/// share/saccade/NAME of the installed tree, or build tree, that the library belongs to. Throws kNotFound.
std::filesystem::path data_file(const std::string& name);

/// The module's interface: `extern "C" const Interface* saccade_module_NAME()`.
template <typename Interface>
const Interface& module(const std::string& name) {
  return *reinterpret_cast<const Interface* (*)()>(open_module(name))();
}

}  // namespace saccade
