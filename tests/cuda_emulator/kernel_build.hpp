#pragma once

#include <map>
#include <string>

// From a kernel's source to a shared object.
namespace saccade::emulator {

struct KernelSource {
  std::string name;
  std::string text;
  std::map<std::string, std::string> headers;  ///< by what #include names
};

struct KernelOptions {
  std::string architecture = "sm_75";
  std::string standard = "-std=c++17";
  std::string defines;  ///< of macros, with a blank before each
};

struct Built {
  std::string object;  ///< the file's bytes; empty: it does not compile
  std::string log;
};

/// Takes the object from the cache, or compiles it and puts it there. Any thread, any process.
Built build(const KernelSource& source, const KernelOptions& options);

/// A number from 1000 on that stands for the prelude and the compiler.
int build_number();

}  // namespace saccade::emulator
