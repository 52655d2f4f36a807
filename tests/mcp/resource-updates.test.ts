import { expect, test } from 'vitest';
import type { Clock } from '../../src/base/clock.js';
import { toDisposable } from '../../src/base/lifecycle.js';
import type { Resource } from '../../src/mcp/resource.js';
import { ResourceUpdates } from '../../src/mcp/resource-updates.js';

/** Time that passes when told to. */
class SteppedClock implements Clock {
  #nowMs = 0;
  readonly #timers = new Set<{ readonly dueMs: number; readonly callback: () => void }>();

  now = (): number => this.#nowMs;
  monotonicMs = (): number => this.#nowMs;

  after(delayMs: number, callback: () => void) {
    const timer = { dueMs: this.#nowMs + delayMs, callback };
    this.#timers.add(timer);
    return toDisposable(() => this.#timers.delete(timer));
  }

  get armed(): number {
    return this.#timers.size;
  }

  pass(ms: number): void {
    this.#nowMs += ms;
    for (const timer of [...this.#timers])
      if (timer.dueMs <= this.#nowMs && this.#timers.delete(timer)) timer.callback();
  }
}

function following() {
  const changes = new Map<string, () => void>();
  const resource: Resource<object> = {
    name: 'things',
    title: 'Things',
    description: 'things',
    mimeType: 'text/plain',
    uri: 'thing://{id}',
    read: async () => '',
    watch: (variable, _services, changed) => {
      changes.set(variable, changed);
      return toDisposable(() => changes.delete(variable));
    },
  };
  const clock = new SteppedClock();
  const sent: string[] = [];
  const updates = new ResourceUpdates([resource], {}, clock, (uri) => sent.push(uri));
  return { changes, clock, sent, updates };
}

test('the first change is told at once, those right after it once more', () => {
  const { changes, clock, sent, updates } = following();
  updates.subscribe('a', 'thing://1');
  for (let index = 0; index < 100; index++) changes.get('1')?.();
  expect(sent).toEqual(['thing://1']);
  clock.pass(250);
  expect(sent).toEqual(['thing://1', 'thing://1']);
  clock.pass(250);
  clock.pass(250);
  expect(sent).toHaveLength(2);
  changes.get('1')?.();
  expect(sent).toHaveLength(3);
});

test('what two follow is watched once, until both have left', () => {
  const { changes, updates } = following();
  expect(updates.subscribe('a', 'thing://1')).toBe('following');
  expect(updates.subscribe('b', 'thing://1')).toBe('following');
  updates.subscribe('b', 'thing://2');
  updates.unsubscribe('a', 'thing://1');
  expect([...changes.keys()]).toEqual(['1', '2']);
  updates.unsubscribe('b');
  expect([...changes.keys()]).toEqual([]);
});

test('a URI that is nothing here is not followed, and there is an end to how many are', () => {
  const { updates } = following();
  expect(updates.subscribe('a', 'nope://1')).toBe('unknown');
  for (let index = 0; index < 256; index++)
    expect(updates.subscribe('a', `thing://${index}`)).toBe('following');
  expect(updates.subscribe('a', 'thing://more')).toBe('too-many');
});

test('disposing ends every watch and every timer', () => {
  const { changes, clock, sent, updates } = following();
  updates.subscribe('a', 'thing://1');
  const changed = changes.get('1');
  changed?.();
  updates.dispose();
  changed?.();
  expect([changes.size, clock.armed, sent.length]).toEqual([0, 0, 1]);
});
