#include "scene/life.hpp"

#include "scene/random.hpp"

namespace saccade::scene {
namespace {

constexpr float kNearest = 4.2F;    // metres; nearer objects have left the image at a side
constexpr float kFarthest = 60.0F;  // metres

enum class Way { kCross, kTurnBack, kStand, kApproach, kRecede };

struct Path {
  Way way = Way::kCross;
  float side = 1;
  float x = 0;      ///< metres: lateral end of the path
  float inner = 0;  ///< metres: innermost point of a path that turns back
  float z = 0;      ///< metres, half-way
  float drift = 0;  ///< metres that z changes by in half a life
  float bend = 0;   ///< metres: amplitude of a swerve
};

/// Half of the image's width in metres at depth Z, with a margin so that panning never shows the ends of paths.
float edge(const Sight& sight, float z, float radius) {
  return z * (sight.half_width / sight.focal + 0.16F) + radius + 0.3F;
}

Way way_of(Random& random, Kind kind) {
  const float draw = random.unit();
  if (kind == Kind::kDrone) return draw < 0.7F ? Way::kCross : Way::kTurnBack;
  const bool stands = kind == Kind::kCrate || kind == Kind::kCone || kind == Kind::kBarrel;
  if (stands && draw < 0.35F) return Way::kStand;
  if (draw < 0.48F) return Way::kCross;
  if (draw < 0.84F) return Way::kTurnBack;
  return draw < 0.93F ? Way::kApproach : Way::kRecede;
}

/// Image sizes are log-uniform, from 22 to 170 pixels at 640x480.
float depth_for(Random& random, const Sight& sight, float size) {
  const float draw = random.unit();
  const float pixels = 22.0F * (1 + draw * (1.3F + draw * (2.2F + 3.2F * draw))) * sight.unit;
  return std::clamp(sight.focal * size / pixels, kNearest + 0.8F, kFarthest);
}

Path path_of(Random& random, const Life& life, Kind kind, float radius, const Sight& sight) {
  Path path;
  path.way = way_of(random, kind);
  path.side = random.sign();
  path.z = depth_for(random, sight, 1.5F * radius);
  path.drift = path.z * random.between(-0.28F, 0.28F);
  path.bend = path.z * random.between(0.0F, 0.06F);
  path.inner = random.between(-0.6F, 0.5F);
  if (path.way == Way::kCross || path.way == Way::kTurnBack) {
    path.x = edge(sight, path.z + std::abs(path.drift) + path.bend, radius);
    path.inner *= path.z * sight.half_width / sight.focal;
    return path;
  }
  // These approach from far away and end beside the camera, out of view.
  const float last = random.between(2.0F, 3.2F);
  const float first = path.way == Way::kStand ? last + 2 * static_cast<float>(life.half) * sight.speed
                                              : random.between(32.0F, kFarthest);
  path.x = edge(sight, last, radius) + random.between(0.0F, 5.0F);
  path.z = 0.5F * (first + last);
  path.drift = 0.5F * (last - first) * (path.way == Way::kRecede ? -1.0F : 1.0F);
  return path;
}

/// The point on the ground at TIME seconds from the life's middle.
Vec3 point_on(const Path& path, const Life& life, double time) {
  const auto s = static_cast<float>(time / life.half);
  Vec3 at{0, 0, path.z + path.drift * s};
  switch (path.way) {
    case Way::kCross: at.x = path.side * path.x * s; break;
    case Way::kTurnBack: at.x = path.side * (path.x - (path.x - path.inner) * (1 - s * s)); break;
    default: at.x = path.side * path.x; return at;
  }
  at.z += path.bend * sine(0.75 * s);
  return at;
}

Rotation tumble(Random& random, double time) {
  const float side = random.sign();
  const float start = random.unit();
  return about_y(start + side * random.between(0.05F, 0.2F) * time);
}

/// The motion of a KIND: rolling, walking, hopping or flying; raises POSE if it leaves the ground.
void carry(Random& random, Kind kind, bool stands, float pivot_height, double time, Pose& pose) {
  const Vec3& v = pose.velocity;
  const float speed = std::sqrt(v.x * v.x + v.z * v.z);
  const Rotation forward = heading(v.x, v.z);
  const double phase = random.unit();
  pose.position.y = pivot_height * pose.scale;
  const auto hop = [&](float height, float rate) {
    const float p = fraction(time * rate + phase);
    pose.position.y += 4 * height * p * (1 - p);
  };
  const double rolled = time * speed / (6.2832 * pivot_height * pose.scale);
  switch (kind) {
    case Kind::kBall: pose.turn = forward * about_x(rolled) * about_y(phase); break;
    case Kind::kTyre: pose.turn = forward * about_x(rolled); break;
    case Kind::kCar: pose.turn = forward; break;
    case Kind::kPerson:
      pose.turn = forward;
      pose.swing = 0.09F * sine(time * random.between(0.8F, 1.3F) + phase);
      break;
    case Kind::kDrone:
      pose.turn = forward * about_x(0.02 + 0.02 * sine(time * 0.31 + phase)) * about_y(0.1 * sine(time * 0.1));
      pose.position.y = random.between(1.0F, 4.5F) + 0.35F * sine(time * 0.23 + phase);
      break;
    default: {
      pose.turn = tumble(random, stands ? 0.0 : time);
      if (stands) break;
      const float height = random.between(0.1F, 0.35F);
      hop(height, random.between(0.9F, 1.5F));
    }
  }
}

}  // namespace

Life life_at(std::uint64_t seed, int slot, int slots, double time) {
  Random random(seed, mix(0x11fe, static_cast<std::uint64_t>(slot)));
  const double length = random.between(7.0F, 17.0F);
  // Phases are staggered, so that objects do not come in waves.
  const double place = time / length + (slot + random.unit()) / slots;
  const double number = std::floor(place);
  Life life;
  life.number = static_cast<std::int64_t>(number);
  life.key = mix(random.next(), static_cast<std::uint64_t>(life.number));
  life.half = 0.5 * length;
  life.now = (place - number - 0.5) * length;
  return life;
}

Pose pose_of(const Life& life, Kind kind, const Mesh& mesh, const Sight& sight) {
  Random random(life.key, 0x905e);
  Pose pose;
  pose.scale = random.between(0.8F, 1.3F);
  const float radius = mesh.radius * pose.scale;
  const Path path = path_of(random, life, kind, radius, sight);
  pose.position = point_on(path, life, life.now);
  constexpr double kStep = 0.02;
  pose.velocity = (point_on(path, life, life.now + kStep) - point_on(path, life, life.now - kStep)) *
                  static_cast<float>(0.5 / kStep);
  // Approaching objects grow out of the ground far away, where they are a few pixels high.
  const auto from_far =
      static_cast<float>((path.way == Way::kRecede ? life.half - life.now : life.half + life.now) / 1.5);
  const bool is_radial = path.way == Way::kStand || path.way == Way::kApproach || path.way == Way::kRecede;
  if (is_radial) pose.scale *= std::clamp(from_far, 0.02F, 1.0F);
  carry(random, kind, path.way == Way::kStand, mesh.pivot.y, life.now, pose);
  return pose;
}

}  // namespace saccade::scene
