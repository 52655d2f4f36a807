// Worker thread that checks one shell line and reports the verdict. See shell-checker.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { checkShellLine } from './check-shell-line.js';
import { checkInputSchema, READY } from './line-verdict.js';
import { realLookup } from '../path-lookup.js';
import { compileRules } from '../user-rules.js';

// The time limit starts with this message.
parentPort?.postMessage(READY);
const { request, rows, bases } = checkInputSchema.parse(workerData);
parentPort?.postMessage(await checkShellLine(request, compileRules(rows, bases), realLookup));
