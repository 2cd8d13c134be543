#include "compiler/kernel_build.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "calls.hpp"
#include "compiler/kernel_source.hpp"

namespace saccade::emulator {
namespace {

namespace fs = std::filesystem;

// As in NVRTC, signed integers wrap and pointers may alias.
constexpr const char* kFlags =
    "-O1 -g0 -w -fPIC -shared -ffp-contract=off -fwrapv -fno-strict-aliasing -fno-exceptions -fno-rtti "
    "-fvisibility=hidden -fsanitize=alignment,bounds,shift-exponent,integer-divide-by-zero -fno-sanitize-recover=all "
    "-fsanitize=thread "  // device/accesses.hpp defines its calls
    "-Wl,--as-needed -Wl,-Bsymbolic ";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// The kernel between the prelude and its entry table.
std::string whole_source(const KernelSource& source, const KernelOptions& options) {
  const int capability = std::atoi(options.architecture.c_str() + std::strlen("sm_"));
  std::ostringstream text;
  text << "#define __CUDA_ARCH__ " << 10 * capability << "\n#include \"prelude.hpp\"\nnamespace {\n#line 1 \""
       << source.name << "\"\n"
       << replace_dynamic_shared(source.text) << "\n}\n#line 1 \"the table of kernels of " << source.name << "\"\n"
       << "namespace {\n";
  const std::vector<KernelName> names = kernel_names(source.text);
  for (const KernelName& kernel : names) {
    text << "const char* const declarations_of_" << kernel.name << "[] = {";
    for (const std::string& parameter : kernel.parameters) text << '"' << in_one_line(parameter) << "\", ";
    text << "nullptr};\n";
  }
  text << "const saccade_emulator::Entry entries[] = {\n";
  for (const KernelName& kernel : names)
    text << "cpu::Call<&" << kernel.name << ">::entry(\"" << kernel.name << "\", cpu::bounds(" << kernel.launch_bounds
         << "), cpu::cluster(" << kernel.cluster_dims << "), declarations_of_" << kernel.name << "),\n";
  text << "{}};\n}\nextern \"C\" __attribute__((visibility(\"default\"))) const saccade_emulator::Object "
       << "saccade_emulated_object = {sizeof(saccade_emulator::Runtime), \"" << options.architecture
       << "\", &cpu::runtime, entries, " << names.size() << ", __start_saccade_shared, __stop_saccade_shared};\n";
  return text.str();
}

std::string header_text(const std::string& name, const std::string& text) {
  // types.cuh leaves its conversions to the emulator.
  return replace_dynamic_shared(text) + (name == "types.cuh" ? "\n#include \"conversions_emulated.hpp\"\n" : "");
}

std::string hash(const std::string& text) {
  unsigned long long state[2] = {0xCBF29CE484222325, 0x84222325CBF29CE4};
  for (const unsigned char byte : text)
    for (unsigned long long& each : state) each = (each ^ byte) * 0x100000001B3 ^ each >> 47;
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", state[0], state[1]);
  return digits;
}

std::string prelude_text() {
  static const std::string text = [] {
    std::string all;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(SACCADE_EMULATOR_DEVICE)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) all += read(file);
    return all;
  }();
  return text;
}

/// Runs ARGUMENTS with its output in the file LOG; returns whether it succeeds.
bool execute(const std::vector<std::string>& arguments, const fs::path& log) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::strncmp(*variable, "LC_", 3) != 0) environment.push_back(*variable);
  std::string plain = "LC_ALL=C";
  environment.push_back(plain.data());
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int failed = posix_spawnp(&process, pointers[0], &actions, nullptr, pointers.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    write(log, arguments[0] + ": " + std::strerror(failed) + "\n");
    return false;
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// LOG with the file names of the kernel's source.
std::string readable(std::string log, const std::string& folder) {
  for (std::size_t at = log.find(folder); at != std::string::npos; at = log.find(folder)) log.erase(at, folder.size());
  return log;
}

Built compile(const std::string& text, const std::map<std::string, std::string>& headers, const std::string& flags,
              const fs::path& kept) {
  std::string folder = cache_folder() + "/compile.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return {{}, "no folder " + folder + "\n"};
  const fs::path place(folder);
  write(place / "kernel.cpp", text);
  for (const auto& [name, header] : headers) write(place / name, header);
  std::vector<std::string> arguments{SACCADE_EMULATOR_COMPILER};
  std::istringstream words(flags);
  for (std::string word; words >> word;) arguments.push_back(word);
  arguments.insert(arguments.end(), {"-I", folder, "-I", SACCADE_EMULATOR_DEVICE, "-o", folder + "/object"});
  // Remaining symbols are resolved in the process.
  arguments.insert(arguments.end(), {folder + "/kernel.cpp", "-nodefaultlibs", "-lm", "-lgcc"});
  Built built;
  const bool compiled = execute(arguments, place / "log");
  built.log = readable(read(place / "log"), folder + "/");
  if (compiled) {
    built.object = read(place / "object");
    fs::rename(place / "object", kept);  // atomic
  }
  fs::remove_all(place);
  return built;
}

}  // namespace

Built build(const KernelSource& source, const KernelOptions& options) {
  const std::string text = whole_source(source, options);
  const std::string flags = options.standard + " " + kFlags + options.defines;
  std::string all = text + flags + prelude_text() + SACCADE_EMULATOR_COMPILER + SACCADE_EMULATOR_COMPILER_VERSION;
  std::map<std::string, std::string> headers;
  for (const auto& [name, header] : source.headers) {
    headers[name] = header_text(name, header);
    all += name + '\0' + headers[name];
  }
  const fs::path kept = fs::path(cache_folder()) / hash(all);
  if (fs::exists(kept)) return {read(kept), {}};
  return compile(text, headers, flags, kept);
}

int build_number() {
  static const std::string digits =
      hash(prelude_text() + kFlags + SACCADE_EMULATOR_COMPILER + SACCADE_EMULATOR_COMPILER_VERSION);
  return 1000 + static_cast<int>(std::strtoul(digits.substr(0, 6).c_str(), nullptr, 16));
}

}  // namespace saccade::emulator
