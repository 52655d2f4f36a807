import { runProgram } from '../../os/run-program.js';
import { ok, unchecked, type Check } from '../check.js';

/** Claude Code 2.1.330 and 2.1.332 wait 2.7 s for the first answer, then speak the older protocol, in which no task calls back. */
const WAITS_MS = 2_700;
const GOOD_MS = 1_000;
const LIMIT_MS = 15_000;

const discover = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'server/discover',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'doctor', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
})}\n`;

export const serverStart: Check = {
  id: 'server-start',
  category: 'clients',
  alone: true,
  limitMs: LIMIT_MS,
  look: async ({ serverEntry, signal, ...context }) => {
    const env = Object.fromEntries(
      Object.entries(context.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    const startMs = performance.now();
    let answeredMs: number | undefined;
    const call = { program: process.execPath, args: [serverEntry], cwd: context.homeDir, env, signal };
    await runProgram({ ...call, timeLimitMs: LIMIT_MS, input: Buffer.from(discover) }, () => {
      answeredMs ??= performance.now() - startMs;
    });
    if (answeredMs === undefined) return unchecked('the server answered nothing.');
    const summary = `The server answers ${Math.round(answeredMs)} ms after its start`;
    if (answeredMs <= GOOD_MS) return ok(summary);
    return {
      status: answeredMs < WAITS_MS ? 'ok' : 'warning',
      summary: `${summary}; Claude Code waits ${WAITS_MS / 1_000} s, and is not called at the end of a task when that is over`,
      remedy: {
        words:
          'Install the package on this machine, instead of starting it with npx, and look at what else runs.',
        command: 'npm install -g claude-code-bridge',
      },
    };
  },
};
