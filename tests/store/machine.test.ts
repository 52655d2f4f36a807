import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { adoptState, machineOf, setOldStateAside } from '../../src/store/machine.js';
import { tempFolder } from '../harness/temp-folder.js';

const nothingRuns = (): Promise<boolean> => Promise.resolve(false);

/** A state directory with a task, and with `note` as its machine.json. */
async function stateWith(note: string | undefined): Promise<string> {
  const folder = await tempFolder();
  const state = join(folder, 'state');
  await mkdir(join(state, 'tasks'), { recursive: true });
  if (note !== undefined) await writeFile(join(state, 'machine.json'), note);
  return state;
}

test.each(['{"machine_id":"m","boot_id":"b","owner":null}', '{"format":99}'])(
  'a state directory of another form is renamed once, by whichever process is first: %s',
  async (note) => {
    const state = await stateWith(note);
    const moved = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const aside = await setOldStateAside(state, nothingRuns);
        await mkdir(state, { recursive: true });
        await adoptState(state, null);
        return aside;
      }),
    );
    expect(moved.filter((path) => path !== undefined)).toEqual([`${state}-old-1`]);
    expect(await readdir(`${state}-old-1`)).toEqual(['machine.json', 'tasks']);
    expect(await readdir(join(state, '..'))).toEqual(['state', 'state-old-1']);
    expect(await machineOf(state)).toBe('own');
  },
);

test('one of this form, or that no bridge has used, stays', async () => {
  const state = await stateWith(undefined);
  expect(await setOldStateAside(state, nothingRuns)).toBeUndefined();
  await adoptState(state, null);
  expect(await setOldStateAside(state, nothingRuns)).toBeUndefined();
  expect(await setOldStateAside(`${state}-none`, nothingRuns)).toBeUndefined();
});

test('a folder with a machine.json of another program stays where it is', async () => {
  const state = await stateWith('{"cpu":"x64"}');
  expect(await setOldStateAside(state, nothingRuns)).toBeUndefined();
  expect(await readdir(join(state, '..'))).toEqual(['state']);
});

test('one of another form with which a process still runs is refused, with what to do', async () => {
  const state = await stateWith('{"format":1}');
  await expect(setOldStateAside(state, () => Promise.resolve(true))).rejects.toMatchObject({
    code: 'STATE_UNUSABLE',
    hint: expect.stringContaining('End the tasks and the clients of that version') as unknown,
  });
  expect(await readdir(join(state, '..'))).toEqual(['state']);
});
