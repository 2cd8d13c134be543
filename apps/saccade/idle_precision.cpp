#include "idle_precision.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/cache_folder.hpp"
#include "base/log.hpp"
#include "validate/precision_memory.hpp"

namespace saccade::app {
namespace {

// In the child's environment: the process that waits for it.
constexpr const char* kVariable = "SACCADE_DECIDES_FOR";
// Shorter runs are not worth the work, and the models are warm then.
constexpr std::chrono::seconds kAfter{5};

/// The arguments of this process.
std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < all.size();) {
    arguments.emplace_back(all.c_str() + at);
    at += arguments.back().size() + 1;
  }
  return arguments;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

bool may_decide(const Model& model) {
  const ModelOptions& options = model.options();
  return options.device.kind == Device::Kind::kCpu && options.precision == Precision::kAuto &&
         !faster_precisions(options).empty();
}

}  // namespace

bool IdlePrecision::is_child() {
  const char* parent = std::getenv(kVariable);
  return parent != nullptr && std::to_string(getppid()) == parent;
}

void IdlePrecision::decide_for(std::span<const std::string> files, const Load& load) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!is_child()) return;  // the parent ended before
  const sched_param none{};
  if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) return;
  const std::vector<Model> models = load();
  for (std::size_t i = 0; i < models.size(); ++i)
    if (may_decide(models[i]) && !remembered_precision(models[i]))
      remember_precision(models[i], choose_precision({.model = files[i],
                                                      .options = models[i].options(),
                                                      .data = {},
                                                      .candidates = faster_precisions(models[i].options())}));
}

IdlePrecision::IdlePrecision(std::span<const Model> models, Say say) : say_(std::move(say)) {
  for (const Model& model : models) {
    if (!may_decide(model) || cache_folder().empty()) continue;
    const std::optional<RememberedPrecision> known = remembered_precision(model);
    if (!known) {
      undecided_.push_back(model);
    } else if (known->decided.precision != Precision::kFp32) {
      use_precision(model, known->decided);
      say_(fmt::format("{}: precision {}, as decided before: {}", model.name(), to_string(known->decided.precision),
                       known->why));
    }
  }
}

IdlePrecision::~IdlePrecision() {
  if (child_ == 0) return;
  kill(child_, SIGKILL);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void IdlePrecision::update() {
  if (undecided_.empty() || std::chrono::steady_clock::now() - start_ < kAfter) return;
  if (child_ == 0) return start_child();
  int status = 0;
  const pid_t ended = waitpid(child_, &status, WNOHANG);
  if (ended == 0) return;
  child_ = 0;
  say_decisions();
  undecided_.clear();
}

void IdlePrecision::start_child() {
  std::vector<std::string> arguments = own_arguments();
  std::vector<std::string> variables{fmt::format("{}={}", kVariable, getpid())};
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  const int error =
      posix_spawn(&child_, "/proc/self/exe", &actions, nullptr, pointers(arguments).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return;
  log(LogLevel::kInfo, "no process can be started that decides the precision: {}", std::strerror(error));
  child_ = 0;
  undecided_.clear();
}

void IdlePrecision::say_decisions() const {
  for (const Model& model : undecided_)
    if (const std::optional<RememberedPrecision> known = remembered_precision(model))
      say_(fmt::format("{}: precision {} from the next start on: {}", model.name(), to_string(known->decided.precision),
                       known->why));
}

}  // namespace saccade::app
