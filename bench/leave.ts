import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { figuresOf, type Figures } from './figures.js';
import { BRIDGE, createWorkplace } from './workplace.js';

const ROUNDS = 8;
const ways = { endOfInput: undefined, SIGINT: 'SIGINT', SIGTERM: 'SIGTERM' } as const;
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};
const WAITING_CALL = {
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'list_tasks', arguments: {} },
};

/** Milliseconds from the end of input, or a signal, to the server's exit, with a call under way. */
export async function measureLeave(): Promise<Record<string, Figures>> {
  const workplace = await createWorkplace();
  try {
    const figures: Record<string, Figures> = {};
    for (const [name, signal] of Object.entries(ways)) {
      const samples: number[] = [];
      for (let round = 0; round < ROUNDS; round++) samples.push(await leaveOnce(workplace.env, signal));
      figures[name] = figuresOf(samples);
    }
    return figures;
  } finally {
    workplace.dispose();
  }
}

async function leaveOnce(
  env: Readonly<Record<string, string>>,
  signal: 'SIGINT' | 'SIGTERM' | undefined,
): Promise<number> {
  const [program = '', ...args] = BRIDGE;
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  await once(createInterface({ input: child.stdout }), 'line');
  child.stdin.write(`${JSON.stringify(WAITING_CALL)}\n`);
  const startMs = performance.now();
  if (signal === undefined) child.stdin.end();
  else child.kill(signal);
  await exited;
  return performance.now() - startMs;
}
