#!/usr/bin/env node
// onnxruntime.js THREADS SECONDS GRAPHS PEERS: times ONNX Runtime, which lies in PEERS/node_modules, on the problems
// that standard input holds, each by every graph that onnx_graphs.py wrote for it into GRAPHS. Prints one JSON line for
// each problem that has a graph: the one that was fastest, its median, or why there is none.
'use strict';

const fs = require('fs');
const path = require('path');

const [threads, seconds] = process.argv.slice(2, 4).map(Number);
const [graphs, peers] = process.argv.slice(4, 6);
const folder = path.resolve(peers, 'node_modules');
const { Tensor } = require(path.join(folder, 'onnxruntime-common'));
// The native session behind the public one, whose every call waits for a turn of Node's loop.
const { binding, initOrt } = require(path.join(folder, 'onnxruntime-node/dist/binding.js'));
const { version } = require(path.join(folder, 'onnxruntime-node/package.json'));

const kLeastSamples = 5;
const kTypes = { 1: ['float32', Float32Array], 6: ['int32', Int32Array] };  // by ONNX's numbers

const now = () => Number(process.hrtime.bigint()) * 1e-9;

// The median of calls for so many seconds after a tenth of them to warm up, as heed's rows are timed, and how many
// there were.
function timeWork(work, seconds, least = kLeastSamples) {
  let begin = now();
  do work(); while (now() - begin < seconds / 10);
  const samples = [];
  begin = now();
  while (samples.length < least || now() - begin < seconds) {
    const start = now();
    work();
    samples.push(now() - start);
  }
  samples.sort((a, b) => a - b);
  const half = samples.length >> 1;
  return [samples.length % 2 ? samples[half] : (samples[half - 1] + samples[half]) / 2, samples.length];
}

// Uniform in [-1, 1); integers are zeros.
function tensorOf(metadata) {
  const [name, Numbers] = kTypes[metadata.type];
  const numbers = new Numbers(metadata.shape.reduce((product, size) => product * size, 1));
  if (name === 'float32') for (let i = 0; i < numbers.length; ++i) numbers[i] = 2 * Math.random() - 1;
  return new Tensor(name, numbers, metadata.shape);
}

// The call that is timed: every array is made beforehand, and a cache is its own next one.
function workOf(problem, file) {
  const session = new binding.InferenceSession();
  session.loadModel(file, { intraOpNumThreads: threads, interOpNumThreads: 1, graphOptimizationLevel: 'all', executionMode: 'sequential',
                            executionProviders: ['cpu'] });
  const decoding = problem.queries === 1;
  const turns = [];
  for (let copy = 0; copy < problem.key_copies; ++copy) {
    const feeds = {}, fetches = {};
    for (const metadata of session.inputMetadata) {
      const ofCopy = /^(k|v|past_key|past_value)$/.test(metadata.name);
      feeds[metadata.name] = copy === 0 || ofCopy ? tensorOf(metadata) : turns[0].feeds[metadata.name];
    }
    if (feeds.last) feeds.last.data.fill(problem.keys - 1);
    if (feeds.total) feeds.total.data.fill(problem.keys);
    for (const metadata of session.outputMetadata) {
      const past = decoding && feeds[metadata.name.replace('present', 'past')];
      fetches[metadata.name] = past || tensorOf(metadata);
    }
    turns.push({ feeds, fetches });
  }
  let turn = 0;
  const run = () => {
    const { feeds, fetches } = turns[turn];
    turn = (turn + 1) % turns.length;
    session.run(feeds, fetches, {});
  };
  return { run, end: () => session.dispose() };
}

// The fastest graph by a short look at each, timed in full.
function measure(problem, files) {
  const looked = [];
  let refused = '';
  for (const file of files) {
    try {
      const work = workOf(problem, path.join(graphs, file));
      looked.push([timeWork(work.run, seconds / 10, 1)[0], file]);
      work.end();
    } catch (error) {
      refused = String(error).split('\n')[0];
    }
  }
  if (looked.length === 0) return { refused };
  const [, file] = looked.reduce((best, look) => (look[0] < best[0] ? look : best));
  const work = workOf(problem, path.join(graphs, file));
  const [median, samples] = timeWork(work.run, seconds);
  work.end();
  return { form: file.split('.')[1], seconds: median, samples };
}

initOrt();
JSON.parse(fs.readFileSync(0, 'utf8')).forEach((problem, number) => {
  const files = fs.readdirSync(graphs).filter((file) => file.startsWith(`${number}.`));
  if (files.length === 0) return;
  console.log(JSON.stringify({ row: problem.row, peer: 'ONNX Runtime', version, ...measure(problem, files) }));
});
