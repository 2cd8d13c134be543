#pragma once

#include <cstdint>

#include "scene/mesh.hpp"

namespace saccade::scene {

/// The view that an object's path has to cross.
struct Sight {
  float focal = 0;       ///< pixels
  float half_width = 0;  ///< of the image, pixels
  float unit = 1;        ///< pixels that correspond to one at 640x480
  float speed = 0;       ///< of the camera's rig, metres per second
};

/// One object from entering to leaving. Each slot has one object after the other, so that the number of slots is the
/// number of objects, and each is determined without its predecessors.
struct Life {
  std::int64_t number = 0;  ///< in its slot, from 0
  std::uint64_t key = 0;    ///< seed of its random numbers
  double half = 0;          ///< seconds, half its length
  double now = 0;           ///< seconds relative to its middle
};

Life life_at(std::uint64_t seed, int slot, int slots, double time);

/// An object's position and orientation.
struct Pose {
  Vec3 position;  ///< of its pivot, in the camera's rig
  Rotation turn;
  Vec3 velocity;
  float scale = 1;
  float swing = 0;
};

/// LIFE's pose as an object of KIND with MESH.
Pose pose_of(const Life& life, Kind kind, const Mesh& mesh, const Sight& sight);

}  // namespace saccade::scene
