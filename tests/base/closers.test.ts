import { expect, it } from 'vitest';
import { Closers } from '../../src/base/closers.js';

it('closes in reverse order, each once, and goes on when one fails to close', async () => {
  const closed: string[] = [];
  const logged: unknown[] = [];
  const closers = new Closers({
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (_message, facts) => logged.push(facts),
  });
  closers.add('first', () => closed.push('first'));
  closers.add('second', () => Promise.reject(new Error('no')));
  closers.owns('third', { dispose: () => closed.push('third') });
  await closers.close();
  await closers.close();
  expect(closed).toEqual(['third', 'first']);
  expect(logged).toEqual([{ what: 'second', error: 'no' }]);
});
