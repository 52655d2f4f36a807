import { stripVTControlCharacters } from 'node:util';
import { withinMs } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { Emitter, DisposableStore } from '../../base/lifecycle.js';
import { oneLine } from '../../base/text.js';
import type { Child, OutputStream, SpawnPiped } from '../../pty/child.js';
import { spawnPiped } from '../../pty/spawn-piped.js';
import { printArguments, type LaunchOptions } from '../launch.js';
import type {
  DriverOptions,
  ExitStatus,
  ScreenView,
  SendResult,
  SessionAnswer,
  SessionDriver,
  SessionEvent,
  SessionGuard,
  SessionUsage,
} from '../session.js';
import { SIZE } from '../session-terminal.js';
import { usageSince } from '../usage.js';
import { GuardedCalls, permissionAnswer } from '../tool-requests.js';
import {
  controlRequest,
  controlResponse,
  GET_USAGE,
  INITIALIZE,
  INTERRUPT,
  refusalResponse,
  userMessage,
} from './control-messages.js';
import { readCommandOutput } from '../command-output.js';
import { LineReader, TextTail } from './printed-text.js';
import { parseStreamLine } from './stream-line.js';
import { StreamTranslator } from './stream-translator.js';

/** The CLI exits 50 ms after the end of its input; one that still runs by then is stuck. */
const CLOSE_GRACE_MS = 10_000;
/** After the program's end, how long a child of it may keep the output open, both before and after it is killed. */
const DRAIN_MS = 2_000;
/** The first line comes after 0.7 to 1.4 s on a busy machine; after this time its absence is reported. */
const SILENT_START_MS = 30_000;
/** How long a call waits for a program that reads slowly. */
const WRITE_LIMIT_MS = 10_000;
/** The answer comes within 50 ms; of an account with a plan Claude Code may ask the API for its limits before. */
const USAGE_LIMIT_MS = 10_000;
const NOTHING_USED: SessionUsage = { models: {}, costUsd: 0 };
/** Enough of stderr to show the cause. */
const STDERR_NOTICE_CHARS = 1_000;

export interface PrintDriverOptions extends LaunchOptions, DriverOptions {
  readonly prompt: string;
  /** Starts the program; by default on this machine. */
  readonly spawnPiped?: SpawnPiped | undefined;
  readonly guard: SessionGuard;
}

/**
 * Drives `claude -p` over pipes: the prompt, follow-ups and answers go in as stream-json, and events come out. A program that is not
 * the CLI works too: its text is shown, and its exit code ends the session.
 */
