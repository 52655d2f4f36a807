import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { BridgeError } from '../../../src/base/errors.js';
import { systemClock } from '../../../src/base/system-clock.js';
import { requestKey, Requests } from '../../../src/store/requests.js';
import { bundledProgram } from '../../harness/bundled-program.js';
import { refusal } from '../../harness/refusal.js';
import { tempFolder } from '../../harness/temp-folder.js';

const RACERS = 3;
const ROUNDS = 20;
const DAY_MS = 86_400_000;
const program = bundledProgram(new URL('../../store/request-racer.ts', import.meta.url));
const answerSchema = z.object({ outcome: z.string() });
const shapes = { outcome: z.string(), note: z.string() };

let state: string;
let children: ChildProcess[];
beforeEach(async () => {
  state = await tempFolder();
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
});

async function racer(): Promise<ChildProcess> {
  const child = fork(program(), { execArgv: [] });
  children.push(child);
  await once(child, 'message');
  return child;
}

/** What a racer answers; undefined for one that died. */
async function order(child: ChildProcess, what: object): Promise<string | undefined> {
  const over = new AbortController();
  const { signal } = over;
  const answer = once(child, 'message', { signal }).then(
    ([message]) => answerSchema.parse(message).outcome,
    () => undefined,
  );
  const exit = once(child, 'exit', { signal }).then(
    () => undefined,
    () => undefined,
  );
  child.send({ state, ...what });
  const outcome = await Promise.race([answer, exit]);
  over.abort();
  return outcome;
}

async function linesOf(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).trimEnd().split('\n');
}

describe('a request with an id', () => {
  test('is done once by processes that begin it at the same time, and all get its outcome', async () => {
    const racers = await Promise.all(Array.from({ length: RACERS }, racer));
    for (let round = 0; round < ROUNDS; round++) {
      const file = join(state, `trace-${round}`);
      const outcomes = await Promise.all(racers.map((child) => order(child, { id: `r${round}`, file })));
      const [first] = await linesOf(file);
      expect(await linesOf(file)).toHaveLength(1);
      expect(outcomes).toEqual(racers.map(() => `done by ${first}`));
    }
  });

  test.each(['noted', 'done'] as const)(
    'of a process that is killed when it was %s is not done again, not even by those that waited for it: they get what was noted',
    async (dies) => {
      const file = join(state, 'trace');
      const racers = await Promise.all(Array.from({ length: RACERS }, racer));
      const first = await Promise.all(racers.map((child) => order(child, { id: 'r', file, dies })));
      const dead = racers[first.indexOf(undefined)]?.pid;
      const unknown = `BridgeError: It was noted: by ${dead}.`;
      expect(first.toSorted()).toEqual([unknown, unknown, undefined]);
      expect(await order(await racer(), { id: 'r', file })).toBe(unknown);
      expect(await linesOf(file).catch(() => [])).toEqual(dies === 'done' ? [`${dead}`] : []);
    },
  );

  test('is refused with other arguments, also of another call, and is the same with its arguments in another order', async () => {
    const requests = new Requests(state, systemClock);
    const act = async () => 'first';
    const asked = { tool: 't', path: '/a', env: { a: '1', b: '2' } };
    expect(await requests.once('id', asked, shapes, act)).toBe('first');
    const again = { env: { b: '2', a: '1' }, path: '/a', tool: 't' };
    expect(await requests.once('id', again, shapes, async () => 'second')).toBe('first');
    for (const other of [
      { ...asked, path: '/b' },
      { ...asked, env: { a: '2', b: '1' } },
    ])
      expect(await refusal(requests.once('id', other, shapes, act))).toMatch(
        /^INVALID_ARGUMENTS: This request_id was used for a call with other arguments before/,
      );
    const numbers = { outcome: z.number(), note: z.number() };
    expect(await refusal(requests.once('id', { tool: 'u' }, numbers, async () => 1))).toMatch(
      /^INVALID_ARGUMENTS/,
    );
    expect(await requests.once('id', asked, shapes, act)).toBe('first');
  });

  test('that was refused is a first one again; after a fault of the disk it is known what was noted', async () => {
    const requests = new Requests(state, systemClock);
    const seen: (string | undefined)[] = [];
    const ending = (code: ConstructorParameters<typeof BridgeError>[0]) =>
      refusal(
        requests.once('id', {}, shapes, async (note, noted) => {
          seen.push(noted);
          await note('begun');
          throw new BridgeError(code, 'It ended so.', '');
        }),
      );
    for (const code of ['PATH_NOT_FOUND', 'STATE_UNUSABLE', 'OUTCOME_UNKNOWN', 'PATH_NOT_FOUND'] as const)
      expect(await ending(code)).toMatch(code);
    expect(seen).toEqual([undefined, undefined, 'begun', 'begun']);
    expect(await requests.once('id', {}, shapes, async (_, noted) => `${noted}`)).toBe('undefined');
  });

  test('lies in the state directory for its user alone, by the hash of its id; without an id nothing does', async () => {
    const requests = new Requests(state, systemClock);
    await requests.once(undefined, {}, shapes, async () => 'done');
    await expect(stat(join(state, 'requests'))).rejects.toThrow('ENOENT');
    await requests.once('secret/../id', {}, shapes, async () => 'done');
    const folder = join(state, 'requests', requestKey('secret/../id'));
    expect(await readdir(join(state, 'requests'))).toEqual([requestKey('secret/../id')]);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'request.json'))).mode & 0o777).toBe(0o600);
  });

  test('is forgotten after a week, and when 2,000 newer ones are there', async () => {
    await new Requests(state, systemClock).once('old', {}, shapes, async () => 'done');
    await new Requests(state, systemClock).once('oldest of too many', {}, shapes, async () => 'done');
    const used = (id: string, days: number) => {
      const at = new Date(Date.now() - days * DAY_MS);
      return utimes(join(state, 'requests', requestKey(id)), at, at);
    };
    await used('old', 8);
    await new Requests(state, systemClock).once('new', {}, shapes, async () => 'done');
    const names = () => readdir(join(state, 'requests'));
    expect((await names()).sort()).toEqual(['new', 'oldest of too many'].map(requestKey).sort());
    await used('oldest of too many', 6);
    for (let count = 0; count < 1_999; count++) await mkdir(join(state, 'requests', requestKey(`${count}`)));
    await new Requests(state, systemClock).once('newest', {}, shapes, async () => 'done');
    expect(await names()).not.toContain(requestKey('oldest of too many'));
    expect(await names()).toContain(requestKey('new'));
    expect(await names()).toHaveLength(2_001);
  });
});
