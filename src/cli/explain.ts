import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import type { ApprovalMode } from '../approvals/decide.js';
import { checkRequest, type RequestVerdict } from '../approvals/check-request.js';
import { ShellChecker } from '../approvals/shell/shell-checker.js';
import { compileRules } from '../approvals/user-rules.js';
import { expandHome } from '../config/home-path.js';
import { loadConfig } from '../config/load-config.js';
import { ownPlaces } from '../config/own-places.js';
import { aliasesOf } from '../projects/path-aliases.js';
import { requestPaths } from '../tasks/decisions/request-paths.js';
import { searchedSecret } from '../tasks/decisions/searched-secret.js';
import { permissionModes } from '../tasks/task.js';
import { exitCodes } from './exit-codes.js';

export interface ExplainRequest {
  readonly tool: string;
  /** The tool's input as JSON; for Bash the command line, for a tool about files or pages only the path or URL. */
  readonly input: string;
  readonly mode: string;
  /** The project; a relative path starts at `cwd`. */
  readonly project: string;
  readonly configPath?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly homeDir: string;
  readonly write: (line: string) => void;
  /** The built worker thread that checks shell lines, if it is not next to the program. */
  readonly checkWorker?: URL | undefined;
}

/**
 * Prints which rule decides a request, and why; for a shell line, for each of its commands. Nothing is run. Resolves with the
 * exit code 0 for allow, 2 for ask, 3 for deny. Throws INVALID_ARGUMENTS, CONFIG_ERROR.
 */
export async function runExplain(request: ExplainRequest): Promise<number> {
  const { env, cwd, homeDir, configPath, tool, write } = request;
  const mode = modeOf(request.mode);
  const { config, source } = await loadConfig({ env, cwd, homeDir, configPath });
  const projectPath = await projectOf(resolve(cwd, expandHome(request.project, homeDir)));
  const input = inputOf(tool, request.input, homeDir);
  const paths = await requestPaths(input, projectPath);
  const shell = new ShellChecker({
    rows: config.rules,
    bases: { projectPath, homeDir },
    workerFile: request.checkWorker,
  });
  const decided = await checkRequest(
    {
      mode,
      kind: 'permission',
      tool,
      input,
      projectPath,
      paths,
      aliases: await aliasesOf(paths, projectPath),
      ownPlaces: ownPlaces(config, { env, homeDir, settingsFile: source }),
      searchedSecret: await searchedSecret(tool, input, projectPath),
      folder: projectPath,
    },
    compileRules(config.rules, { projectPath, homeDir }),
    (line) => shell.check(line),
  );
  write(`${decided.verdict}: ${decided.reason}`);
  write(`  rule     ${decided.rule}`);
  write(`  mode     ${mode}`);
  write(`  project  ${projectPath}`);
  write(`  settings ${source ?? 'none'}, ${config.rules.length} rules`);
  writeParts(decided, write);
  if (tool === 'Bash' && mode === 'cautious' && decided.verdict === 'ask')
    write(
      'Claude Code may run it without asking if it considers it read-only and none of your rules denies it or asks.',
    );
  return { allow: exitCodes.done, ask: exitCodes.ask, deny: exitCodes.deny }[decided.verdict];
}

function writeParts({ parts }: RequestVerdict, write: (line: string) => void): void {
  if (parts.length === 0) return;
  write('its commands:');
  for (const { part, verdict, rule, reason, depth } of parts) {
    write(`  ${'  '.repeat(depth)}${verdict.padEnd(5)} ${JSON.stringify(part)}`);
    write(`  ${'  '.repeat(depth)}      ${rule}: ${reason}`);
  }
}

async function projectOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    throw new BridgeError(
      'PATH_NOT_FOUND',
      `--project: ${path} cannot be opened (${messageOf(error)}).`,
      'Pass the folder of the project.',
    );
  }
}

function modeOf(text: string): ApprovalMode {
  const mode = permissionModes.find((known) => known === text);
  if (mode !== undefined) return mode;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `--mode must be one of ${permissionModes.join(', ')} (got ${JSON.stringify(text)}).`,
    'Correct the mode.',
  );
}

function inputOf(tool: string, text: string, homeDir: string): Readonly<Record<string, unknown>> {
  if (text.trimStart().startsWith('{') && tool !== 'Bash') {
    const parsed: unknown = parseJson(text);
    if (typeof parsed === 'object' && parsed !== null) return { ...parsed };
  }
  switch (tool) {
    case 'Bash':
      return { command: text };
    case 'WebFetch':
      return { url: text };
    case 'Grep':
    case 'Glob':
    case 'LS':
      return { path: expandHome(text, homeDir) };
    default:
      return { file_path: expandHome(text, homeDir) };
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `The input is not valid JSON: ${error.message}`,
      'Pass the input of the tool as a JSON object, or only a path.',
    );
  }
}
