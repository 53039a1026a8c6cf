// What a layer's forward needs besides its input.
//
//   Workspace workspace;
//   const Var y = layer.forward(Context::inference(workspace), x);
#pragma once

#include "heed/autograd/dropout_calls.h"
#include "heed/autograd/tape.h"
#include "heed/base/workspace.h"

namespace heed {

struct AttentionObserver;

// tape == nullptr is inference through the same layer code. Dropout acts where `dropout` is given, which each call
// takes its key from; nothing else is random. The observer, where there is one, is offered the weights of every
// attention layer (heed/observe/observer.h).
struct Context {
  Tape* tape = nullptr;
  Workspace& workspace;
  DropoutCalls* dropout = nullptr;
  AttentionObserver* observer = nullptr;

  static Context inference(Workspace& workspace, AttentionObserver* observer = nullptr) {
    return {.workspace = workspace, .observer = observer};
  }
  static Context training(Tape& tape, Workspace& workspace, DropoutCalls& dropout) {
    return {.tape = &tape, .workspace = workspace, .dropout = &dropout};
  }
};

}  // namespace heed
