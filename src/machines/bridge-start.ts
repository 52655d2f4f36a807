// Pure: the shell text that starts the bridge on another machine.
import { shellWord } from '../base/text.js';

/** What `claude-code-bridge machines add` writes there, below the home folder: a program that runs the bridge. */
export const LAUNCHER = '.local/share/claude-code-bridge/bridge';

/** What a wire runs: `prepare` before the far program owns stdin, and `start`, which becomes the far program. */
export interface WireScript {
  readonly prepare: string;
  readonly start: string;
}

/** Shell text: `find` finds the bridge there, and `run` is the beginning of a command of it. */
export interface BridgeProgram {
  readonly find: string;
  readonly run: string;
}

/** The bridge of a machine: `bridge`, the setting, else what `machines add` installed, else what is on PATH. */
export function bridgeProgram(machine: string, bridge: readonly string[] | undefined): BridgeProgram {
  // A shell that no person logs in to has no language, and programs then take text for ASCII.
  const language = '[ -n "$LC_ALL$LC_CTYPE$LANG" ] || { LANG=C.UTF-8; export LANG; }';
  if (bridge !== undefined)
    return { find: language, run: bridge.map((word) => shellWord(word, '/')).join(' ') };
  const missing = `The bridge is not installed there: claude-code-bridge machines add ${machine} installs it.`;
  const find = [
    language,
    `bridge="$HOME/${LAUNCHER}"`,
    `[ -x "$bridge" ] || bridge=$(command -v claude-code-bridge) || { echo '${missing}' >&2; exit 127; }`,
  ];
  return { find: find.join('\n'), run: '"$bridge"' };
}

/** Starts the far end of a line. `passes`: the names of variables that tasks there get. */
export function bridgeStart(
  machine: string,
  bridge: readonly string[] | undefined,
  passes: readonly string[] = [],
): WireScript {
  const { find, run } = bridgeProgram(machine, bridge);
  const pass = passes.length === 0 ? '' : ` --pass ${shellWord(passes.join(','), '/')}`;
  return { prepare: find, start: `exec ${run} serve --link${pass}` };
}
