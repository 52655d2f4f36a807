// Starts the server of this plugin: what is installed in this folder, else the command on PATH, both in the plugin's own version. Never what a
// project has installed: a session starts its servers in the project's folder, and npx would take the program from there.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const NAME = 'claude-code-bridge';
const VERSION_LIMIT_MS = 10_000;
const here = import.meta.dirname;
const { version } = JSON.parse(readFileSync(join(here, '.claude-plugin', 'plugin.json'), 'utf8'));
const project = realpathSync(process.cwd());
const args = process.argv.slice(2);

/** The real path of a file outside of the project; undefined for any other. */
function outside(path) {
  try {
    const real = realpathSync(path);
    return real.startsWith(`${project}${sep}`) ? undefined : real;
  } catch {
    return undefined;
  }
}

/** Whether the package of `main`, a file in its folder `dist`, is the bridge in the version of the plugin. */
function isRight(main) {
  try {
    const found = JSON.parse(readFileSync(join(dirname(dirname(main)), 'package.json'), 'utf8'));
    return found.name === NAME && found.version === version;
  } catch {
    return false;
  }
}

/** Some package managers put a script on PATH, which only the program itself can tell of. */
function says(command) {
  const { stdout } = spawnSync(command, ['--version'], {
    cwd: here,
    encoding: 'utf8',
    timeout: VERSION_LIMIT_MS,
  });
  return stdout?.trim() === version;
}

function onPath() {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.flatMap((folder) => outside(join(folder, NAME)) ?? []);
}

const main = [outside(join(here, 'node_modules', NAME, 'dist', 'main.js')) ?? '', ...onPath()].find(isRight);
const command = main === undefined ? onPath().find(says) : undefined;
if (main !== undefined) {
  process.argv = [process.execPath, main, ...args];
  await import(pathToFileURL(main).href);
} else if (command !== undefined) {
  const child = spawn(command, args, { stdio: 'inherit' });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name));
  child.on('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code) => (process.exitCode = code ?? 1));
} else {
  process.stderr.write(
    `${NAME} ${version} is not on PATH. Install it: npm install -g ${NAME}@${version}. What a project has installed is not used.\n`,
  );
  process.exitCode = 1;
}
