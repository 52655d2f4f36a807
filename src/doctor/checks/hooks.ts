import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ignoreSystemError } from '../../base/errors.js';
import { readSettingsFile } from '../../base/files/json-file.js';
import { ownHooks } from '../../claude/own-settings.js';
import { claudeConfigDir } from '../../claude/transcripts.js';
import { editCommand, ok, warning, type Check } from '../check.js';

const settingsSchema = z.looseObject({
  disableAllHooks: z.boolean().optional(),
  allowManagedHooksOnly: z.boolean().optional(),
  allowedHttpHookUrls: z.array(z.string()).optional(),
});
type Settings = z.infer<typeof settingsSchema>;

const LOOPBACK = /127\.0\.0\.1|^\*$|^http:\/\/\*/;
const UNSEEN =
  'not checked, since Claude Code alone sees them: policies that an organisation sends from its server or, on macOS, by device management';

/** Whether Claude Code runs the hooks by which the bridge follows a session. */
export const hooks: Check = {
  id: 'hooks',
  category: 'claude',
  look: async ({ env, homeDir, managedSettings }) => {
    const own = join(claudeConfigDir(env) ?? join(homeDir, '.claude'), 'settings.json');
    const managed = (await Promise.all(managedSettings.map(filesAt))).flat();
    const details: string[] = [];
    for (const file of [...managed, own]) {
      const read = await readSettingsFile(file, settingsSchema);
      if (read.state === 'missing') continue;
      const edit = editCommand(file, homeDir);
      if (read.state === 'corrupt') {
        const summary = `Claude Code cannot use its settings in ${file}: ${read.why}`;
        return warning(summary, 'Correct the file.', edit);
      }
      const isManaged = file !== own;
      if (isManaged) details.push(`${file} is a policy of this machine`);
      const fault = faultIn(read.value, isManaged);
      if (fault === undefined) continue;
      return warning(
        `${file} ${fault}; a task in a terminal is then ended at its first prompt`,
        isManaged
          ? 'It is a policy of this machine: ask its administrator to allow hooks to http://127.0.0.1, or use driver "print" for tasks.'
          : 'Allow hooks again in that file.',
        isManaged ? `sudo ${edit}` : edit,
      );
    }
    const yours = await ownHooks(dirname(own));
    details.push(...yours.map((hook) => `yours, in tasks of every mode: ${hook}`), UNSEEN);
    return ok('Claude Code runs the hooks of the bridge', details);
  },
};

/** A task has hooks although its user has switched them off: its own settings are stronger. */
function faultIn(settings: Settings, isManaged: boolean): string | undefined {
  if (isManaged && settings.disableAllHooks === true) return 'switches all hooks off (disableAllHooks)';
  if (settings.allowManagedHooksOnly === true)
    return 'allows only the hooks of an administrator (allowManagedHooksOnly)';
  if (settings.allowedHttpHookUrls?.every((url) => !LOOPBACK.test(url)) === true)
    return 'does not allow hooks to http://127.0.0.1 (allowedHttpHookUrls)';
  return undefined;
}

/** A file of an administrator, or the files in a folder of such files. */
async function filesAt(path: string): Promise<string[]> {
  if (path.endsWith('.json')) return [path];
  const names = (await readdir(path).catch(ignoreSystemError)) ?? [];
  const found = names.filter((name) => name.endsWith('.json')).toSorted();
  return found.map((name) => join(path, name));
}
