// The sinusoids of Vaswani et al. 2017, section 3.5: PE(p, 2i) = sin(p angle_i), PE(p, 2i + 1) = cos(p angle_i) with
// angle_i = 1 / 10000^(2i / width).
//
//   const table = sinusoids(50, 128);        // [50][128]
//   wavelengths(128)[63];                    // 54410.7 positions
//   productsOfPositions(50, 128)(7, 5);      // the same as of 2 and 0

const kBase = 10000;

const pairs = (width) => Math.ceil(width / 2);  // an odd width cuts the last pair: its sine is left
export const angle = (pair, width) => kBase ** (-2 * pair / width);  // radians for each position

// The positions that one turn of each pair of dimensions takes.
export const wavelengths = (width) =>
  Array.from({ length: pairs(width) }, (_, pair) => 2 * Math.PI / angle(pair, width));

export function sinusoid(position, dimension, width) {
  const turned = position * angle(Math.floor(dimension / 2), width);
  return dimension % 2 === 0 ? Math.sin(turned) : Math.cos(turned);
}

export const sinusoids = (length, width) =>
  Array.from({ length }, (_, p) => Array.from({ length: width }, (_, d) => sinusoid(p, d, width)));

// PE(p) . PE(q) of the first `length` positions, as a function of p and q. sin a sin b + cos a cos b = cos(a - b): with
// an even width it depends on the distance alone, so that length x width / 2 cosines are enough for all.
export function productsOfPositions(length, width) {
  const angles = Array.from({ length: Math.floor(width / 2) }, (_, pair) => angle(pair, width));
  const ofDistance = Array.from({ length }, (_, distance) => angles.reduce((sum, turn) => sum + Math.cos(distance * turn), 0));
  if (width % 2 === 0) return (p, q) => ofDistance[Math.abs(p - q)];
  const last = Array.from({ length }, (_, p) => sinusoid(p, width - 1, width));
  return (p, q) => ofDistance[Math.abs(p - q)] + last[p] * last[q];
}

// The dimensions in the order in which a picture shows them: as they are, or the sines before the cosines, where each
// half is one fan of waves.
export function dimensionOrder(width, apart) {
  const all = Array.from({ length: width }, (_, d) => d);
  return apart ? [...all.filter((d) => d % 2 === 0), ...all.filter((d) => d % 2 === 1)] : all;
}
