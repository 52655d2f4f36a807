import { join } from 'node:path';
import type { ClientPlace } from '../../clients/chat-client.js';
import { isThere } from '../../clients/is-there.js';
import { defaultSettingsPath } from '../../config/settings-file.js';
import { stateDirectory } from '../../config/state-directory.js';
import { shellWord } from '../../base/text/shell-word.js';
import type { InitIo } from './init-io.js';

/** After the entries are gone: the settings and the records of tasks are the person's; they are named, and so is how to remove them. */
export async function sayWhatIsLeft(io: InitIo, { env, homeDir }: ClientPlace): Promise<void> {
  const settings = defaultSettingsPath(homeDir);
  const folders = [
    join(settings, '..'),
    stateDirectory({ state_dir: null }, { env, homeDir }),
    join(homeDir, '.cache', 'claude-code-bridge'),
  ];
  const left: string[] = [];
  for (const folder of folders) if (await isThere(folder)) left.push(folder);
  if (left.length === 0) return;
  io.write(
    `Left: your settings, and the logs and records of your tasks. To remove them too, once no task runs:\nrm -r ${left.map((folder) => shellWord(folder, homeDir)).join(' ')}`,
  );
}
