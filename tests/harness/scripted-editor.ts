import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { createSecret } from '../../src/base/ids.js';
import { newEditorId, editorFile, writeEditorWindow, type EditorWindow } from '../../src/editor/discovery.js';
import {
  editorRequestSchema,
  type EditorExecution,
  type EditorMessage,
  type EditorRequest,
  type EditorRequestOf,
  type EditorTerminal,
} from '../../src/editor/protocol.js';
import { ownIdentity } from '../../src/store/process-identity.js';
import { portOf } from './listening.js';
import type { TestBridge } from './start-bridge.js';

const KEPT_CHARS = 100_000;
const DEFAULT_CHARS = 32 * 1024;

/** What a window answers to one request in place of what it should: text is sent as it is, null is silence. */
type Fault = (request: EditorRequest, socket: WebSocket) => EditorMessage | string | null | undefined;

export interface ScriptedEditorOptions {
  readonly statePath: string;
  readonly folders: readonly string[];
  readonly trusted?: boolean;
  /** Of the discovery file. */
  readonly changes?: Partial<EditorWindow>;
  /** What a command does in its terminal; one that is not here waits for the test. */
  readonly commands?: Readonly<Record<string, (terminal: ScriptedTerminal) => void>>;
  /** True for an editor that does not close what it is told to. */
  readonly keepsTerminals?: boolean;
  /** What comes of what is typed. */
  readonly typed?: (terminal: ScriptedTerminal, text: string) => void;
  /** Undefined answers as it should. */
  readonly fault?: Fault;
  /** The status that refuses every connection. */
  readonly refuse?: number;
}

/** A terminal of a window that no editor shows. */
export class ScriptedTerminal {
  readonly facts: Pick<EditorTerminal, 'terminalId' | 'terminalName' | 'createdBy' | 'cwd' | 'shell'>;
  #output = '';
  #dropped = 0;
  execution: EditorExecution | null = null;
  readonly #waiting = new Set<() => void>();
  readonly #send: (message: EditorMessage) => void;

  constructor(facts: ScriptedTerminal['facts'], send: (message: EditorMessage) => void) {
    this.facts = facts;
    this.#send = send;
  }

  get end(): number {
    return this.#dropped + this.#output.length;
  }

  get state(): 'idle' | 'busy' {
    return this.execution?.state === 'running' ? 'busy' : 'idle';
  }

