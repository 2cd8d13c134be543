#pragma once

// The frame path's errors are part of the public API: Pipeline::next() returns them.
#include "base/error.hpp"
#include "saccade/outcome.hpp"
