import { execFile } from 'node:child_process';
import { VERSION } from '../base/version.js';

/** npm asks its registry once; a line that does not answer must not hold the command. */
const LIMIT_MS = 30_000;
const NAME = 'claude-code-bridge';

export interface VersionOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly write: (text: string) => void;
  /** `--check`: asks the npm registry for the newest version. Nothing is asked without it. */
  readonly check?: boolean | undefined;
}

/** Prints this version and, if asked, whether npm has a newer one. Throws when npm cannot tell. */
export async function printVersion({ env, write, check }: VersionOptions): Promise<void> {
  write(VERSION);
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
