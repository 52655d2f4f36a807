import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { filesBelow } from './files-below.js';
import type { Place } from './place.js';

/** What programs other than the bridge write for themselves: Claude Code, npm, and the person in the project. */
const OF_OTHERS: readonly RegExp[] = [
  /^Projects\//,
  // Folders of every program, left empty.
  /^\.(?:config|local\/state)$/,
  /^\.claude(?:\/|\.json(?:\.backup.*)?$)/,
  /^\.local\/(?:bin\/claude|share\/applications\/claude-code-url-handler\.desktop)$/,
  /^\.local\/(?:share|state)\/claude\//,
  /^\.config\/mimeapps\.list/,
  /^\.cache\/(?:claude|node)/,
  /^\.npm\//,
  /^\.npm-global\/(?:lib(?:\/node_modules)?|bin)?$/,
];
const TEMPORARY_OF_OTHERS = /^(?:claude|cc-socks|node-compile-cache|npm)/;
/** In settings of others, an entry of ours would name us so. */
const NAMES = /claude-code-bridge|code-bridge@/;
const SETTINGS = [
  '.claude.json',
  '.claude/settings.json',
  '.claude/plugins/installed_plugins.json',
  '.claude/plugins/known_marketplaces.json',
];

/** Claude Code remembers how often a plugin was used, and that it was uninstalled (2.1.332). */
function withoutMemory(text: string): string {
  if (text === '') return '';
  const {
    pluginUsage: _used,
    declinedPlugins: _declined,
    ...rest
  } = z.looseObject({}).parse(JSON.parse(text));
  return JSON.stringify(rest);
}

/** What is left of the bridge in the home folder and among the temporary files, as sentences; none when only the person's own is left. */
export async function leftovers(place: Place): Promise<string[]> {
  const files = (await filesBelow(place.homeDir)).filter((path) => !OF_OTHERS.some((one) => one.test(path)));
  const temporary = (await filesBelow(place.tempDir)).filter(
    (path) => !TEMPORARY_OF_OTHERS.test(path) && !place.visible.includes(`/tmp/${path}`),
  );
  const named = await Promise.all(
    SETTINGS.map(async (path) => {
      const text = await readFile(join(place.homeDir, path), 'utf8').catch(() => '');
      return NAMES.test(withoutMemory(text)) ? [`${path} still names the bridge.`] : [];
    }),
  );
  return [
    ...files.map((path) => `~/${path} is left.`),
    ...temporary.map((path) => `/tmp/${path} is left.`),
    ...named.flat(),
  ];
}
