// Worker thread that checks shell lines, one after the other, and reports the verdicts. See shell-checker.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { checkShellLine } from './check-shell-line.js';
import { checkRulesSchema, lineRequestSchema, READY } from './line-verdict.js';
import { realLookup } from '../path-lookup.js';
import { compileRules } from '../user-rules.js';

const { rows, bases } = checkRulesSchema.parse(workerData);
const rules = compileRules(rows, bases);

parentPort?.on('message', (message: unknown) => {
  // The time limit starts with this message.
  parentPort?.postMessage(READY);
  const request = lineRequestSchema.parse(message);
  void checkShellLine(request, rules, realLookup).then((verdict) => parentPort?.postMessage(verdict));
});
