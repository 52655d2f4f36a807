// Starts the server of this plugin: what is installed in this folder, else the package whose command is on PATH, both in the plugin's own
// version. Never what a project has installed: a session starts its servers in the project's folder, and npx would take the program from there.
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const NAME = 'claude-code-bridge';
const here = import.meta.dirname;
const { version } = JSON.parse(readFileSync(join(here, '.claude-plugin', 'plugin.json'), 'utf8'));
const session = realpathSync(process.cwd());
/**
 * The session's folder, and each folder above it that is a project: a session may run in a part of one. The home directory is none. Also
 * the other checkouts of their repositories.
 */
const projects = [session];
for (let at = dirname(session); at !== dirname(at); at = dirname(at))
  if (at !== home() && ['.git', 'package.json', 'node_modules'].some((name) => existsSync(join(at, name))))
    projects.push(at);
for (const project of [...projects]) projects.push(...checkoutsBeside(project));

/** The main checkout and the worktrees of the repository that `.git` in a folder names, as git writes it there. */
function checkoutsBeside(project) {
  const git = join(project, '.git');
  const named = (from, file) =>
    resolve(
      from,
      readFileSync(file, 'utf8')
        .replace(/^gitdir: /, '')
        .trim(),
    );
  try {
    const own = statSync(git).isFile() ? named(project, git) : git;
    const common = existsSync(join(own, 'commondir')) ? named(own, join(own, 'commondir')) : own;
    const worktrees = join(common, 'worktrees');
    const links = existsSync(worktrees) ? readdirSync(worktrees).map((name) => join(worktrees, name)) : [];
    const main = join(common, sep).split(join(sep, '.git', sep))[0];
    const places = [main, ...links.map((link) => dirname(named(link, join(link, 'gitdir'))))];
    return places
      .filter((place) => existsSync(place))
      .map((place) => realpathSync(place))
      .filter((place) => place !== home());
  } catch {
    // No repository, or one that git does not read either.
    return [];
  }
}

function home() {
  return existsSync(homedir()) ? realpathSync(homedir()) : undefined;
}

/** The program in a folder on PATH by its real path; undefined where that, or the folder, is in a project or any `node_modules/.bin`. */
function programIn(folder) {
  try {
    const real = realpathSync(join(folder, NAME));
    const places = [real, folder, realpathSync(folder)].map((place) => join(place, sep));
    const isProjects = places.some(
      (place) =>
        place.endsWith(join('node_modules', '.bin', sep)) ||
        projects.some((project) => place.startsWith(join(project, sep))),
    );
    return isProjects ? undefined : real;
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

const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
const own = join(here, 'node_modules', NAME, 'dist', 'main.js');
const main = [own, ...folders.flatMap((folder) => programIn(folder) ?? [])].find(isRight);
if (main === undefined) {
  process.stderr.write(
    `${NAME} ${version} is not on PATH as npm installs it: npm install -g ${NAME}@${version}. A script in its place, what a project has installed and what is below this folder are not used.\n`,
  );
  process.exitCode = 1;
} else {
  process.argv = [process.execPath, main, ...process.argv.slice(2)];
  await import(pathToFileURL(main).href);
}
