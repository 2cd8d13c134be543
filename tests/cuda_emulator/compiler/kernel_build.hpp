#pragma once

#include <map>
#include <string>

// Compiles a kernel's source to a shared object.
namespace saccade::emulator {

struct KernelSource {
  std::string name;
  std::string text;
  std::map<std::string, std::string> headers;  ///< by include name
};

struct KernelOptions {
  std::string architecture = "sm_75";
  std::string standard = "-std=c++17";
  std::string defines;  ///< macros, each preceded by a blank
};

struct Built {
  std::string object;  ///< contents of the file; empty: does not compile
  std::string log;
};

/// From the cache, or compiled and cached. Any thread, any process.
Built build(const KernelSource& source, const KernelOptions& options);

/// A number from 1000 on that identifies the prelude and the compiler.
int build_number();

}  // namespace saccade::emulator
