// `npm run record-screen -- <version> [case …]`: runs the real CLI with a scripted model through the named cases and
// saves what stands on its screen to tests/fixtures/screens/<version>/<case>/.
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { sleep, withinMs } from '../src/base/clock.js';
import { systemClock } from '../src/base/system-clock.js';
import { messageOf } from '../src/base/errors.js';
import { nextEvent } from '../src/base/lifecycle.js';
import { createSecret } from '../src/base/ids.js';
import { scriptedClaudeEnvironment, writeClaudeHome } from '../src/cli/demo/claude-home.js';
import { CLAUDE_VERSIONS, findOrFetchClaude } from '../src/cli/demo/fetch-claude.js';
import { startScriptedApi } from '../src/cli/demo/scripted-api.js';
import { killTree } from '../src/pty/kill-ladder.js';
import { PtyManager } from '../src/pty/pty-manager.js';
import type { Child } from '../src/pty/child.js';
import { Screen, type Snapshot } from '../src/screen/screen.js';
import { normaliseBytes, normaliseScreen, RECORDING_ROOT_TEMPLATE, SHOWN_ROOT } from './normalise-screen.js';
import { screenCases, type ScreenCase } from './screen-cases.js';

const COLUMNS = 120;
const ROWS = 40;
const SCROLLBACK_LINES = 200;
/** The CLI starts in 3 s on a busy machine; a step that takes longer than this waits for what never comes. */
const STEP_LIMIT_MS = 20_000;
/** The rest of a screen is drawn within this time. */
const SETTLED_MS = 1_500;
/** A key that comes at once with the frame it answers can be lost. */
const KEY_PAUSE_MS = 250;
/** Recordings larger than this are not kept; the screen is. */
const MAX_CAST_BYTES = 40 * 1024;
const projectDir = resolve(import.meta.dirname, '..');

const { values: flags, positionals } = parseArgs({
  options: { program: { type: 'string' } },
  allowPositionals: true,
});

interface Chunk {
  readonly atMs: number;
  readonly bytes: Buffer;
}

