#pragma once

#include <cstdint>

#include "scene/mesh.hpp"

namespace saccade::scene {

/// What an object's way across the image must fit.
struct Sight {
  float focal = 0;       ///< pixels
  float half_width = 0;  ///< of the image, pixels
  float unit = 1;        ///< pixels that count as one at 640x480
  float speed = 0;       ///< of the camera's rig, metres a second
};

/// One object from entering to leaving. A slot has one object at a time, one after the other: so many slots, so many
/// objects, and each is found without its predecessors.
struct Life {
  std::int64_t number = 0;  ///< in its slot, from 0
  std::uint64_t key = 0;    ///< of its random numbers
  double half = 0;          ///< seconds, half its length
  double now = 0;           ///< seconds, from its middle
};

Life life_at(std::uint64_t seed, int slot, int slots, double time);

/// Where an object is and how it is turned.
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