  print(text: string): void {
    this.#output += text;
    const surplus = Math.max(0, this.#output.length - KEPT_CHARS);
    this.#output = this.#output.slice(surplus);
    this.#dropped += surplus;
    this.#wake();
  }

  begin(id: string): EditorExecution {
    const { end } = this;
    return (this.execution = {
      id,
      state: 'running',
      exitCode: null,
      timedOut: false,
      from: end,
      cursor: end,
    });
  }

  /** What runs has ended. */
  finish(exitCode: number | null, timedOut = false): void {
    if (this.execution === null) throw new Error('nothing runs');
    this.execution = { ...this.execution, state: 'ended', exitCode, timedOut, cursor: this.end };
    const { id, from, cursor } = this.execution;
    const { terminalId } = this.facts;
    this.#send({ type: 'execution_ended', id, terminalId, exitCode, timedOut, from, cursor });
    this.#wake();
  }

  read({ id, cursor, maxChars = DEFAULT_CHARS }: EditorRequestOf<'read_output'>): EditorMessage {
    const asked = cursor ?? this.end - maxChars;
    const from = Math.min(Math.max(asked, this.#dropped), this.end);
    const text = this.#output.slice(from - this.#dropped, from - this.#dropped + maxChars);
    return {
      type: 'output',
      id,
      terminalId: this.facts.terminalId,
      text,
      from,
      cursor: from + text.length,
      dropped: cursor === undefined ? 0 : Math.max(0, from - cursor),
      more: from + text.length < this.end,
      state: this.state,
      execution: this.execution,
    };
  }

  /** Until it prints or its command ends. */
  async news(limitMs: number): Promise<void> {
    const over = new AbortController();
    const heard = new Promise<void>((resolve) => this.#waiting.add(resolve));
    await Promise.race([heard, pause(limitMs, undefined, { signal: over.signal }).catch(() => undefined)]);
    over.abort();
  }

  describe(): EditorTerminal {
    return {
      ...this.facts,
      createdAt: '2026-11-25T12:00:00.000Z',
      pid: 4711,
      state: this.state,
      queued: 0,
      cursor: this.end,
      execution: this.execution,
    };
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** A window without an editor: it speaks the messages of the extension, and makes the faults that a test asks for. */
export class ScriptedEditor {
  readonly window: EditorWindow;
  readonly terminals = new Map<string, ScriptedTerminal>();
  /** Every request but hello, in order. */
  readonly requests: EditorRequest[] = [];
  /** How the programs called themselves. */
  readonly clients: string[] = [];
  readonly #options: ScriptedEditorOptions;
  readonly #sockets: WebSocketServer;
  readonly #close: () => Promise<void>;

  private constructor(
    window: EditorWindow,
    options: ScriptedEditorOptions,
    sockets: WebSocketServer,
    close: () => Promise<void>,
  ) {
    this.window = window;
    this.#options = options;
    this.#sockets = sockets;
    this.#close = close;
    sockets.on('connection', (socket: WebSocket, request: IncomingMessage) =>
      this.#connected(socket, request),
    );
  }

  static async start(options: ScriptedEditorOptions): Promise<ScriptedEditor> {
    const http = createServer();
    const sockets = new WebSocketServer({
      server: http,
      verifyClient: (_info, done) => done(options.refuse === undefined, options.refuse),
    });
    const port = await portOf(http);
    const window = {
      v: 1 as const,
      id: newEditorId(),
      version: '0.1.0',
      editor: 'Visual Studio Code 1.100.3',
      port,
      token: createSecret(),
      owner: await ownIdentity(),
      folders: [...options.folders],
      trusted: options.trusted ?? true,
      started_at: new Date().toISOString(),
      ...options.changes,
    };
    await writeEditorWindow(window, options.statePath);
    return new ScriptedEditor(window, options, sockets, async () => {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise<void>((resolve) => http.close(() => resolve()));
      await rm(editorFile(window.id, options.statePath), { force: true });
    });
  }

  /** How many programs are connected. */
  get connections(): number {
    return this.#sockets.clients.size;
  }

  /** The only terminal, or the one with that id. */
  terminal(id?: string): ScriptedTerminal {
    const terminal = id === undefined ? [...this.terminals.values()].at(-1) : this.terminals.get(id);
    if (terminal === undefined) throw new Error(`no terminal ${id}`);
    return terminal;
  }

  /** As made by another program. */
  addTerminal(terminalId: string, cwd: string | null): ScriptedTerminal {
    const facts = { terminalId, terminalName: 'Terminal', createdBy: 'other', cwd, shell: '/bin/bash' };
    const terminal = new ScriptedTerminal(facts, (message) => this.broadcast(message));
    this.terminals.set(terminalId, terminal);
    return terminal;
  }

  broadcast(message: EditorMessage): void {
    for (const socket of this.#sockets.clients) socket.send(JSON.stringify(message));
  }

  /** The person, or what `by` says, closes a terminal. */
  closeTerminal(id: string, by: 'person' | 'shell' | 'program' = 'person'): void {
    this.terminals.delete(id);
    this.broadcast({ type: 'terminal_closed', terminalId: id, by, exitCode: null });
  }

  /** Breaks every connection. */
  breakConnections(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  dispose(): Promise<void> {
    return this.#close();
  }

  #connected(socket: WebSocket, { headers }: IncomingMessage): void {
    if (headers.authorization !== `Bearer ${this.window.token}` || headers.origin !== undefined)
      throw new Error('the bridge shows its token, and no origin');
    socket.on('error', () => socket.terminate());
    socket.on('message', (data: Buffer) => void this.#received(socket, data.toString('utf8')));
  }

  async #received(socket: WebSocket, text: string): Promise<void> {
    const request = editorRequestSchema.parse(JSON.parse(text));
    if (request.type !== 'hello') this.requests.push(request);
    const fault = this.#options.fault?.(request, socket);
    if (fault === null) return;
    const answer = fault ?? (await this.#answer(request));
    if (answer !== undefined) socket.send(typeof answer === 'string' ? answer : JSON.stringify(answer));
    if (request.type === 'execute' && fault === undefined)
      this.#options.commands?.[request.command]?.(this.terminal(request.terminalId));
  }

  async #answer(request: EditorRequest): Promise<EditorMessage | undefined> {
    const { id } = request;
    switch (request.type) {
      case 'hello': {
        this.clients.push(request.client);
        const { folders, trusted, version } = this.window;
        return { type: 'welcome', id, v: 1, version, trusted, folders };
      }
      case 'list_terminals': {
        const terminals = [...this.terminals.values()].map((one) => one.describe());
        return { type: 'terminals', id, terminals };
      }
      case 'create_terminal':
        return this.#create(request);
      case 'execute':
        return this.#execute(request);
      case 'read_output': {
        const terminal = this.terminals.get(request.terminalId);
        if (terminal === undefined) return notFound(id);
        const isNew = request.cursor !== undefined && terminal.end > request.cursor;
        if (request.waitMs !== undefined && !isNew && terminal.state === 'busy')
          await terminal.news(request.waitMs);
        return terminal.read(request);
      }
      case 'input': {
        const terminal = this.terminals.get(request.terminalId);
        if (terminal === undefined) return notFound(id);
        this.#options.typed?.(terminal, request.text);
        return { type: 'success', id, terminalId: request.terminalId };
      }
      case 'close_terminal':
        if (!this.terminals.has(request.terminalId)) return notFound(id);
        // As in VS Code: it goes a moment after the answer.
        if (this.#options.keepsTerminals !== true)
          setImmediate(() => this.closeTerminal(request.terminalId, 'program'));
        return { type: 'success', id, terminalId: request.terminalId };
      default:
        throw new Error(`the bridge sends no ${request.type}`);
    }
  }

  #create({ id, name = 'Terminal', cwd, shell }: EditorRequestOf<'create_terminal'>): EditorMessage {
    if (shell === 'no-such-shell') {
      const error = 'There is no terminal profile and no program "no-such-shell".';
      return { type: 'error', id, code: 'SHELL_NOT_FOUND', error, hint: 'Use bash.' };
    }
    const createdBy = this.clients.at(-1) ?? '';
    const facts = {
      terminalId: id,
      terminalName: `${name} (${createdBy})`,
      createdBy,
      cwd: cwd ?? null,
      shell: shell ?? '/bin/bash',
    };
    this.terminals.set(id, new ScriptedTerminal(facts, (message) => this.broadcast(message)));
    const { terminalName, shell: used } = facts;
    return { type: 'terminal_created', id, terminalId: id, terminalName, shell: used };
  }

  #execute({ id, terminalId }: EditorRequestOf<'execute'>): EditorMessage {
    const terminal = this.terminals.get(terminalId ?? '');
    if (terminal === undefined) return notFound(id);
    const error = 'A command runs in this terminal.';
    if (terminal.state === 'busy') return { type: 'error', id, code: 'TERMINAL_BUSY', error, hint: 'Wait.' };
    const { from, cursor } = terminal.begin(id);
    return { type: 'success', id, ...(terminalId !== undefined && { terminalId }), from, cursor };
  }
}

/** A window of the bridge's project, in which `npm test` passes; it is closed with the test. */
export async function windowOf({ workplace, project }: TestBridge): Promise<ScriptedEditor> {
  const editor = await ScriptedEditor.start({
    statePath: workplace.stateDir,
    folders: [project],
    commands: {
      'npm test': (terminal) => {
        terminal.print('2 passed\n');
        terminal.finish(0);
      },
    },
  });
  onTestFinished(() => editor.dispose());
  return editor;
}

function notFound(id: string): EditorMessage {
  const error = 'No terminal of this window has that id.';
  return { type: 'error', id, code: 'TERMINAL_NOT_FOUND', error, hint: 'See list_terminals.' };
}
