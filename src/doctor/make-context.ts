import { BridgeError } from '../base/errors.js';
import { createSecret } from '../base/ids.js';
import { lazily } from '../base/lifecycle.js';
import { findInstallation } from '../claude/installation.js';
import { commandWords } from '../config/command-words.js';
import { loadConfig } from '../config/load-config.js';
import { defaultSettingsPath, stateDirectory } from '../config/places.js';
import { configSchema } from '../config/schema.js';
import { runProgram } from '../os/run-program.js';
import { childEnvironment } from '../pty/child-env.js';
import type { DoctorContext, DoctorParts, DoctorPlace, ProgramAnswer } from './check.js';

/** Programs that answer in milliseconds, on a busy machine. */
const LIMIT_MS = 8_000;
const MAX_OUTPUT_BYTES = 256 * 1024;

/** The context of one run: what several checks need is read once. */
export function makeContext(place: DoctorPlace, parts: DoctorParts): DoctorContext {
  const { env, homeDir, cwd, configPath, signal } = place;
  const settings = lazily(() =>
    loadConfig({ env, cwd, homeDir, configPath }).catch((error: unknown) => {
      if (!(error instanceof BridgeError) || error.code !== 'CONFIG_ERROR') throw error;
      const defaultSource = defaultSettingsPath(homeDir);
      return {
        config: configSchema.parse({}),
        source: null,
        origins: {},
        defaultSource,
        warnings: [],
        error,
      };
    }),
  );
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
    run: async (program, args) => runQuick(program, args, await taskEnvironment(), signal),
  };
}

/** Runs a program that should answer at once, without input; reads the first 256 KiB of its output. */
async function runQuick(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ProgramAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const call = { program, args, env, signal, cwd: '/', timeLimitMs: LIMIT_MS };
  const end = await runProgram(call, (chunk) => {
    if (length < MAX_OUTPUT_BYTES) chunks.push(chunk);
    length += chunk.length;
  });
  if (end.how === 'missing') return end;
  if (end.how === 'exited') return { ...end, stdout: Buffer.concat(chunks).toString('utf8') };
  const why =
    end.how === 'killed' ? `it was ended by ${end.signal}` : `it did not answer within ${LIMIT_MS / 1000} s`;
  return { how: 'failed', why };
}
