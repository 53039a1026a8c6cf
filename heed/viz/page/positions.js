// The sinusoids of Vaswani et al. 2017, section 3.5: PE(p, 2i) = sin(p angle_i), PE(p, 2i + 1) = cos(p angle_i) with
// angle_i = 1 / 10000^(2i / width).
//
//   const table = sinusoids(50, 128);        // [50][128]
//   wavelengths(128)[63];                    // 54410.7 positions
//   productOfPositions(7, 5, 128);           // the same as of 2 and 0

const kBase = 10000;

export const pairs = (width) => Math.ceil(width / 2);  // an odd width cuts the last pair: its sine is left
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

// PE(p) . PE(q). sin a sin b + cos a cos b = cos(a - b): with an even width it depends on the distance alone.
export function productOfPositions(p, q, width) {
  let sum = 0;
  for (let pair = 0; pair < Math.floor(width / 2); ++pair) sum += Math.cos((p - q) * angle(pair, width));
  return width % 2 === 0 ? sum : sum + sinusoid(p, width - 1, width) * sinusoid(q, width - 1, width);
}

// The dimensions in the order in which a picture shows them: as they are, or the sines before the cosines, where each
// half is one fan of waves.
export function dimensionOrder(width, apart) {
  const all = Array.from({ length: width }, (_, d) => d);
  return apart ? [...all.filter((d) => d % 2 === 0), ...all.filter((d) => d % 2 === 1)] : all;
}
