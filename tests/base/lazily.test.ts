import { expect, test, vi } from 'vitest';
import { lazily } from '../../src/base/lazily.js';

test('makes the value once, on the first call', async () => {
  const make = vi.fn(async () => ({}));
  const value = lazily(make);
  expect(make).not.toHaveBeenCalled();
  const [first, second] = await Promise.all([value(), value()]);
  expect(first).toBe(second);
  expect(make).toHaveBeenCalledTimes(1);
});

test('passes an error to the caller, and tries again on the next call', async () => {
  let broken = true;
  const value = lazily(async () => {
    if (broken) throw new Error('the disk is full');
    return 'made';
  });
  await expect(value()).rejects.toThrow('the disk is full');
  broken = false;
  expect(await value()).toBe('made');
});
