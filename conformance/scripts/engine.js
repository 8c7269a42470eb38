// The surroundings of a script in Codex, as far as plans are concerned. start(run) calls an async function that is the
// script, and step() lets one tool do its work; it returns false when nothing is left to do. state() is how it went.
(() => {
  'use strict';
  const stringify = JSON.stringify, parse = JSON.parse;
  let queue, ended, plan;
  const later = (work) => { queue.push(work); };
  const tool = (work) => (input) => {
    const sent = stringify(input); // as it is at the time of the call
    return new Promise((resolve, reject) => later(() => {
      try { resolve(work(sent)); } catch (e) { reject(e); }
    }));
  };
  const only = (object, names) => Object.keys(object).every((name) => names.includes(name));
  const update = (sent) => {
    const input = parse(sent);
    const ok = only(input, ['plan', 'explanation']) && Array.isArray(input.plan) &&
      (input.explanation === undefined || input.explanation === null || typeof input.explanation === 'string') &&
      input.plan.every((item) => only(item, ['step', 'status']) && typeof item.step === 'string' &&
        ['pending', 'in_progress', 'completed'].includes(item.status));
    if (!ok) throw new Error('failed to parse function arguments');
    if (!ended) plan = sent;
    return {};
  };
  const globals = {
    tools: {
      update_plan: tool(update),
      exec_command: tool(() => ({ output: 'ok', exit_code: 0 })),
    },
    n: 2, x: 1, a: {}, done: 'completed',
    text() {}, notify() {}, store() {}, load() {},
    setTimeout: (work) => { later(work); return 1; },
    exit() { ended = ended || 'completed'; throw new Error('exit'); },
  };
  return {
    globals,
    start(run) {
      queue = []; ended = ''; plan = '';
      run().then(() => { ended = ended || 'completed'; }, () => { ended = ended || 'failed'; });
    },
    step() {
      if (ended || queue.length === 0) return false;
      try { queue.shift()(); } catch (e) { /* of a timer */ }
      return true;
    },
    state: () => ({ state: ended || 'running', plan }),
  };
})();
