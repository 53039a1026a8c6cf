// Attention flow (Abnar and Zuidema 2020, section 3): layers as a network of pipes whose capacities are the weights
// with the residual connection, as in rollout; what flows at most from a position of the last layer to an input.
//
//   attentionFlow([weightsOfLayer0, weightsOfLayer1], tokens);   // [tokens, tokens] of maximum flows

import { withResidual } from "./rollout.js";

// A flow for each pair of positions, and each may use every pipe: about layers x tokens^4 steps.
const kMostSteps = 2e7;
export const flowIsFeasible = (tokens, layers) => layers * tokens ** 4 <= kMostSteps;

const kLeast = 1e-9;  // less room than this in a pipe is none

// Dinic's algorithm (1970) from one node to another, over edges in pairs: an edge and, beside it, its way back.
class Network {
  constructor(nodes) {
    this.first = new Int32Array(nodes).fill(-1);
    this.level = new Int32Array(nodes);
    this.next = [];
    this.to = [];
    this.capacity = [];
  }

  connect(from, to, capacity) {
    for (const [a, b, room] of [[from, to, capacity], [to, from, 0]]) {
      this.next.push(this.first[a]);
      this.first[a] = this.to.length;
      this.to.push(b);
      this.capacity.push(room);
    }
  }

  levelled(source, sink) {
    this.level.fill(-1);
    this.level[source] = 0;
    const queue = [source];
    for (const node of queue) {
      for (let edge = this.first[node]; edge >= 0; edge = this.next[edge]) {
        if (this.room[edge] <= kLeast || this.level[this.to[edge]] >= 0) continue;
        this.level[this.to[edge]] = this.level[node] + 1;
        queue.push(this.to[edge]);
      }
    }
    return this.level[sink] >= 0;
  }

  push(node, sink, most) {
    if (node === sink) return most;
    for (; this.at[node] >= 0; this.at[node] = this.next[this.at[node]]) {
      const edge = this.at[node];
      if (this.room[edge] <= kLeast || this.level[this.to[edge]] !== this.level[node] + 1) continue;
      const pushed = this.push(this.to[edge], sink, Math.min(most, this.room[edge]));
      if (pushed > 0) {
        this.room[edge] -= pushed;
        this.room[edge ^ 1] += pushed;
        return pushed;
      }
    }
    return 0;
  }

  maximum(source, sink) {
    this.room = Float64Array.from(this.capacity);
    let total = 0;
    while (this.levelled(source, sink)) {
      this.at = Int32Array.from(this.first);
      for (let pushed; (pushed = this.push(source, sink, Infinity)) > 0; ) total += pushed;
    }
    return total;
  }
}

export function attentionFlow(layers, tokens) {
  const network = new Network((layers.length + 1) * tokens);
  layers.forEach((weights, layer) => {
    const read = withResidual(weights, tokens);
    for (let row = 0; row < tokens; ++row) {
      for (let column = 0; column < tokens; ++column) {
        const capacity = read[row * tokens + column];
        if (capacity > kLeast) network.connect((layer + 1) * tokens + row, layer * tokens + column, capacity);
      }
    }
  });
  const flows = new Float32Array(tokens * tokens);
  for (let row = 0; row < tokens; ++row) {
    for (let column = 0; column < tokens; ++column) {
      flows[row * tokens + column] = network.maximum(layers.length * tokens + row, column);
    }
  }
  return flows;
}
