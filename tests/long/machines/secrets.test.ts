import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startBridge } from '../../harness/start-bridge.js';
import { commandLines, describeMachines, serversOf, sharedMachines } from './shared-machines.js';

const NAME = 'CANARY_TOKEN';

describeMachines('a secret that goes to another machine', (claude) => {
  const setting = { pass_environment: [NAME] };
  const machines = sharedMachines({ claude, count: 1, setting });

  it('reaches the tasks there, and is in no argument list, no file and no log of either side', async () => {
    const canary = `canary-${randomBytes(16).toString('hex')}`;
    const machine = machines().machine(1);
    const env = { ...machines().env, [NAME]: canary, MCP_LOG_LEVEL: 'debug' };
    const bridge = await startBridge({ claude, env });
    const seenInArguments: string[] = [];
    let isOver = false;
    const watching = (async () => {
      while (!isOver) seenInArguments.push(...(await commandLines()).filter((line) => line.includes(canary)));
    })();
    try {
      const path = await machine.folder('secret');
      const prompt = `DO printf %s "$${NAME}" | sha256sum | cut -c 1-64 > seen.txt`;
      const ids = [await bridge.start({ machine: machine.name, path, prompt })];
      await bridge.end(ids[0] ?? '');
      // On a new line it is sent again.
      await machine.cut('reset');
      ids.push(await bridge.start({ machine: machine.name, path, prompt, driver: 'print' }));
      await bridge.end(ids[1] ?? '');
      const hash = createHash('sha256').update(canary).digest('hex');
      expect(await machine.exec(['cat', `${path}/seen.txt`])).toBe(`${hash}\n`);
      expect((await serversOf(machine)).size).toBe(1);
    } finally {
      isOver = true;
      await watching;
    }
    expect(seenInArguments).toEqual([]);
    expect(bridge.mcp.log()).not.toContain(canary);
    expect(await filesWith(canary, bridge.workplace.root)).toEqual([]);
    expect(await filesWith(canary, machine.machineDir)).toEqual([]);
    const inTemp = await machine.exec([
      'sh',
      '-c',
      `grep -rlF ${'canary-'} /tmp /run /dev/shm /home 2>/dev/null || true`,
    ]);
    expect(inTemp).toBe('');
  });
});

/** The files below a folder that hold a text. */
async function filesWith(text: string, folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(
    files.map(async (file) =>
      (await readFile(file).catch(() => Buffer.alloc(0))).includes(text) ? [file] : [],
    ),
  );
  return found.flat();
}
