#pragma once

#include <cstddef>
#include <string>

#include "base/mqtt_module.hpp"

namespace saccade::network {

/// Where results are published.
struct MqttUri {
  MqttOptions broker;
  std::string topic;  ///< with its "{stream}"
  std::string name;   ///< the URL without passwords and options, for people
  std::size_t backlog = 1000;
};

/// Reads mqtt://[USER:PASSWORD@]HOST[:PORT]/TOPIC, or mqtts, and its options behind '#'. Throws Error
/// (kInvalidArgument) without passwords in its message.
MqttUri parse_mqtt(const std::string& uri);

}  // namespace saccade::network
