import { once } from 'node:events';
import { join } from 'node:path';
import { request, type IncomingHttpHeaders } from 'node:http';
import { onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { z } from 'zod';
import { silentLogger } from '../../src/base/logger.js';
import { Board, type BoardOptions, type PageOptions } from '../../src/board/board.js';

import type { AlwaysRules } from '../../src/board/always-rules.js';
import { Reviews } from '../../src/board/reviews.js';
import type { Asset } from '../../src/board/http-server.js';
import type { TaskService } from '../../src/tasks/task-service.js';
import { systemClock } from '../../src/base/system-clock.js';
import { createWorkplace } from '../harness/workplace.js';
import { noReceipts } from '../tools/fake-task-service.js';

const shell = '<html><meta name="style-nonce" content="__STYLE_NONCE__"></html>';
const assets = new Map<string, Asset>([
  ['/', { type: 'text/html; charset=utf-8', body: Buffer.from(shell) }],
  ['/app.js', { type: 'text/javascript; charset=utf-8', body: Buffer.from('export {};') }],
]);

const noRules: AlwaysRules = {
  propose: () => Promise.reject(new Error('no rules are proposed here')),
  check: () => undefined,
  write: () => Promise.reject(new Error('no rules are written here')),
};

/** What pages need, over `tasks`; what is on disk goes with the test. */
export async function pageOptions(tasks: TaskService): Promise<PageOptions> {
  const workplace = await createWorkplace();
  onTestFinished(() => workplace.remove());
  return {
    tasks,
    finisher: { finish: () => Promise.reject(new Error('no task here has a worktree')) },
    receipts: noReceipts,
    always: noRules,
    reviews: new Reviews(join(workplace.root, 'reviews')),
    patchOf: async () => ({ state: 'nothing', why: 'The task changed nothing.' }),
    readPatch: async () => undefined,
    readSide: async () => undefined,
    recordingFile: () => join(workplace.root, 'terminal.cast'),
    tasksDir: workplace.projectsDir,
    promptOf: async (record) => record.prompt_summary,
    version: '0.0.0',
    homeDir: workplace.homeDir,
    clock: systemClock,
    logger: silentLogger,
  };
}

/** A board over `tasks`, in this process; it is closed with the test. */
export async function serveBoard(tasks: TaskService, changes: Partial<BoardOptions> = {}): Promise<Board> {
  const board = await Board.start({ ...(await pageOptions(tasks)), assets, token: 'token', ...changes }, 0);
  onTestFinished(() => board.close());
  return board;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A request with exactly these headers, as any program can send it. */
export function ask(
  board: Board,
  path: string,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  } = {},
): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = options;
  const { port } = board;
  return new Promise((resolve, reject) => {
    const asking = request(
      { host: '127.0.0.1', port, path, method, headers: { host: `127.0.0.1:${port}`, ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (text += part));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      },
    );
    asking.on('error', reject);
    asking.end(body);
  });
}

/** As the page does it. */
export async function tokenOf(board: Board): Promise<string> {
  const code = board.link().url.split('#code=')[1] ?? '';
  const { body } = await ask(board, '/token', {
    method: 'POST',
    headers: { origin: `http://127.0.0.1:${board.port}`, 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  return z.object({ token: z.string() }).parse(JSON.parse(body)).token;
}

const messageSchema = z.looseObject({ type: z.string() });
type Message = z.infer<typeof messageSchema>;

const valuesSchema = z.object({
  type: z.literal('values'),
  channel: z.string(),
  whole: z.boolean(),
  set: z.record(z.string(), z.unknown()),
  del: z.array(z.string()),
});

/** As a page has them; undefined before the first message. */
function valuesIn(got: readonly Message[], channel: string): Record<string, unknown> | undefined {
  let values: Record<string, unknown> | undefined;
  for (const message of got) {
    const news = valuesSchema.safeParse(message).data;
    if (news?.channel !== channel) continue;
    values = { ...(news.whole ? {} : values), ...news.set };
    for (const key of news.del) Reflect.deleteProperty(values, key);
  }
  return values;
}

/** A client of the board's socket that keeps what it gets. */
export class TestPage {
  readonly got: Message[] = [];
  readonly socket: WebSocket;
  readonly closed: Promise<number>;

  constructor(board: Board, headers: Readonly<Record<string, string>> = {}) {
    this.socket = new WebSocket(`ws://127.0.0.1:${board.port}/socket`, {
      headers: { origin: `http://127.0.0.1:${board.port}`, ...headers },
    });
    this.socket.on('message', (data, isBinary) => {
      if (!isBinary && Buffer.isBuffer(data)) this.got.push(messageSchema.parse(JSON.parse(data.toString())));
    });
    this.closed = new Promise((resolve) => this.socket.on('close', (code) => resolve(code)));
    onTestFinished(() => this.socket.terminate());
  }

  /** Connected, and greeted with the token. */
  static async open(board: Board, client = 'test'): Promise<TestPage> {
    const page = new TestPage(board);
    await once(page.socket, 'open');
    page.send({ type: 'hello', v: 1, token: await tokenOf(board), client });
    await page.message('welcome');
    return page;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The values of a channel, as soon as they fit. */
  async values(
    channel: string,
    fits: (values: Readonly<Record<string, unknown>>) => boolean = () => true,
  ): Promise<Readonly<Record<string, unknown>>> {
    for (;;) {
      const values = valuesIn(this.got, channel);
      if (values !== undefined && fits(values)) return values;
      await once(this.socket, 'message');
    }
  }

  /** The newest message of this type that fits, once it is there. */
  async message(type: string, fits: (message: Message) => boolean = () => true): Promise<Message> {
    for (;;) {
      const found = this.got.findLast((message) => message.type === type && fits(message));
      if (found !== undefined) return found;
      await once(this.socket, 'message');
    }
  }
}
