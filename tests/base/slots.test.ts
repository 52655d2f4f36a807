import { expect, it } from 'vitest';
import { Slots } from '../../src/base/lifecycle.js';

it('callers get slots in the order of their requests, and a cancelled request takes none', async () => {
  const never = new AbortController().signal;
  const slots = new Slots(1);
  const first = await slots.take(never);
  const cancel = new AbortController();
  const begun: string[] = [];
  const cancelled = slots.take(cancel.signal).then(() => begun.push('cancelled'));
  const next = slots.take(never).then((slot) => {
    begun.push('next');
    return slot;
  });
  const last = slots.take(never).then(() => begun.push('last'));
  cancel.abort(new Error('enough'));
  await expect(cancelled).rejects.toThrow('enough');
  first.dispose();
  (await next).dispose();
  await last;
  expect(begun).toEqual(['next', 'last']);
  await expect(slots.take(AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
});
