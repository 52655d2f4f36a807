// `npm run record-screen -- <version> [case …]`: runs the real CLI with a scripted model through the named cases and
// saves what stands on its screen to tests/fixtures/screens/<version>/<case>/.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { sleep, withinMs } from '../src/base/clock.js';
import { systemClock } from '../src/base/system-clock.js';
import { messageOf } from '../src/base/errors.js';
import { nextEvent } from '../src/base/lifecycle.js';
import { scriptedClaudeEnvironment, writeClaudeHome } from '../src/cli/demo/claude-home.js';
import { CLAUDE_VERSIONS, findOrFetchClaude } from '../src/cli/demo/fetch-claude.js';
import { startScriptedApi } from '../src/cli/demo/scripted-api.js';
import type { Child } from '../src/pty/child.js';
import { PtyManager } from '../src/pty/pty-manager.js';
import { Screen, type Snapshot } from '../src/screen/screen.js';
import { killMarked } from '../tests/harness/marked-processes.js';
import { writeFiles } from '../tests/harness/project-files.js';
import { normaliseScreen } from './normalise-screen.js';
import { screenCases, type ScreenCase } from './screen-cases.js';

const SIZE = { columns: 120, rows: 40 };
const SCROLLBACK_LINES = 200;
/** The CLI starts in 3 s on a busy machine; a step that takes longer than this waits for what never comes. */
const STEP_LIMIT_MS = 20_000;
/** The rest of a screen is drawn within this time. */
const SETTLED_MS = 1_500;
/** A key that comes at once with the frame it answers can be lost. */
const KEY_PAUSE_MS = 250;
/** Recordings larger than this are not kept; the screen is. */
const MAX_CAST_BYTES = 40 * 1024;
/** Six characters are added: folders are as long as the one that replaces them, so that nothing moves on the screen. */
const ROOT_PREFIX = '/tmp/s-';
const SHOWN_ROOT = '/home/anybody';
const projectDir = resolve(import.meta.dirname, '..');

/** Gives what the CLI draws in one case to the screen and to `onBytes`; resolves with the end. The folder is empty. */
async function play(
  screenCase: ScreenCase,
  program: string,
  root: string,
  onBytes: (bytes: Buffer) => void,
): Promise<Snapshot> {
  const { script = [], step, until, env, withKey, files = {}, prompt = 'Do the work.' } = screenCase;
  const [project, homeDir, stdinFile] = [join(root, 'proj'), join(root, 'home'), join(root, 'prompt.md')];
  await mkdir(project);
  await writeFiles(project, files);
  await writeHome(screenCase, homeDir, project);
  await writeFile(stdinFile, prompt);
  const api = await startScriptedApi(typeof script === 'function' ? script(project) : script);
  const given = scriptedClaudeEnvironment({ homeDir, apiUrl: api.url, path: '/usr/local/bin:/usr/bin:/bin' });
  if (withKey === false) delete given['ANTHROPIC_API_KEY'];
  const pty = new PtyManager({ clock: systemClock });
  const reply = (data: string): void => void session?.write(data);
  const screen = new Screen({ ...SIZE, scrollback: SCROLLBACK_LINES, clock: systemClock, reply });
  let session: Child | undefined;
  try {
    session = await pty.spawn({
      command: [program, '--permission-mode', 'default'],
      cwd: project,
      env: { ...given, ...env },
      size: SIZE,
      shell: '/bin/sh',
      stdinFile,
      sink: {
        write: (_stream, bytes) => {
          onBytes(Buffer.from(bytes));
          void screen.feed(bytes);
          return undefined;
        },
      },
    });
    if (step !== undefined) {
      await untilShown(screen, session, step[0]);
      await sleep(systemClock, KEY_PAUSE_MS);
      session.write(step[1]);
    }
    await untilShown(screen, session, until);
    await sleep(systemClock, SETTLED_MS);
    await screen.parsed();
    return screen.snapshot();
  } finally {
    // Each of its processes has the home folder in its environment.
    await killMarked(root);
    await session?.exited;
    screen.dispose();
    pty.dispose();
    await api.dispose();
  }
}

