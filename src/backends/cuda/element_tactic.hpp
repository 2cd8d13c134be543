#pragma once

#include <memory>
#include <string_view>

#include "cuda/element_code.hpp"

namespace saccade::cuda {

/// Why kernels can't read or count the node's tensors; nothing where they can.
Support supports_tensors(const NodeContext& context);

/// Operators of which every thread works out one element, whatever layouts the tensors lie in.
struct ElementOperators {
  std::string_view name;  ///< of the tactic
  /// Whether ELEMENT knows the node, its tensors and post-ops apart.
  Support (*supports)(const NodeContext& context);
  ElementRule element;
};
std::unique_ptr<Tactic> element_tactic(Device& device, ElementOperators operators);

/// Braces of a kernel's body: what is opened by it is closed with it.
class Braces {
 public:
  explicit Braces(ElementCode& code) : code_(code) {}
  Braces(const Braces&) = delete;
  Braces& operator=(const Braces&) = delete;
  ~Braces() {
    for (; open_ > 0; --open_) code_.line("}");
  }

  /// Goes COUNT times through what follows, and gives the number of the turn.
  std::string loop(std::int64_t count) {
    if (count == 1) return "0";
    std::string turn = code_.fresh("i");
    open(fmt::format("for (int32 {0} = 0; {0} < {1}; ++{0})", turn, count));
    return turn;
  }
  void when(const std::string& condition) { open("if (" + condition + ")"); }

 private:
  void open(const std::string& head) {
    code_.line(head + " {");
    ++open_;
  }

  ElementCode& code_;
  int open_ = 0;
};

/// Declares a variable and gives its name.
std::string declare(ElementCode& code, std::string_view type, std::string_view start);

}  // namespace saccade::cuda
