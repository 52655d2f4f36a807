import { expect, test, vi } from 'vitest';
import { lazily } from '../../src/base/lazily.js';

test('the value is made once, by the first who asks', async () => {
  const make = vi.fn(async () => ({}));
  const value = lazily(make);
  expect(make).not.toHaveBeenCalled();
  const [first, second] = await Promise.all([value(), value()]);
  expect(first).toBe(second);
  expect(make).toHaveBeenCalledTimes(1);
});

test('what making it throws the caller gets, and the next one tries again', async () => {
  let broken = true;
  const value = lazily(async () => {
    if (broken) throw new Error('the disk is full');
    return 'made';
  });
  await expect(value()).rejects.toThrow('the disk is full');
  broken = false;
  expect(await value()).toBe('made');
});
