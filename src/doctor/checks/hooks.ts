import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { systemCodeOf } from '../../base/errors.js';
import { readSettingsFile } from '../../base/files/json-file.js';
import { shellWord } from '../../base/text/shell-word.js';
import { claudeConfigDir } from '../../claude/transcript-files.js';
import { ownHooks } from '../../claude/own-hooks.js';
import { ok, type Check, type Finding } from '../check.js';
import type { DoctorContext } from '../context.js';

const settingsSchema = z.looseObject({
  disableAllHooks: z.boolean().optional(),
  allowManagedHooksOnly: z.boolean().optional(),
  allowedHttpHookUrls: z.array(z.string()).optional(),
  httpHookAllowedEnvVars: z.array(z.string()).optional(),
});
type Settings = z.infer<typeof settingsSchema>;

const LOOPBACK = /127\.0\.0\.1|^\*$|^http:\/\/\*/;
const UNSEEN =
  'not checked: policies that an organisation sends from its server or, on macOS, by device management';
const ENDED = 'a task in a terminal is then ended at its first prompt';

/** Whether Claude Code runs the hooks by which the bridge follows a session. */
export const hooks: Check = {
  id: 'hooks',
  category: 'claude',
  look: async (context) => {
    const own = join(claudeConfigDir(context.env) ?? join(context.homeDir, '.claude'), 'settings.json');
    const managed = await managedFiles(context);
    for (const file of [...managed, own]) {
      const read = await readSettingsFile(file, settingsSchema);
      if (read.state === 'missing') continue;
      if (read.state === 'corrupt') return broken(file, read.why, context);
      const isManaged = managed.includes(file);
      const fault = faultIn(read.value, isManaged);
      if (fault !== undefined) return disabled(file, fault, isManaged, context);
    }
    return ok('Claude Code runs the hooks of the bridge', [
      ...managed.map((file) => `${file} is a policy of this machine`),
      ...(await ownHooks(dirname(own))).map((hook) => `yours, in tasks of every mode: ${hook}`),
      UNSEEN,
    ]);
  },
};

interface HookFault {
  readonly name: string;
  readonly words: string;
}

/** A task has hooks although its user has switched them off: its own settings are stronger. */
function faultIn(settings: Settings, isManaged: boolean): HookFault | undefined {
  if (isManaged && settings.disableAllHooks === true)
    return { name: 'disableAllHooks', words: 'switches all hooks off' };
  if (settings.allowManagedHooksOnly === true)
    return { name: 'allowManagedHooksOnly', words: 'allows only the hooks of an administrator' };
  if (settings.allowedHttpHookUrls?.every((url) => !LOOPBACK.test(url)) === true)
    return { name: 'allowedHttpHookUrls', words: 'does not allow hooks to http://127.0.0.1' };
  return undefined;
}

function disabled(
  file: string,
  { name, words }: HookFault,
  isManaged: boolean,
  { homeDir }: DoctorContext,
): Finding {
  const path = shellWord(file, homeDir);
  return {
    status: 'warning',
    summary: `${file} ${words} (${name}); ${ENDED}`,
    remedy: {
      words: isManaged
        ? `It is a policy of this machine: ask its administrator to allow hooks to http://127.0.0.1, or use driver "print" for tasks.`
        : 'Allow hooks again in that file.',
      command: `${isManaged ? 'sudo ' : ''}\${EDITOR:-vi} ${path}`,
    },
  };
}

function broken(file: string, why: string, { homeDir }: DoctorContext): Finding {
  return {
    status: 'warning',
    summary: `Claude Code cannot use its settings in ${file}: ${why}`,
    remedy: { words: 'Correct the file.', command: `\${EDITOR:-vi} ${shellWord(file, homeDir)}` },
  };
}

async function managedFiles({ managedSettings }: DoctorContext): Promise<string[]> {
  const files: string[] = [];
  for (const path of managedSettings) {
    if (path.endsWith('.json')) {
      if ((await readSettingsFile(path, settingsSchema)).state !== 'missing') files.push(path);
      continue;
    }
    const names = await readdir(path).catch((error: unknown) => {
      if (systemCodeOf(error) === undefined) throw error;
      return [];
    });
    files.push(
      ...names
        .filter((name) => name.endsWith('.json'))
        .sort()
        .map((name) => join(path, name)),
    );
  }
  return files;
}
