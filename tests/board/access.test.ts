import { expect, test } from 'vitest';
import { Access } from '../../src/board/access.js';
import { ManualClock } from '../harness/manual-clock.js';

const MINUTE_MS = 60_000;

test('a code gives the token once', () => {
  const access = new Access(new ManualClock());
  const code = access.createCode();
  const token = access.exchange(code);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(access.isToken(token ?? '')).toBe(true);
  expect(access.exchange(code)).toBeUndefined();
});

test('a code is worth nothing after a minute', () => {
  const clock = new ManualClock();
  const access = new Access(clock);
  const code = access.createCode();
  clock.advance(MINUTE_MS + 1);
  expect(access.exchange(code)).toBeUndefined();
});

test('another board has another token', () => {
  const [one, other] = [new Access(new ManualClock()), new Access(new ManualClock())];
  const token = one.exchange(one.createCode()) ?? '';
  expect(other.isToken(token)).toBe(false);
});

test('of many codes that nobody used the newest are good', () => {
  const access = new Access(new ManualClock());
  const codes = Array.from({ length: 30 }, () => access.createCode());
  expect(access.exchange(codes[0] ?? '')).toBeUndefined();
  expect(access.exchange(codes[29] ?? '')).toBeDefined();
});

test('any number of wrong codes and tokens closes no board for who is right', () => {
  const access = new Access(new ManualClock());
  for (let tries = 0; tries < 30; tries++) {
    expect(access.isToken(`a guess ${tries}`)).toBe(false);
    expect(access.exchange(`a guess ${tries}`)).toBeUndefined();
  }
  expect(access.isToken(access.exchange(access.createCode()) ?? '')).toBe(true);
});
