import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { discoverySchema, type Discovery } from '../../src/board/board-place.js';
import { endProcess } from './end-process.js';
import type { TestBridge } from './start-bridge.js';

/** The board that runs, as its file says. */
export async function discoveryOf(bridge: TestBridge): Promise<Discovery> {
  const text = await readFile(join(bridge.workplace.stateDir, 'board', 'board.json'), 'utf8');
  return discoverySchema.parse(JSON.parse(text));
}

const ending = new WeakSet<TestBridge>();

/** The board that this bridge opened ends with the test. */
export function endsWithTest(bridge: TestBridge): void {
  if (ending.has(bridge)) return;
  ending.add(bridge);
  onTestFinished(async () => {
    ending.delete(bridge);
    const discovery = await discoveryOf(bridge).catch(() => undefined);
    if (discovery !== undefined) await endProcess(discovery.owner.pid);
  });
}
