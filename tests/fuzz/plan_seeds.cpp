// plan_seeds MODELS FOLDER: compiles each model in MODELS to a plan and writes it to FOLDER in fuzz_plan's form.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.hpp"
#include "import.hpp"
#include "plan_input.hpp"
#include "runtime/plan_container.hpp"
#include "runtime/plan_file.hpp"

namespace {

using namespace saccade;
namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The plan of the model's BYTES; empty if it cannot be compiled.
std::string plan_of(const std::string& bytes, const fs::path& scratch) {
  try {
    const Graph graph = fuzz::import_bytes(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    save_plan(scratch.string(), graph,
              {.backend = Device::Kind::kCuda,
               .keep_fp32 = {{"a"}},
               .choices = {{"n", {"t", "c"}}},
               .kernels = {{"k", "code"}}});
  } catch (const Error&) {
    return {};
  }
  const std::string whole = bytes_of(scratch);
  const PlanLayout layout = plan_layout(whole, whole.size());
  return fuzz::input_of(plan_header(whole, layout), plan_blob(whole, layout));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const fs::path target = argv[2];
  fs::create_directories(target);
  for (const auto& file : fs::directory_iterator(argv[1])) {
    const std::string plan = plan_of(bytes_of(file.path()), target / "scratch.plan");
    if (!plan.empty()) std::ofstream(target / file.path().filename(), std::ios::binary) << plan;
  }
  fs::remove(target / "scratch.plan");
  return 0;
}
