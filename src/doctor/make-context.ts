import { BridgeError } from '../base/errors.js';
import { createSecret } from '../base/ids.js';
import { lazily } from '../base/lifecycle.js';
import { findInstallation } from '../claude/installation.js';
import { commandWords } from '../config/command-words.js';
import { loadConfig } from '../config/load-config.js';
import { defaultSettingsPath, stateDirectory } from '../config/places.js';
import { configSchema } from '../config/schema.js';
import { childEnvironment } from '../pty/child-env.js';
import type { DoctorContext, DoctorParts, DoctorPlace, DoctorSettings } from './check.js';
import { runQuick } from './run-quick.js';

/** The context of one run: what several checks need is read once. */
export function makeContext(place: DoctorPlace, parts: DoctorParts): DoctorContext {
  const { env, homeDir, signal } = place;
  const settings = lazily(() => readSettings(place));
  const taskEnvironment = lazily(async () => {
    const { config } = await settings();
    return childEnvironment(env, { mark: createSecret(), passEnvironment: config.pass_environment });
  });
  return {
    ...place,
    ...parts,
    settings,
    statePath: async () => stateDirectory((await settings()).config, { env, homeDir }),
    installation: lazily(async () => {
      const { config } = await settings();
      return findInstallation(commandWords(config.claude_command), { path: env['PATH'] ?? '', homeDir });
    }),
    taskEnvironment,
    run: async (program, args) => runQuick({ program, args, env: await taskEnvironment(), signal }),
  };
}

async function readSettings({ env, cwd, homeDir, configPath }: DoctorPlace): Promise<DoctorSettings> {
  try {
    return await loadConfig({ env, cwd, homeDir, configPath });
  } catch (error) {
    if (!(error instanceof BridgeError) || error.code !== 'CONFIG_ERROR') throw error;
    const defaultSource = defaultSettingsPath(homeDir);
    const config = configSchema.parse({});
    return { config, source: null, origins: {}, defaultSource, warnings: [], error };
  }
}
