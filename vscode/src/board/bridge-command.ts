import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { text } from 'node:stream/consumers';

const NAME = 'claude-code-bridge';
const SETTING = 'claudeTerminalBridge.bridgeCommand';
/** A program that runs npx may have to install the bridge first. */
const RUN_LIMIT_MS = 120_000;
/** What the editor sets for its own processes. */
const EDITOR_VARIABLE = /^(?:VSCODE|ELECTRON)_/;

/** How the extension runs the command `claude-code-bridge`. */
export interface BridgeCommandOptions {
  /** Of the setting `bridgeCommand`: program and first arguments; empty to look for it. */
  readonly configured: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  /** After this time it is ended and no longer waited for; two minutes if it is not given. */
  readonly limitMs?: number;
  /** The state directory of this window's bridge. */
  readonly statePath: string;
}

/** The command failed, or is not there; its message says what to do. */
export class BridgeCommandError extends Error {}

/**
 * Runs `claude-code-bridge` with arguments, in the home directory: nothing of a workspace decides which program that is.
 * Resolves with stdout. Throws BridgeCommandError with what it printed on stderr.
 */
export async function runBridge(options: BridgeCommandOptions, args: readonly string[]): Promise<string> {
  const [program = NAME, ...first] = await bridgeCommand(options);
  const child = spawn(program, [...first, ...args], {
    cwd: options.homeDir,
    env: { ...withoutEditor(options.env), MCP_STATE_DIR: options.statePath },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'no exit code'));
  });
  const limit = setTimeout(() => {
    child.kill();
    // It may ignore that, or another program may have its output.
    child.stdout.destroy(new BridgeCommandError(`${program} did not end in time.`));
    child.stderr.destroy();
  }, options.limitMs ?? RUN_LIMIT_MS);
  try {
    const [out, said, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (code === 0) return out;
    throw new BridgeCommandError(said.trim() === '' ? `${program} ended with ${code}.` : said.trim());
  } catch (error) {
    if (error instanceof BridgeCommandError) throw error;
    throw new BridgeCommandError(
      `${program} could not be run: ${error instanceof Error ? error.message : String(error)}. Correct ${SETTING}.`,
      { cause: error },
    );
  } finally {
    clearTimeout(limit);
  }
}

/**
 * Program and first arguments: as the setting says, else the command of the PATH. A name that is looked up elsewhere could be anybody's
 * program. Throws BridgeCommandError.
 */
export async function bridgeCommand({ configured, env }: BridgeCommandOptions): Promise<readonly string[]> {
  if (configured.length > 0) return configured;
  // A relative folder would be one of the workspace.
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter(isAbsolute)) {
    const path = join(folder, NAME);
    if (await isExecutable(path)) return [path];
  }
  throw new BridgeCommandError(
    `${NAME} is not on the PATH. Set ${SETTING} to how you run it, such as ["node", "/home/me/${NAME}/dist/main.js"].`,
  );
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    // Not there, or not ours to run.
    return false;
  }
}

function withoutEditor(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !EDITOR_VARIABLE.test(name)));
}
