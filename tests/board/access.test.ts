import { chmod, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { Access, linkCode } from '../../src/board/access.js';
import { throughDoor } from '../../src/board/door.js';
import { ManualClock } from '../harness/manual-clock.js';
import { tempFolder } from '../harness/temp-folder.js';

const MINUTE_MS = 60_000;

test('a code gives the token once', () => {
  const clock = new ManualClock();
  const access = new Access(clock, 'token');
  const code = linkCode('token', clock.now());
  expect(access.exchange(code)).toBe('token');
  expect(access.isToken('token')).toBe(true);
  expect(access.exchange(code)).toBeUndefined();
  expect(access.exchange(linkCode('token', clock.now()))).toBe('token');
});

test('a code is worth nothing after a minute, also one that was used', () => {
  const clock = new ManualClock();
  const access = new Access(clock, 'token');
  const [code, used] = [linkCode('token', clock.now()), linkCode('token', clock.now())];
  access.exchange(used);
  clock.advance(MINUTE_MS + 1);
  for (const one of [code, used]) expect(access.exchange(one)).toBeUndefined();
});

test('a code that was signed with another token, changed, or made for a later time is none', () => {
  const clock = new ManualClock();
  const access = new Access(clock, 'token');
  const code = linkCode('token', clock.now());
  const later = `${Number(code.slice(0, 13)) + 1}`.padStart(13, '0') + code.slice(13);
  const proof = access.proof(code.slice(0, 29), 1);
  for (const wrong of [
    linkCode('other', clock.now()),
    later,
    linkCode('token', clock.now() + MINUTE_MS),
    code.slice(0, 29),
    `${code.slice(0, 29)}${proof.slice(0, 43)}`,
    `${code}x`,
    '',
  ])
    expect(access.exchange(wrong), wrong).toBeUndefined();
  expect(access.exchange(code)).toBe('token');
});

describe('the door of the board', () => {
  const FIRST = { port: 0, isNew: false, nowMs: 0 };
  let file: string;

  beforeEach(async () => {
    const folder = await tempFolder();
    file = join(folder, 'door.key');
  });

  async function tokenAt(changes: Partial<typeof FIRST> = {}): Promise<string> {
    const { token } = await throughDoor({ file, ...FIRST, ...changes }, async (port, token) => ({
      port: port === 0 ? 7_000 : port,
      token,
    }));
    return token;
  }

  test('is for its user alone, and the next board has its token and its port', async () => {
    const token = await tokenAt();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const next = await throughDoor({ file, ...FIRST }, async (port, token) => ({ port, token }));
    expect(next).toEqual({ port: 7_000, token });
  });

  test('has another token after 30 days, when a person asks for it, and when others could read it or it is damaged', async () => {
    const tokens = [await tokenAt(), await tokenAt({ nowMs: 30 * 24 * 3_600_000 - 1 })];
    expect(new Set(tokens).size).toBe(1);
    tokens.push(await tokenAt({ nowMs: 30 * 24 * 3_600_000 }), await tokenAt({ isNew: true }));
    await chmod(file, 0o640);
    tokens.push(await tokenAt());
    await writeFile(file, '{"token":');
    tokens.push(await tokenAt());
    await rm(file);
    await symlink('/dev/null', file);
    tokens.push(await tokenAt());
    expect(new Set(tokens).size).toBe(6);
  });

  test('has another port, and another token, where a program has taken its port', async () => {
    const before = await tokenAt();
    const taken = Object.assign(new Error('taken'), { code: 'EADDRINUSE' });
    const next = await throughDoor({ file, ...FIRST }, async (port, token) => {
      if (port === 7_000) throw taken;
      return { port: 7_001, token };
    });
    expect(next.port).toBe(7_001);
    expect(next.token).not.toBe(before);
    await expect(throughDoor({ file, ...FIRST, port: 7_000 }, () => Promise.reject(taken))).rejects.toBe(
      taken,
    );
  });
});