async function writeHome({ home }: ScreenCase, homeDir: string, project: string): Promise<void> {
  await mkdir(homeDir);
  if (home === 'empty') return;
  await writeClaudeHome(homeDir, { trustedProjects: home === 'untrusted' ? [] : [project] });
  const edits: Partial<Record<string, readonly [RegExp, string]>> = {
    'first-start': [/"hasCompletedOnboarding":true,/, ''],
    'unknown-key': [/"approved":\[[^\]]*\]/, '"approved":[]'],
  };
  const edit = edits[home ?? ''];
  if (edit === undefined) return;
  const file = join(homeDir, '.claude.json');
  await writeFile(file, (await readFile(file, 'utf8')).replace(...edit));
}

async function untilShown(screen: Screen, session: Child, wanted: RegExp): Promise<void> {
  const isThere = (): boolean => wanted.test(screen.snapshot().text());
  const seen = isThere() ? Promise.resolve() : nextEvent(screen.onFrame, isThere);
  await withinMs(systemClock, STEP_LIMIT_MS, Promise.race([seen, session.exited]));
  await screen.parsed();
  if (!isThere())
    throw new Error(`the screen never held ${String(wanted)}; it shows:\n${screen.snapshot().text()}`);
}

async function save(screenCase: ScreenCase, version: string, program: string): Promise<void> {
  const folder = join(projectDir, 'tests', 'fixtures', 'screens', version, screenCase.name);
  const root = await mkdtemp(ROOT_PREFIX);
  const startMs = systemClock.monotonicMs();
  // As asciicast v2; a character that was read in two pieces is put together.
  const cast = [JSON.stringify({ version: 2, width: SIZE.columns, height: SIZE.rows })];
  const decoder = new TextDecoder();
  try {
    const shot = await play(screenCase, program, root, (bytes) => {
      const shown = Buffer.from(bytes.toString('latin1').replaceAll(root, SHOWN_ROOT), 'latin1');
      const seconds = Number(((systemClock.monotonicMs() - startMs) / 1000).toFixed(2));
      cast.push(JSON.stringify([seconds, 'o', decoder.decode(shown, { stream: true })]));
    });
    const { columns, rows, cursor } = shot;
    const meta = JSON.stringify({ about: screenCase.about, columns, rows, cursor }, null, 2);
    const castText = `${cast.join('\n')}\n`;
    await rm(join(folder, 'terminal.cast'), { force: true });
    await writeFiles(folder, {
      'screen.txt': `${normaliseScreen(shot.text().replaceAll(root, SHOWN_ROOT))}\n`,
      'meta.json': `${meta}\n`,
      ...(castText.length <= MAX_CAST_BYTES && { 'terminal.cast': castText }),
    });
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

const { values, positionals } = parseArgs({
  options: { program: { type: 'string' } },
  allowPositionals: true,
});
const [version = '', ...names] = positionals;
if (version === '') throw new Error(`name the version of the CLI, such as ${CLAUDE_VERSIONS.join(' or ')}`);
const unknownName = names.find((name) => !screenCases.some((screenCase) => screenCase.name === name));
if (unknownName !== undefined) throw new Error(`there is no case '${unknownName}'`);
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const cacheDir = join(projectDir, '.cache', 'claude');
const program = values.program ?? (await findOrFetchClaude({ version, cacheDir, env: process.env, log }));
for (const screenCase of screenCases.filter(({ name }) => names.length === 0 || names.includes(name))) {
  try {
    await save(screenCase, version, program);
    process.stdout.write(`${version} ${screenCase.name}\n`);
  } catch (error) {
    process.exitCode = 1;
    log(`${version} ${screenCase.name}: ${messageOf(error)}`);
  }
}