/** The CLI at work in one case, from start to screen. */
async function record(
  screenCase: ScreenCase,
  program: string,
): Promise<{ shot: Snapshot; chunks: Chunk[]; root: string }> {
  const root = await realpath(await mkdtemp(RECORDING_ROOT_TEMPLATE.replace(/X+$/, '')));
  const project = join(root, 'proj');
  const home = join(root, 'home');
  const pty = new PtyManager({ clock: systemClock });
  const mark = createSecret();
  const api = await startScriptedApi(screenCase.script?.(project) ?? []);
  let session: Child | undefined;
  let screen: Screen | undefined;
  try {
    await writeFiles(screenCase, project, home);
    const promptFile = join(root, 'prompt.md');
    await writeFile(promptFile, screenCase.prompt ?? 'Do the work.');
    const env = scriptedClaudeEnvironment({
      homeDir: home,
      apiUrl: api.url,
      path: '/usr/local/bin:/usr/bin:/bin',
    });
    if (screenCase.withoutKey === true) delete env['ANTHROPIC_API_KEY'];
    const shown = new Screen({
      columns: COLUMNS,
      rows: ROWS,
      scrollback: SCROLLBACK_LINES,
      clock: systemClock,
      reply: (data) => void session?.write(data),
    });
    screen = shown;
    const chunks: Chunk[] = [];
    const startMs = systemClock.monotonicMs();
    const running = await pty.spawn({
      command: [program, '--permission-mode', 'default'],
      cwd: project,
      env: { ...env, ...screenCase.env, CLAUDE_CODE_BRIDGE_MARK: mark },
      size: { columns: COLUMNS, rows: ROWS },
      shell: '/bin/sh',
      stdinFile: promptFile,
      sink: {
        write: (_stream, bytes) => {
          chunks.push({ atMs: systemClock.monotonicMs() - startMs, bytes: Buffer.from(bytes) });
          void shown.feed(bytes);
          return undefined;
        },
      },
    });
    session = running;
    for (const step of screenCase.steps ?? []) {
      await untilScreen(shown, running, step.until);
      await sleep(systemClock, KEY_PAUSE_MS);
      running.write(step.press);
    }
    await untilScreen(shown, running, screenCase.until);
    await sleep(systemClock, SETTLED_MS);
    await shown.parsed();
    return { shot: shown.snapshot(), chunks: [...chunks], root };
  } finally {
    if (session !== undefined) {
      await killTree({ pid: session.pid, mark, clock: systemClock });
      await session.exited;
    }
    screen?.dispose();
    pty.dispose();
    await api.dispose();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function writeFiles(screenCase: ScreenCase, project: string, home: string): Promise<void> {
  await mkdir(project);
  await mkdir(home);
  for (const [name, text] of Object.entries(screenCase.files ?? {})) {
    await mkdir(dirname(join(project, name)), { recursive: true });
    await writeFile(join(project, name), text);
  }
  if (screenCase.home === 'empty') return;
  await writeClaudeHome(home, { trustedProjects: screenCase.home === 'untrusted' ? [] : [project] });
  const edits: Partial<Record<string, readonly [RegExp, string]>> = {
    'first-start': [/"hasCompletedOnboarding":true/, '"hasCompletedOnboarding":false'],
    'unknown-key': [/"approved":\[[^\]]*\]/, '"approved":[]'],
  };
  const edit = edits[screenCase.home ?? ''];
  if (edit === undefined) return;
  const stateFile = join(home, '.claude.json');
  await writeFile(stateFile, (await readFile(stateFile, 'utf8')).replace(...edit));
}

async function untilScreen(screen: Screen, session: Child, wanted: RegExp): Promise<void> {
  const isThere = (): boolean => wanted.test(screen.snapshot().text());
  if (isThere()) return;
  const seen = nextEvent(screen.onFrame, isThere).then(() => true);
  const ended = session.exited.then(() => false);
  if ((await withinMs(systemClock, STEP_LIMIT_MS, Promise.race([seen, ended]))) === true) return;
  await screen.parsed();
  if (isThere()) return;
  throw new Error(`the screen never held ${String(wanted)}; it shows:\n${screen.snapshot().text()}`);
}

async function save(screenCase: ScreenCase, version: string, program: string): Promise<void> {
  const { shot, chunks, root } = await record(screenCase, program);
  const folder = join(projectDir, 'tests', 'fixtures', 'screens', version, screenCase.name);
  await mkdir(folder, { recursive: true });
  const text = normaliseScreen(shot.text().replaceAll(root, SHOWN_ROOT));
  await writeFile(join(folder, 'screen.txt'), `${text}\n`);
  const { columns, rows, cursor } = shot;
  await writeFile(
    join(folder, 'meta.json'),
    `${JSON.stringify({ about: screenCase.about, columns, rows, cursor }, null, 2)}\n`,
  );
  const cast = castOf(chunks, root);
  if (cast.length <= MAX_CAST_BYTES) await writeFile(join(folder, 'terminal.cast'), cast);
  else await rm(join(folder, 'terminal.cast'), { force: true });
}

/** The recording as asciicast v2; a character that was read in two pieces is put together. */
function castOf(chunks: readonly Chunk[], root: string): string {
  const header = JSON.stringify({ version: 2, width: COLUMNS, height: ROWS });
  const decoder = new TextDecoder('utf-8');
  const events = chunks.map(({ atMs, bytes }) =>
    JSON.stringify([
      Number((atMs / 1000).toFixed(2)),
      'o',
      decoder.decode(normaliseBytes(bytes, root), { stream: true }),
    ]),
  );
  return `${[header, ...events].join('\n')}\n`;
}

const [version = '', ...names] = positionals;
if (version === '') throw new Error(`name the version of the CLI, such as ${CLAUDE_VERSIONS.join(' or ')}`);
const unknownName = names.find((name) => !screenCases.some((screenCase) => screenCase.name === name));
if (unknownName !== undefined) throw new Error(`there is no case '${unknownName}'`);
const program =
  flags.program ??
  (await findOrFetchClaude({
    version,
    cacheDir: join(projectDir, '.cache', 'claude'),
    env: process.env,
    log: (line) => process.stderr.write(`${line}\n`),
  }));
for (const screenCase of screenCases) {
  if (names.length > 0 && !names.includes(screenCase.name)) continue;
  try {
    await save(screenCase, version, program);
    process.stdout.write(`${version} ${screenCase.name}\n`);
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`${version} ${screenCase.name}: ${messageOf(error)}\n`);
  }
}
