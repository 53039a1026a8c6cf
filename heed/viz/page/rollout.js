// Attention rollout (Abnar and Zuidema 2020, "Quantifying attention flow in transformers", equation 1): what each
// position of the last layer holds of each input, if a layer's output is half its input (the residual connection) and
// half what it read.
//
//   rollout([weightsOfLayer0, weightsOfLayer1], tokens);   // [tokens, tokens], rows sum to one where the layers' do

// Half the weights, half the identity, each row divided by its sum.
export function withResidual(weights, tokens) {
  const out = Float64Array.from(weights, (weight) => weight / 2);
  for (let row = 0; row < tokens; ++row) {
    out[row * tokens + row] += 0.5;
    let sum = 0;
    for (let i = 0; i < tokens; ++i) sum += out[row * tokens + i];
    for (let i = 0; i < tokens; ++i) out[row * tokens + i] /= sum;
  }
  return out;
}

// layers: weights [tokens, tokens], the first layer first. Layers x tokens^3 multiplications.
export function rollout(layers, tokens) {
  let held = null;
  for (const weights of layers) {
    const read = withResidual(weights, tokens);
    if (!held) {
      held = read;
      continue;
    }
    const next = new Float64Array(tokens * tokens);
    for (let row = 0; row < tokens; ++row) {
      const out = next.subarray(row * tokens, (row + 1) * tokens);
      for (let middle = 0; middle < tokens; ++middle) {
        const share = read[row * tokens + middle];
        if (share === 0) continue;
        const from = held.subarray(middle * tokens, (middle + 1) * tokens);
        for (let i = 0; i < tokens; ++i) out[i] += share * from[i];
      }
    }
    held = next;
  }
  return Float32Array.from(held);
}
