#include "runtime/plan_file.hpp"

#include <cstring>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "import.hpp"
#include "ops/core/op.hpp"
#include "passes/core/manager.hpp"
#include "plan_input.hpp"
#include "runtime/plan_container.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace saccade::fuzz {
namespace {

using Json = nlohmann::ordered_json;

/// Changes the header of a plan as an attacker would: it stays JSON, and mostly a graph.
class HeaderMutator {
 public:
  explicit HeaderMutator(unsigned seed) : random_(seed) {}

  void mutate(Json& header) {
    for (int i = below(3); i >= 0; --i) {
      std::vector<Json*> places;
      collect(header, places);
      change(*places[below(places.size())], *places[below(places.size())]);
    }
  }

 private:
  static void collect(Json& json, std::vector<Json*>& places) {
    places.push_back(&json);
    if (json.is_structured())
      for (Json& child : json) collect(child, places);
  }

  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }

  /// OTHER: another part of the same header, which may contain JSON or be contained in it.
  void change(Json& json, const Json& other) {
    switch (below(8)) {
      case 0: json = Json(other); return;
      case 1: json = nullptr; return;
      case 2:
        if (json.is_structured() && !json.empty()) json.erase(std::next(json.begin(), step(json)));
        return;
      case 3:
        if (json.is_array()) json.push_back(Json(other));
        return;
      case 4:
        if (json.is_array() && !json.empty()) json.push_back(Json(json[below(json.size())]));
        return;
      case 5: json = name(); return;
      default: json = json.is_string() ? Json(name()) : Json(number()); return;
    }
  }

  std::ptrdiff_t step(const Json& json) { return static_cast<std::ptrdiff_t>(below(json.size())); }

  Json number() {
    const Json edges[] = {std::numeric_limits<std::int64_t>::min(),
                          std::numeric_limits<std::int64_t>::max(),
                          std::numeric_limits<std::uint64_t>::max(),
                          std::int64_t{1} << 32,
                          std::int64_t{1} << 40,
                          -1,
                          0.5,
                          1e300,
                          true,
                          4096};
    if (below(3) == 0) return edges[below(std::size(edges))];
    return static_cast<int>(below(18)) - 2;
  }

  std::string name() {
    const std::string own[] = {"i", "f", "s", "is", "fs", "ss", "t", "g", "", "saccade", "body", "axis", "to"};
    if (below(2) == 0) return own[below(std::size(own))];
    const auto ops = all_ops();
    return std::string(ops[below(ops.size())]->name);
  }

  std::mt19937 random_;
};

}  // namespace
}  // namespace saccade::fuzz

// Any plan with a correct checksum, and any bytes that resemble one: read or refused; a graph that was read goes
// through all passes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  fuzz::expect_refusal_or_success([&] {
    const fuzz::PlanInput input(bytes);
    const std::string sealed = starts_plan(bytes) ? std::string(bytes) : seal_plan(input.header, input.blob);
    Graph graph = parse_plan(sealed, fuzz::kMaxMemory).graph;
    run_passes(graph, {.max_memory = fuzz::kMaxMemory});
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace saccade::fuzz;
  const PlanInput input({reinterpret_cast<const char*>(data), size});
  // Deep JSON is refused; here it would overflow the stack.
  Json header =
      input.header.size() < 64U << 10 ? Json::parse(input.header, nullptr, false) : Json(Json::value_t::discarded);
  if (header.is_discarded() || seed % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  HeaderMutator(seed).mutate(header);
  const std::string changed = input_of(header.dump(-1, ' ', false, Json::error_handler_t::replace), input.blob);
  if (changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
