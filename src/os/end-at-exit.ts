import type { ChildProcess } from 'node:child_process';
import { toDisposable, type Disposable } from '../base/lifecycle.js';
import { signalGroupOf } from './send-signals.js';

const running = new Map<ChildProcess, NodeJS.Signals>();

/** Sends `name` to the group of `child`, its leader, when this process exits before that is disposed. */
export function endAtExit(child: ChildProcess, name: NodeJS.Signals): Disposable {
  if (running.size === 0) process.on('exit', endAll);
  running.set(child, name);
  return toDisposable(() => {
    running.delete(child);
    if (running.size === 0) process.off('exit', endAll);
  });
}

function endAll(): void {
  for (const [child, name] of running) signalGroupOf(child, name);
}
