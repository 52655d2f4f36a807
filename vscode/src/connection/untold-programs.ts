// Pure.
import type { Clock } from '../../../src/base/clock.js';

/** Of programs that are named; more of them would be a flood. */
const MAX_TOLD = 5;
/** A button that is pressed sooner was not read. */
const INERT_MS = 500;
const ALLOW = 'Allow Clients without a Token';
const SHOW_LOG = 'Show the Log';

export interface UntoldOptions {
  /** Shows a message; resolves with the button that was pressed, or undefined when it was closed. */
  readonly ask: (message: string, ...buttons: readonly string[]) => Promise<string | undefined>;
  /** Changes the person's own settings. */
  readonly allow: () => Promise<void>;
  readonly showLog: () => void;
  readonly clock: Clock;
}

/** What tells a person once of each program that was refused because it showed no token; resolves when the message is gone. */
export function untoldPrograms({
  ask,
  allow,
  showLog,
  clock,
}: UntoldOptions): (name: string) => Promise<void> {
  const told = new Set<string>();
  const askAbout = async (name: string): Promise<void> => {
    const shownMs = clock.monotonicMs();
    const words = `The program "${name}" wants to use terminals of this window, and showed no token. Without a token every program and every user of this machine could type into them.`;
    const pressed = await ask(words, ALLOW, SHOW_LOG);
    if (pressed === SHOW_LOG) showLog();
    if (pressed !== ALLOW) return;
    if (clock.monotonicMs() - shownMs < INERT_MS) return askAbout(name);
    await allow();
  };
  return async (name) => {
    if (told.has(name) || told.size >= MAX_TOLD) return;
    told.add(name);
    await askAbout(name);
  };
}
