import { existsSync } from 'node:fs';
import { runProgram } from '../../os/run-program.js';
import type { Notice } from './task-notices.js';

const LIMIT_MS = 5_000;
const APP = 'Claude Code Bridge';
/** The words are arguments, so that no text becomes a part of the script. */
const MAC_SCRIPT = `on run argv
display notification (item 2 of argv) with title (item 1 of argv)
end run`;

export interface DesktopOptions {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string>>;
  /** Of this user; undefined where the system has none. */
  readonly uid: number | undefined;
}

/** Shows a notice on the person's desktop: `notify-send`, on macOS `osascript`. Rejects with what is missing, or what the program said. */
export async function showDesktopNotice(
  { title, words }: Pick<Notice, 'title' | 'words'>,
  options: DesktopOptions,
  signal: AbortSignal,
): Promise<void> {
  const [program, ...args] =
    options.platform === 'darwin'
      ? ['osascript', '-e', MAC_SCRIPT, title, words]
      : ['notify-send', `--app-name=${APP}`, '--', withoutMarkup(title), withoutMarkup(words)];
  const end = await runProgram(
    { program, args, cwd: '/', env: withSession(options), signal, timeLimitMs: LIMIT_MS },
    () => undefined,
  );
  if (end.how === 'missing') throw new Error(`there is no program ${program}`);
  if (end.how === 'exited' && end.code === 0) return;
  const said = end.how === 'exited' || end.how === 'killed' ? end.stderr.trim() : 'it took too long';
  throw new Error(`${program} failed${said === '' ? '' : `: ${said}`}`);
}

/** Desktops read a part of HTML in the text of a notice. */
function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A server that a client started may not know the bus of the person's session, which lies in a fixed place. */
function withSession({ env, uid, platform }: DesktopOptions): Readonly<Record<string, string>> {
  const bus = `/run/user/${uid}/bus`;
  if (platform === 'darwin' || env['DBUS_SESSION_BUS_ADDRESS'] !== undefined || !existsSync(bus)) return env;
  return { ...env, DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}` };
}
