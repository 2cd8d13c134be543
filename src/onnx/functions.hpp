#pragma once

#include <map>
#include <string>
#include <tuple>

#include "onnx/node_attributes.hpp"
#include "onnx/opsets.hpp"

namespace saccade {

/// The functions that a model file defines. Borrows the model.
class Functions {
 public:
  /// Throws Error (kInvalidFile) on two functions with the same name.
  explicit Functions(const onnx::ModelProto& model);
  /// The function that NODE calls, or null if it is an operator.
  const onnx::FunctionProto* find(const onnx::NodeProto& node) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
  std::map<Key, const onnx::FunctionProto*> functions_;
};

/// The attributes that FUNCTION's body may refer to: those of the call, else the function's defaults.
Arguments arguments_of(const onnx::FunctionProto& function, const NamedAttributes& call);

}  // namespace saccade
