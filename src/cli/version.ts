import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellWord } from '../base/text/shell-word.js';
import { VERSION } from '../base/version.js';

/** npm asks its registry once; a line that does not answer must not hold the command. */
const LIMIT_MS = 30_000;
const NAME = 'claude-code-bridge';

export interface VersionOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  /** The file of the running program, without links. */
  readonly serverEntry: string;
  readonly write: (text: string) => void;
  /** `--check`: asks the npm registry for the newest version. Nothing is asked without it. */
  readonly check?: boolean | undefined;
}

/** Prints this version and, in a clone, how to update it; else, if asked, whether npm has a newer one. Throws when npm cannot tell. */
export async function printVersion(options: VersionOptions): Promise<void> {
  const { env, homeDir, serverEntry, write, check } = options;
  write(VERSION);
  const root = dirname(dirname(serverEntry));
  if (existsSync(join(root, '.git')))
    return write(
      `This is a clone. To update it: cd ${shellWord(root, homeDir)} && git pull && npm ci && npm run build`,
    );
  if (check !== true) return;
  const newest = await newestVersion(env);
  write(
    newest === VERSION
      ? 'This is the newest version on npm.'
      : `The newest version on npm is ${newest}: npx -y ${NAME}@latest. Its CHANGELOG.md says what is new.`,
  );
}

function newestVersion(env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('npm', ['view', NAME, 'version'], { env, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      const version = stdout.trim();
      if (error === null && /^\d+\.\d+\.\d+/.test(version)) {
        resolve(version);
        return;
      }
      const [why = ''] = stderr.split('\n').filter((line) => line.trim() !== '');
      const words = stderr.includes('E404')
        ? `The package ${NAME} is not on npm.`
        : `npm did not tell the newest version: ${why || (error?.message ?? 'no answer')}`;
      reject(new Error(`${words} To try again: npm view ${NAME} version`));
    });
  });
}
