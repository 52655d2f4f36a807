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

test('ten wrong guesses close the board, also for who is right then', () => {
  const access = new Access(new ManualClock());
  const token = access.exchange(access.createCode()) ?? '';
  let locks = 0;
  access.onLocked(() => locks++);
  for (let guess = 0; guess < 5; guess++) {
    expect(access.isToken(`${token.slice(1)}${guess}`)).toBe(false);
    expect(access.exchange(`guess-${guess}`)).toBeUndefined();
  }
  expect(locks).toBe(1);
  expect(access.isToken(token)).toBe(false);
  expect(access.exchange(access.createCode())).toBeUndefined();
});

test('of many codes that nobody used the newest are good', () => {
  const access = new Access(new ManualClock());
  const codes = Array.from({ length: 30 }, () => access.createCode());
  expect(access.exchange(codes[0] ?? '')).toBeUndefined();
  expect(access.exchange(codes[29] ?? '')).toBeDefined();
});

test('a tab of a board before, which tries its token again and again, closes no board', () => {
  const access = new Access(new ManualClock());
  for (let tries = 0; tries < 30; tries++) expect(access.isToken('the token of a board before')).toBe(false);
  expect(access.isToken(access.exchange(access.createCode()) ?? '')).toBe(true);
});
