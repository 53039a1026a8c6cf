#!/usr/bin/env node
// tokenizing.js PEERS HEED_BENCH TEXT FOLDER...: see bench/peers/tokenizing. Rounds of passes in turn, of which each
// side's fastest counts. Hugging Face's library takes lines by thousands, as a batch, on as many threads as
// RAYON_NUM_THREADS says; it makes offsets and masks too.
'use strict';

const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');

const [peers, bench, text, ...folders] = process.argv.slice(2);
const { Tokenizer } = require(path.resolve(peers, 'node_modules/@anush008/tokenizers'));

const kRounds = 2, kPasses = 2, kBatch = 1000;

const now = () => Number(process.hrtime.bigint()) * 1e-9;

async function timeTheirs(tokenizer, batches) {
  let seconds = Infinity, ids = 0, sum = 0;
  for (let pass = 0; pass < kPasses; ++pass) {
    const made = [];
    const begin = now();
    for (const batch of batches) made.push(await tokenizer.encodeBatch(batch, { addSpecialTokens: false }));
    seconds = Math.min(seconds, now() - begin);
    ids = sum = 0;
    for (const one of made.flat()) for (const id of one.getIds()) ++ids, sum += id;
  }
  return { seconds, ids, sum };
}

function timeOurs(folder) {
  const run = spawnSync(bench, [folder, text, String(kPasses)], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(run.stderr.trim());
  return JSON.parse(run.stdout);
}

async function main() {
  const bytes = fs.readFileSync(text);
  const lines = bytes.toString('utf8').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const batches = [];
  for (let at = 0; at < lines.length; at += kBatch) batches.push(lines.slice(at, at + kBatch));
  console.log(`${(bytes.length / 1e6).toFixed(1)} MB, ${lines.length} lines\n`);
  console.log("| tokenizer | heed, MB/s | Hugging Face's, MB/s | heed is as fast | the same ids |\n|---|---|---|---|---|");
  for (const folder of folders) {
    const tokenizer = Tokenizer.fromFile(path.join(folder, 'tokenizer.json'));
    tokenizer.disableTruncation();
    tokenizer.disablePadding();
    let ours, theirs;
    for (let round = 0; round < kRounds; ++round) {
      const mine = timeOurs(folder), other = await timeTheirs(tokenizer, batches);
      if (!ours || mine.seconds < ours.seconds) ours = mine;
      if (!theirs || other.seconds < theirs.seconds) theirs = other;
    }
    const rate = one => (bytes.length / 1e6 / one.seconds).toFixed(2);
    const same = ours.ids === theirs.ids && ours.sum === theirs.sum;
    console.log(`| ${path.basename(folder)} | ${rate(ours)} | ${rate(theirs)} | ${(theirs.seconds / ours.seconds).toFixed(2)} | ` +
      `${same ? 'yes' : `no: ${ours.ids} and ${theirs.ids}`} |`);
  }
}

main().catch(error => {
  console.error(`tokenizing.js: ${error.message}`);
  process.exit(1);
});
