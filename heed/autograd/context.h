// What a layer's forward needs besides its input.
#pragma once

#include "heed/autograd/tape.h"
#include "heed/base/random.h"
#include "heed/base/workspace.h"

namespace heed {

struct AttentionObserver;

// tape == nullptr is inference through the same layer code. `training` turns dropout on; each dropout draws its stream
// from rng. The observer, where there is one, is offered the weights of every attention layer
// (heed/observe/observer.h).
struct Context {
  Tape* tape = nullptr;
  Workspace& workspace;
  Rng& rng;
  AttentionObserver* observer = nullptr;
  bool training = false;
};

}  // namespace heed
