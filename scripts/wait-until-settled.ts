import type { Clock } from '../src/base/clock.js';
import type { Event } from '../src/base/event.js';
import { DisposableStore, toDisposable, type Disposable } from '../src/base/lifecycle.js';
import type { Snapshot } from '../src/screen/snapshot.js';

export type SettleOutcome = 'settled' | 'limit' | 'aborted';

export interface SettleOptions {
  readonly screen: { readonly onFrame: Event<void>; snapshot(): Snapshot };
  readonly clock: Clock;
  /** The screen counts as settled when its text and cursor did not change for so long. */
  readonly quietMs: number;
  /** The wait ends after this, settled or not. */
  readonly limitMs: number;
  readonly signal?: AbortSignal;
}

/** Waits until the screen has stopped changing. Redraws that show the same are no change. Never rejects. */
export function waitUntilSettled(options: SettleOptions): Promise<SettleOutcome> {
  const { screen, clock, quietMs, limitMs, signal } = options;
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve('aborted');
    const owned = new DisposableStore();
    let quiet: Disposable | undefined;
    let shown = fingerprint(screen.snapshot());
    const finish = (outcome: SettleOutcome) => {
      quiet?.dispose();
      owned.dispose();
      resolve(outcome);
    };
    const restart = () => {
      quiet?.dispose();
      quiet = clock.after(quietMs, () => finish('settled'));
    };
    owned.add(
      screen.onFrame(() => {
        const now = fingerprint(screen.snapshot());
        if (now === shown) return;
        shown = now;
        restart();
      }),
    );
    owned.add(clock.after(limitMs, () => finish('limit')));
    if (signal) {
      const abort = () => finish('aborted');
      signal.addEventListener('abort', abort, { once: true });
      owned.add(toDisposable(() => signal.removeEventListener('abort', abort)));
    }
    restart();
  });
}

function fingerprint(snapshot: Snapshot): string {
  return `${snapshot.cursor.row};${snapshot.cursor.column};${snapshot.text()}`;
}
