import '../base/uncompiled-schemas.js';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BridgeError, messageOf } from '../base/errors.js';
import { createStderrLogger, type Logger } from '../base/logger.js';
import { oneLine } from '../base/text.js';
import { createBridge } from '../bridge.js';
import { loadConfig, type LoadedConfig } from '../config/load-config.js';
import { configSchema, factsOf } from '../config/schema.js';
import { claimProcessStdio, serveUntilGone } from '../mcp/stdio.js';
import { exitCodeOfError } from './exit-codes.js';
import { ownCommand, withConfig } from './own-command.js';
import { toolsetNames } from '../tools/toolsets.js';
import { VERSION } from '../base/package.js';

interface ServeOptions {
  readonly config?: string;
  readonly toolsets?: string;
  /** Serves a bridge on another machine. */
  readonly link?: boolean;
  /** Names of variables that tasks get besides, separated by commas. */
  readonly pass?: string;
  readonly roots?: string;
}

const MAX_WORDS = 500;

/** With the error of settings that cannot be used: then they are the defaults. */
type Settings = LoadedConfig & { readonly unusable?: BridgeError };

/**
 * Serves one MCP client over stdin and stdout until it is gone. With settings that cannot be used it refuses every call with what
 * is wrong: a client shows that to its user, and not why a server has ended. A wrong command line ends it, with one of `exitCodes`.
 */
export async function serve(args: readonly string[], given: NodeJS.ProcessEnv): Promise<void> {
  const stdio = claimProcessStdio();
  const startLogger = createStderrLogger('info');
  try {
    const options = readOptions(args);
    const homeDir = given['HOME'] ?? homedir();
    const loaded = await loadSettings(options, given, homeDir).catch(unusableSettings);
    const { config, unusable, source, origins } = loaded;
    // In the environment, the folders reach the board that this server starts, too.
    const { env: rootsVariable } = factsOf('allowed_roots');
    const env = options.roots === undefined ? given : { ...given, [rootsVariable]: options.roots };
    // Over a line, stderr is for what ends it: its last words are shown.
    const logger = createStderrLogger(options.link === true ? 'error' : config.log_level);
    if (unusable === undefined) logStart(logger, loaded);
    else logError(logger, unusable);
    // The server goes on after an uncaught error, since its tasks run in other processes and its client waits for answers.
    for (const event of ['uncaughtException', 'unhandledRejection'])
      process.on(event, (error: unknown) => logger.error('An internal error', { error: stackOf(error) }));
    const command = await ownCommand(process.argv[1] ?? '', env['PATH'], homeDir);
    const bridge = await createBridge({
      ...{ config, unusable, env, homeDir, origins, logger },
      cwd: process.cwd(),
      settingsFile: source,
      command: withConfig(command, options.config, homeDir),
      version: VERSION,
      keeperEntry: fileURLToPath(new URL('./keeper.js', import.meta.url)),
    });
    const parts = options.link === true ? await bridge.far() : bridge.parts;
    await serveUntilGone(parts, stdio, () => bridge.dispose());
  } catch (error) {
    // The near end shows the last line.
    if (args.includes('--link') && error instanceof BridgeError)
      process.stderr.write(`${oneLine(`${error.code}: ${error.message} ${error.hint}`, MAX_WORDS)}\n`);
    else logError(startLogger, error);
    process.exit(exitCodeOfError(error));
  }
}

/**
 * The options, and the folders of the command line as the environment variable of allowed roots has them, also with commas in their names.
 * Each folder is an argument of its own: the only form in which Claude Desktop passes a list from its settings. Throws INVALID_ARGUMENTS.
 */
function readOptions(args: readonly string[]): ServeOptions {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        config: { type: 'string' },
        toolsets: { type: 'string' },
        link: { type: 'boolean' },
        pass: { type: 'string' },
      },
    });
    return { ...values, ...(positionals.length > 0 && { roots: JSON.stringify(positionals) }) };
  } catch (error) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      messageOf(error),
      'The options are --config <file> and --toolsets <names>. The option --help shows more.',
    );
  }
}

async function loadSettings(
  { config, roots, link, toolsets = link === true ? 'all' : undefined, pass }: ServeOptions,
  env: NodeJS.ProcessEnv,
  homeDir: string,
): Promise<Settings> {
  const given = [
    { key: 'toolsets', source: 'flag --toolsets', text: toolsets },
    { key: 'allowed_roots', source: 'folders of the command line', text: roots },
  ] as const;
  const loaded = await loadConfig({
    ...{ env, homeDir, configPath: config, toolsets: toolsetNames },
    cwd: process.cwd(),
    overrides: given.flatMap(({ text, ...one }) => (text === undefined ? [] : [{ ...one, text }])),
  });
  if (link !== true) return loaded;
  const pass_environment = [...loaded.config.pass_environment, ...(pass?.split(',') ?? [])];
  // The near side knows the machines that it means; an id names one of them.
  return { ...loaded, config: { ...loaded.config, pass_environment, machines: {} } };
}

/** Throws any error but CONFIG_ERROR. */
function unusableSettings(error: unknown): Settings {
  if (!(error instanceof BridgeError) || error.code !== 'CONFIG_ERROR') throw error;
  const unusable = new BridgeError(
    error.code,
    `The settings of the bridge cannot be used:\n${error.message}`,
    'Correct them, then restart the server in your client. docs/settings.md of the package lists every setting.',
    { cause: error },
  );
  const config = configSchema.parse({});
  return { config, source: null, origins: {}, defaultSource: '', warnings: [], unusable };
}

function logStart(logger: Logger, { source, defaultSource, config, warnings }: LoadedConfig): void {
  for (const warning of warnings) logger.warn(warning);
  logger.info(
    source === null ? `No settings file was found at ${defaultSource}` : `Loaded config from ${source}`,
  );
  const { allowed_roots, toolsets } = config;
  logger.info(`claude-code-bridge ${VERSION} started`, { pid: process.pid, allowed_roots, toolsets });
}

/** Logs one line for each error of the settings, and what to do. */
function logError(logger: Logger, error: unknown): void {
  if (!(error instanceof BridgeError))
    return logger.error('The server could not start', { error: stackOf(error) });
  for (const line of error.message.split('\n')) logger.error(`${error.code}: ${line}`);
  logger.error(error.hint);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
