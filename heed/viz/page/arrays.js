// Arrays of numbers as traces have them, unpacked when they are first read.
//
//   const weights = numbers({ shape: [2, 3], min: 0, max: 1, u16: "AAD//w..." });   // { shape, values: Float32Array }
//
// An array is nested lists, or { shape, f32: base64 } with the numbers' own bits, or { shape, min, max, u16: base64 }
// with whole numbers from 0 to 65535 for min to max; little endian, the last axis fastest.

// Browsers that are older than 2025 need the loop; Uint8Array.from with a function would take ten times as long.
function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

const countOf = (shape) => shape.reduce((product, length) => product * length, 1);

function shapeOf(lists) {
  const shape = [];
  for (let inner = lists; Array.isArray(inner); inner = inner[0]) shape.push(inner.length);
  return shape;
}

function valuesOf(packed) {
  if (Array.isArray(packed)) return Float32Array.from(packed.flat(Infinity));
  if (packed.f32 !== undefined) {
    const bytes = bytesOf(packed.f32);
    return new Float32Array(bytes.buffer, 0, bytes.length >> 2);
  }
  const bytes = bytesOf(packed.u16);
  const steps = new Uint16Array(bytes.buffer, 0, bytes.length >> 1);
  const scale = (packed.max - packed.min) / 65535;
  const values = new Float32Array(steps.length);
  for (let i = 0; i < steps.length; ++i) values[i] = packed.min + steps[i] * scale;
  return values;
}

export function numbers(packed) {
  const shape = Array.isArray(packed) ? shapeOf(packed) : packed.shape;
  const values = valuesOf(packed);
  if (values.length !== countOf(shape)) throw new Error(`an array [${shape}] has ${values.length} numbers`);
  return { shape, values };
}
