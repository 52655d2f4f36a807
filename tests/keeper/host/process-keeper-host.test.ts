import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ProcessKeeperHost } from '../../../src/keeper/host/process-keeper-host.js';
import { ProcessStore } from '../../../src/processes/process-store.js';
import { openProcesses } from '../../processes/open-processes.js';
import { scratchFolder } from '../../processes/scratch-folder.js';

/** A keeper that says that its process runs, and writes `end` into the record before it leaves. */
const leavingKeeper = (end: object): string => `
import { mkdirSync, writeFileSync, writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
const [, , id, statePath] = process.argv;
const { record } = JSON.parse(await text(process.stdin));
const folder = statePath + '/processes/' + id;
mkdirSync(folder, { recursive: true });
writeFileSync(folder + '/stdout.0', 'printed');
writeFileSync(folder + '/record.json', JSON.stringify({ ...record, ...${JSON.stringify(end)} }));
writeSync(3, JSON.stringify({ record }));
`;

async function spawnKept(end: object) {
  const statePath = join(await scratchFolder(), 'state');
  await mkdir(statePath);
  const keeperEntry = join(statePath, 'keeper.mjs');
  await writeFile(keeperEntry, leavingKeeper(end));
  const keepers = new ProcessKeeperHost({
    keeperEntry,
    nodeArguments: [],
    statePath,
    runtimePath: statePath,
    env: {},
    store: new ProcessStore(statePath),
    shell: '/bin/sh',
    maxOutputBytes: 1_000_000,
    containers: {
      engine: { host: null, certPath: null, tlsVerify: false },
      homeDir: '/',
      ownerId: 'x',
      image: 'x',
    },
  });
  const { sh } = await openProcesses({ statePath, keepers });
  return sh('exit 3', 10_000, { keep: true });
}

test('a kept process that ended before a connection was made is reported with its end', async () => {
  const ended = { status: 'terminated', exit_code: 3, ended_at: new Date().toISOString() };
  expect(await spawnKept(ended)).toMatchObject({
    isBackground: false,
    record: { status: 'terminated', exit_code: 3 },
    stdout: 'printed',
  });
});

test('a kept process whose keeper takes no connection is reported as started', async () => {
  await expect(spawnKept({})).rejects.toMatchObject({
    code: 'PROCESS_UNREACHABLE',
    message: expect.stringContaining('it was started') as unknown,
  });
});
