import { mkdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KeeperHost } from '../../../../src/keeper/host/keeper-host.js';
import { engineSettings } from '../../../../src/services/engine-settings.js';
import { bundleKeeper } from '../../../keeper/open-host.js';
import { openProcesses } from '../../../processes/open-processes.js';
import { scratchFolder } from '../../../processes/scratch-folder.js';

const keeper = bundleKeeper();

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

async function openKept(keeperEntry: string, statePath: string) {
  const program = { keeperEntry, nodeArguments: [], statePath, runtimePath: statePath, env: {} };
  const keepers = new KeeperHost(program).keepers({
    shell: '/bin/sh',
    maxOutputBytes: 1_000_000,
    containers: {
      engine: engineSettings({ env: {}, homeDir: '/' }),
      ownerId: 'x',
      image: 'x',
    },
  });
  return openProcesses({ statePath, keepers });
}

async function statePath(): Promise<string> {
  const path = join(await scratchFolder(), 'state');
  await mkdir(path);
  return path;
}

async function spawnKept(end: object) {
  const path = await statePath();
  const keeperEntry = join(path, 'keeper.mjs');
  await writeFile(keeperEntry, leavingKeeper(end));
  const { sh } = await openKept(keeperEntry, path);
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

test('the end of a kept process that the disk did not take is known meanwhile, and recorded later', async () => {
  const { sh, service, store, never } = await openKept(keeper(), await statePath());
  const { record } = await sh('read -r x; exit 9', 0, { keep: true });
  const id = record.process_id;
  // Nothing can replace a folder.
  const path = join(store.folder(id), 'record.json');
  const text = await readFile(path, 'utf8');
  await rm(path);
  await mkdir(path);
  const asked = await service.input({ id, text: '\n', limitMs: 10_000 }, never);
  expect(asked.record).toMatchObject({ status: 'terminated', exit_code: 9 });
  await expect(service.kill(id, 'SIGTERM')).rejects.toThrow('has ended');
  await rmdir(path);
  await writeFile(path, text);
  await expect
    .poll(() => store.read(id), { timeout: 10_000 })
    .toMatchObject({ status: 'terminated', exit_code: 9 });
});