export class PrintDriver implements SessionDriver {
  readonly #options: PrintDriverOptions;
  readonly #owned = new DisposableStore();
  readonly #events = this.#owned.add(new Emitter<SessionEvent>());
  readonly onEvent = this.#events.event;
  readonly #translator: StreamTranslator;
  readonly #calls: GuardedCalls;
  readonly #readers = {
    stdout: this.#reader((line) => this.#onLine(line)),
    stderr: this.#reader((line) => this.#onStderr(line)),
  };
  readonly #shown = new TextTail();
  readonly #stderr = new TextTail();
  /** Lines of other programs that are not reported yet. */
  readonly #printed: string[] = [];
  readonly #exited: Promise<void>;
  #resolveExited: () => void = () => {};
  #program: Child | undefined;
  #exit: ExitStatus | undefined;
  #hasOutput = false;
  #requestCount = 0;
  /** What the session had used before it began. */
  #before: Promise<SessionUsage | undefined> = Promise.resolve(NOTHING_USED);
  readonly #asked = new Map<string, (usage: SessionUsage | undefined) => void>();

  constructor(options: PrintDriverOptions) {
    this.#options = options;
    this.#exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    this.#calls = new GuardedCalls(options.guard, (text) => this.#notice(text));
    this.#translator = new StreamTranslator(options.cwd, {
      onEvent: (event) => {
        if (event.type === 'turn-ended' && options.resume != null) void this.#reportTurn(event);
        else this.#events.fire(event);
      },
      onReadable: (text) => this.#shown.append(`${text}\n`),
      onUnknownRequest: (requestId, subtype) => this.#writeSoon(refusalResponse(requestId, subtype)),
      onHook: (requestId, event) =>
        void this.#calls.output(event).then((output) => this.#writeSoon(controlResponse(requestId, output))),
      readOutput: (path) => readCommandOutput(path, options.sessionId),
      reasonFor: (tool, input) => this.#calls.takeReason(tool, input),
    });
  }

  async start(): Promise<void> {
    const { command, cwd, env, prompt, clock, resume, spawnPiped: spawn = spawnPiped } = this.#options;
    const words = [...command, ...printArguments(this.#options)];
    const write = (stream: OutputStream, bytes: Uint8Array): undefined => this.#onBytes(stream, bytes);
    try {
      this.#program = await spawn({ command: words, cwd, env, sink: { write } });
    } catch (error) {
      this.dispose();
      throw startError(error, command[0] ?? '', cwd);
    }
    const program = this.#program;
    void program.exited.then((exit) => this.#onExit(program, exit));
    this.#events.fire({ type: 'spawned', pid: program.pid });
    this.#owned.add(clock.after(SILENT_START_MS, () => this.#onSilentStart()));
    this.#writeSoon(controlRequest(this.#nextRequestId(), INITIALIZE));
    if (resume != null) this.#before = this.#askUsage(GET_USAGE);
    this.#translator.promptSent(prompt);
    this.#writeSoon(userMessage(prompt));
  }

  async answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'> {
    const asked = this.#translator.takePermission(requestId, answer.verdict);
    if (!asked || this.#exit !== undefined) return 'gone';
    const response = permissionAnswer(asked, answer, asked.input);
    return (await this.#write(controlResponse(requestId, response))) ? 'answered' : 'gone';
  }

  async send(text: string): Promise<SendResult> {
    this.#translator.promptSent(text);
    this.#shown.beginTurn();
    if (!(await this.#write(userMessage(text)))) throw notRunning('A message');
    return 'sent';
  }

  /** A message is counted before its first call is judged. */
  async usage(): Promise<SessionUsage | undefined> {
    // Later messages do not wait for it.
    const usage = await this.#askUsage({ ...GET_USAGE, detached: true });
    const before = await this.#before;
    return usage && before && usageSince(before, usage);
  }

  async #askUsage(request: object): Promise<SessionUsage | undefined> {
    const requestId = this.#nextRequestId();
    const answered = new Promise<SessionUsage | undefined>((resolve) => this.#asked.set(requestId, resolve));
    const isAsked = await this.#write(controlRequest(requestId, request));
    const usage = isAsked ? await withinMs(this.#options.clock, USAGE_LIMIT_MS, answered) : undefined;
    this.#asked.delete(requestId);
    return usage;
  }

  /** Claude Code counts what a session used that this one is a copy of, too (2.1.330, 2.1.332). */
  async #reportTurn(event: Extract<SessionEvent, { type: 'turn-ended' }>): Promise<void> {
    const { usage, ...rest } = event;
    const before = await this.#before;
    this.#events.fire({ ...rest, ...(usage && before && { usage: usageSince(before, usage) }) });
  }

  async interrupt(): Promise<void> {
    if (!(await this.#write(controlRequest(this.#nextRequestId(), INTERRUPT))))
      throw notRunning('An interrupt');
  }

  async close(): Promise<void> {
    if (!this.#program || this.#exit) return;
    this.#program.endInput();
    const left = await withinMs(
      this.#options.clock,
      CLOSE_GRACE_MS,
      this.#exited.then(() => true),
    );
    if (left !== true) await this.kill();
  }

  async kill(): Promise<void> {
    if (this.#program === undefined) return;
    if (this.#exit === undefined) this.#writeSoon(controlRequest(this.#nextRequestId(), INTERRUPT));
    await this.#options.killTree(this.#program.pid);
    await this.#exited;
  }

  async screen(): Promise<ScreenView> {
    // Pipes have no size: it is that of a terminal.
    return { text: this.#shown.lastLines(SIZE.rows), ...SIZE };
  }

  lastOutput(maxChars: number): string {
    return this.#shown.read(maxChars);
  }

  dispose(): void {
    const isRunning = this.#program !== undefined && this.#exit === undefined;
    this.#owned.dispose();
    // Normally the owner has awaited `kill` or `close`; this is for an owner that failed earlier.
    if (isRunning) void this.kill().catch(() => {});
  }

  #reader(onLine: (line: string) => void): LineReader {
    return new LineReader(onLine, (chars) =>
      this.#notice(`A line of ${chars} characters was too long and was skipped.`),
    );
  }

  #onBytes(stream: OutputStream, chunk: Uint8Array): undefined {
    this.#hasOutput = true;
    (stream === 'stdout' ? this.#readers.stdout : this.#readers.stderr).push(chunk);
    this.#reportPrinted();
    this.#events.fire({ type: 'output', bytes: chunk.length });
  }

  #onLine(line: string): void {
    const read = line.startsWith('{') ? parseStreamLine(line) : undefined;
    if (read === undefined) return this.#onPrinted(line);
    const asked = read.type === 'control_response' ? this.#asked.get(read.response.request_id) : undefined;
    if (read.type !== 'control_response' || asked === undefined) return this.#translator.accept(read);
    const session = read.response.response?.session;
    asked(session && { models: session.model_usage, costUsd: session.total_cost_usd });
  }

  #onStderr(line: string): void {
    this.#stderr.append(`${line}\n`);
    this.#onPrinted(line);
  }

  #onPrinted(line: string): void {
    const text = stripVTControlCharacters(line);
    this.#shown.append(`${text}\n`);
    this.#printed.push(text);
  }

  #reportPrinted(): void {
    const lines = this.#printed.splice(0);
    if (lines.length > 0) this.#events.fire({ type: 'printed', lines });
  }

  async #onExit(program: Child, exit: ExitStatus): Promise<void> {
    const { clock, killTree } = this.#options;
    const closed = program.closed.then(() => true);
    if (!(await withinMs(clock, DRAIN_MS, closed))) {
      this.#notice(
        'The program has ended, but a process that it started keeps its output open. That process is ended now.',
      );
      await killTree(program.pid).catch((error: unknown) => this.#notice(messageOf(error)));
      await withinMs(clock, DRAIN_MS, closed);
      program.dispose();
    }
    this.#readers.stdout.end();
    this.#readers.stderr.end();
    this.#reportPrinted();
    const said = this.#stderr.read(STDERR_NOTICE_CHARS);
    if (exit.code !== 0 && said !== '')
      this.#events.fire({ type: 'notice', text: `stderr: ${oneLine(said, STDERR_NOTICE_CHARS)}` });
    this.#exit = exit;
    this.#translator.withdrawAll('the session ended');
    for (const resolve of this.#asked.values()) resolve(undefined);
    this.#resolveExited();
    this.#events.fire({ type: 'exited', exit });
  }

  #onSilentStart(): void {
    if (this.#hasOutput || this.#exit !== undefined) return;
    this.#notice(`No output ${SILENT_START_MS / 1000} s after the start.`);
  }

  /** False when the program is gone; waits while its pipe is full. */
  async #write(line: string): Promise<boolean> {
    const program = this.#program;
    if (program === undefined || program.write(line) !== 'taken') return false;
    // A line that is still queued reaches a slow program later.
    return (await withinMs(this.#options.clock, WRITE_LIMIT_MS, program.flushed())) ?? true;
  }

  /** Writes without waiting: a program that is gone needs no answer. */
  #writeSoon(line: string): void {
    void this.#write(line);
  }

  #notice(text: string): void {
    this.#shown.append(`· ${text}\n`);
    this.#events.fire({ type: 'notice', text });
  }

  #nextRequestId(): string {
    return `bridge-${++this.#requestCount}`;
  }
}

function startError(error: unknown, program: string, cwd: string): BridgeError {
  if (error instanceof BridgeError) return error;
  return new BridgeError(
    'TASK_START_FAILED',
    `The command '${program}' could not be started in ${cwd}: ${messageOf(error)}`,
    'Check that the directory exists and the program runs there.',
    { cause: error },
  );
}

function notRunning(what: string): BridgeError {
  return new BridgeError(
    'TASK_NOT_RUNNING',
    `${what} could not be sent: the session has ended or its input is closed.`,
    [{ do: 'screen' }, { do: 'start' }],
  );
}
