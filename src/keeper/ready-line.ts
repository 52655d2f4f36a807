import type { ChildProcess } from 'node:child_process';
import { messageOf } from '../base/errors.js';

/**
 * A keeper starts in 100 to 150 ms; one of many on a busy machine, or one that makes a container first, takes longer. The call that
 * waits for it must answer within 45 s.
 */
export const READY_LIMIT_MS = 40_000;

export type ReadyLine =
  { readonly kind: 'said'; readonly text: string } | { readonly kind: 'failed'; readonly why: string };

/**
 * What a keeper that was just started says on its descriptor 3 (`stdio[3]` is a pipe) before it closes that, or why it says
 * nothing; empty when it ended. One that says more than `maxBytes`, or nothing in `limitMs`, is killed. This process may end
 * without it.
 */
export function readyLine(
  child: ChildProcess,
  maxBytes: number,
  limitMs = READY_LIMIT_MS,
): Promise<ReadyLine> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      resolve({ kind: 'failed', why: `it was not ready within ${limitMs / 1000} s` });
    }, limitMs);
    child.on('error', (fault) => {
      clearTimeout(timer);
      resolve({ kind: 'failed', why: messageOf(fault) });
    });
    let text = '';
    const pipe = child.stdio[3];
    pipe?.on('data', (chunk: unknown) => {
      text += String(chunk);
      if (text.length > maxBytes) child.kill('SIGKILL');
    });
    pipe?.on('close', () => {
      clearTimeout(timer);
      child.unref();
      resolve({ kind: 'said', text });
    });
  });
}
