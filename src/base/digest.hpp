#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace saccade {

/// The XXH3 hash of BYTES: 128 bits as 32 hexadecimal digits, equal on every machine. Identifies contents and detects
/// damage. Not cryptographic: it does not resist deliberate collisions.
std::string digest(std::string_view bytes);

/// digest() of bytes that come in parts.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void update(std::string_view part);
  /// Of all parts so far.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade
