// Runs the scripts of a JSON array on standard input as modules, and prints how they went as a JSON array.
import { readFileSync } from 'node:fs';
import vm from 'node:vm';
process.on('unhandledRejection', () => {});
const engine = readFileSync(new URL('engine.js', import.meta.url), 'utf8');
const turn = () => new Promise((resolve) => setImmediate(resolve));
const results = [];
for (const source of JSON.parse(readFileSync(0, 'utf8'))) {
  const context = vm.createContext();
  const e = vm.runInContext(engine, context);
  Object.assign(context, e.globals);
  e.start(async () => {
    const script = new vm.SourceTextModule(source, { context });
    await script.link(() => { throw new Error('import'); });
    await script.evaluate({ timeout: 1000 });
  });
  for (let i = 0; i < 1000; i++) {
    await turn();
    await turn();
    if (!e.step() && e.state().state !== 'running') break;
    if (i > 20 && !e.step()) break;
  }
  const { state, plan } = e.state();
  results.push({ state, plan }); // an object that the script cannot have changed
}
console.log(JSON.stringify(results));
