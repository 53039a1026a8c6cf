// A beam search as a tree: what each step kept, what it went on from, and which path became the answer.
//
//   const tree = searchTree(trace.steps, trace.target.tokens);
//   tree.answer[3];                       // the hypothesis of step 3 that the answer is made of
//   tokensOf(tree.steps, 3, 1);           // the tokens of hypothesis 1 of step 3, from the first
//
// steps: [{ hypotheses: [{ parent, token, log_probability, total, candidates }] }], as heed/observe/trace.h has them: a
// hypothesis that ended is gone from the next step on.

// The hypotheses from the first step to this one, as their numbers.
export function pathOf(steps, step, number) {
  const path = [];
  for (let at = number, t = step; t >= 0 && at >= 0; --t) {
    path.unshift(at);
    at = steps[t].hypotheses[at].parent;
  }
  return path;
}

export const tokensOf = (steps, step, number) =>
  pathOf(steps, step, number).map((at, t) => steps[t].hypotheses[at].token);

// The path whose tokens are the answer's; where no path is (an answer that was cut), the best of the last step.
function answerOf(steps, target) {
  for (let step = Math.min(steps.length, target.length) - 1; step >= 0; --step) {
    const { hypotheses } = steps[step];
    for (let number = 0; number < hypotheses.length; ++number) {
      if (hypotheses[number].token !== target[step]) continue;
      if (tokensOf(steps, step, number).every((token, t) => token === target[t])) return pathOf(steps, step, number);
    }
  }
  return steps.length > 0 ? pathOf(steps, steps.length - 1, 0) : [];
}

// Returns { steps, answer, columns }: for each step its nodes { step, number, parent, token, probability, total,
// answer, goesOn }, at most `most` of them, those of the answer in any case; `goesOn` says whether a later step follows
// it.
export function searchTree(steps, target, most = 12) {
  const answer = answerOf(steps, target);
  const columns = steps.map(({ hypotheses }, step) => {
    const followed = new Set((steps[step + 1]?.hypotheses ?? []).map(({ parent }) => parent));
    const nodes = hypotheses.map(({ parent, token, log_probability, total }, number) => ({
      step, number, parent, token, total, probability: Math.exp(log_probability), answer: answer[step] === number,
      goesOn: followed.has(number),
    }));
    return nodes.filter(({ number, answer: is }) => number < most || is);
  });
  return { steps, answer, columns };
}
