import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ClientPlace } from '../../clients/chat-client.js';
import { chatClients } from '../../clients/chat-clients.js';
import { backupOf } from '../../clients/client-settings.js';
import { isThere } from '../../clients/find-clients.js';
import { defaultSettingsPath } from '../../config/settings-file.js';
import { stateDirectory } from '../../config/state-directory.js';
import { shellWord } from '../../base/text/shell-word.js';
import { usualRuntimeDirs } from '../../store/runtime-dir.js';
import type { InitIo } from './init-io.js';

/** After the entries are gone: the settings and the records of tasks are the person's; they are named, and so is how to remove them. */
export async function sayWhatIsLeft(io: InitIo, place: ClientPlace): Promise<void> {
  const { env, homeDir } = place;
  const uid = process.getuid?.();
  const candidates = [
    dirname(defaultSettingsPath(homeDir)),
    stateDirectory({ state_dir: null }, { env, homeDir }),
    join(homeDir, '.cache', 'claude-code-bridge'),
    ...(uid === undefined
      ? []
      : usualRuntimeDirs({ xdgRuntimeDir: env['XDG_RUNTIME_DIR'], tmpDir: env['TMPDIR'] ?? tmpdir(), uid })),
    ...chatClients.flatMap((client) => client.settingsFiles(place)).map(backupOf),
  ];
  const left: string[] = [];
  for (const path of candidates) if (await isThere(path)) left.push(path);
  if (left.length === 0) return;
  io.write('The logs of tasks in .claude/mcp-logs of your projects stay.');
  io.write(
    `What is left of the bridge is yours: settings, logs and records of tasks, copies of older settings. To remove it, once no task runs:\nrm -r ${left.map((path) => shellWord(path, homeDir)).join(' ')}`,
  );
}
