import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { nextEvent } from '../src/base/event.js';
import { KeeperClient } from '../src/keeper/host/keeper-client.js';
import { isRawPty, loadNodePty, type NodePtyModule } from '../src/pty/load-node-pty.js';
import { figuresOf, type Figures } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace, type Workplace } from './workplace.js';

const ROUNDS = 30;
const COLUMNS = 120;
const ROWS = 40;
/** More than one screen, so that there are lines above it too. */
const LINES = 300;
const LAST_LINE = 'THE LAST LINE';
/** A terminal that has shown nothing new for so long shows what it is to show. */
const QUIET_MS = 250;
const CLEAR = '\x1b[H\x1b[J';
const DETACH = '\x1d';
const recordSchema = z.looseObject({ socket_path: z.string() });

export interface AttachFigures {
  /** Connected by the socket until the screen is there, in a process that has loaded all it needs. */
  readonly clientMs: Figures;
  /** `claude-code-bridge attach` started until its terminal shows the screen. */
  readonly commandMs: Figures;
  /** A Node that prints one line, in the same kind of terminal, in turn with the command. */
  readonly bareNodeMs: Figures;
}

/** Attaching to a running task: until the last line of its screen is to be seen. */
export async function measureAttach(): Promise<AttachFigures> {
  const workplace = await createWorkplace();
  const client = new StdioClient(BRIDGE, workplace.env);
  const times = { client: new Array<number>(), command: new Array<number>(), bareNode: new Array<number>() };
  try {
    await client.initialize();
    const taskId = await startShowing(client, workplace);
    const nodePty = await loadNodePty();
    const record = recordSchema.parse(
      JSON.parse(readFileSync(join(workplace.folder, 'state', 'tasks', taskId, 'record.json'), 'utf8')),
    );
    const attach = [...BRIDGE, 'attach', taskId];
    const bare = [
      process.execPath,
      '-e',
      `console.log('${LAST_LINE}'); process.stdin.setRawMode(true).once('data', () => process.exit())`,
    ];
    for (let round = 0; round <= ROUNDS; round++) {
      const clientMs = await connectOnce(taskId, record.socket_path);
      const commandMs = await commandOnce(nodePty, attach, workplace);
      const bareNodeMs = await commandOnce(nodePty, bare, workplace);
      // The first round fills the disk cache.
      if (round === 0) continue;
      times.client.push(clientMs);
      times.command.push(commandMs);
      times.bareNode.push(bareNodeMs);
    }
    await client.call('kill_task', { task_id: taskId });
  } finally {
    await client.close();
    workplace.dispose();
  }
  return {
    clientMs: figuresOf(times.client),
    commandMs: figuresOf(times.command),
    bareNodeMs: figuresOf(times.bareNode),
  };
}

/** A task whose screen is full, when it is. */
async function startShowing(client: StdioClient, workplace: Workplace): Promise<string> {
  const file = join(workplace.folder, 'screen.txt');
  const lines = Array.from({ length: LINES }, (_, index) => `${index} ${'x'.repeat(80)}`);
  writeFileSync(file, `${lines.join('\n')}\n${LAST_LINE}\n`);
  const { task_id } = z
    .object({ task_id: z.string() })
    .parse(
      await client.call('start_task', { prompt: `BENCH-SHOW ${file}`, path: workplace.project('attach') }),
    );
  for (;;) {
    const { text } = z
      .object({ text: z.string() })
      .parse(await client.call('get_task_output', { task_id, view: 'screen' }));
    if (text.includes(LAST_LINE)) return task_id;
  }
}

async function connectOnce(taskId: string, socketPath: string): Promise<number> {
  const startMs = performance.now();
  const link = await KeeperClient.connect(taskId, socketPath);
  if (link === undefined) throw new Error('the keeper is gone');
  const shown = nextEvent(link.onTerminal, ({ data }) => Buffer.from(data, 'base64').includes(LAST_LINE));
  await link.watch({ columns: COLUMNS, rows: ROWS, read_only: false, covered: false, scrollback: LINES });
  await shown;
  const ms = performance.now() - startMs;
  link.dispose();
  return ms;
}

/** Milliseconds from the start of `command` in a terminal until the last line is to be seen for good. */
function commandOnce(
  nodePty: NodePtyModule,
  [program = '', ...args]: readonly string[],
  { env, folder }: Workplace,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const startMs = performance.now();
    const options = {
      name: 'xterm-256color',
      cols: COLUMNS,
      rows: ROWS,
      cwd: folder,
      env: { ...env },
      encoding: null,
    };
    const pty = nodePty.spawn(program, args, options);
    if (!isRawPty(pty)) return reject(new Error('node-pty gave something else'));
    let seenMs: number | undefined;
    let isLeaving = false;
    let text = '';
    let quiet: NodeJS.Timeout | undefined;
    pty.onData((data) => {
      if (isLeaving) return;
      text += String(data);
      // What was cleared away again was not seen.
      const cleared = text.lastIndexOf(CLEAR);
      if (cleared > text.indexOf(LAST_LINE)) {
        clearTimeout(quiet);
        seenMs = undefined;
        text = text.slice(cleared + CLEAR.length);
      }
      if (!text.includes(LAST_LINE)) return;
      seenMs ??= performance.now();
      clearTimeout(quiet);
      quiet = setTimeout(() => {
        isLeaving = true;
        writeSync(pty.fd, DETACH);
      }, QUIET_MS);
    });
    pty.onExit(() => {
      if (seenMs === undefined) reject(new Error(`the screen was not shown: ${text}`));
      else resolve(seenMs - startMs);
    });
  });
}
