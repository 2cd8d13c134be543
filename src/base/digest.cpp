#include "base/digest.hpp"

#define XXH_INLINE_ALL  // header-only: libsaccade depends on the C++ runtime only
#include <fmt/format.h>
#include <xxhash.h>

namespace saccade {
namespace {

std::string text_of(const XXH128_hash_t& hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

std::string digest(std::string_view bytes) { return text_of(XXH3_128bits(bytes.data(), bytes.size())); }

struct Digest::State {
  XXH3_state_t hash;
};

Digest::Digest() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->hash); }

Digest::~Digest() = default;

void Digest::update(std::string_view part) { XXH3_128bits_update(&state_->hash, part.data(), part.size()); }

std::string Digest::text() const { return text_of(XXH3_128bits_digest(&state_->hash)); }

}  // namespace saccade
