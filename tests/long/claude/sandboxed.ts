import { expect } from 'vitest';
import type { ScriptedTurn } from '../../../src/cli/demo/scripted-api.js';
import { says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

export const SECRET = 'LEAKED-7731';
export const KEPT = 'as it was';
/** How a task of mode sandboxed is started in these tests. */
export const sandboxed = { prompt: 'Go.', permission_mode: 'sandboxed', driver: 'print' } as const;

/** Runs a task of mode sandboxed to its end; its id. */
export async function attack(
  bridge: TestBridge,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const id = await bridge.start({ ...sandboxed, ...more });
  expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
  return id;
}

/** A bridge whose model does what is put into the list, turn after turn. */
export async function scriptedBridge(binary: string) {
  const script: ScriptedTurn[] = [];
  const bridge = await startBridge({
    claude: binary,
    script: ({ kind }) => (kind === 'turn' ? script.shift() : undefined) ?? says('Done.'),
  });
  return { bridge, script };
}
