// The thread in which a shell line is judged: one line, one verdict. See shell-judge.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { judgeShellLine } from './judge-shell-line.js';
import { judgingSchema, READY } from './line-verdict.js';
import { realPlaces } from '../places.js';
import { compileRules } from '../user-rules.js';

// From here on its time counts.
parentPort?.postMessage(READY);
const { request, rows, places } = judgingSchema.parse(workerData);
parentPort?.postMessage(await judgeShellLine(request, compileRules(rows, places), realPlaces));
