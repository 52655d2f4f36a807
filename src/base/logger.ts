import { messageOf } from './errors.js';
import type { Clock } from './clock.js';
import { systemClock } from './system-clock.js';
import { oneLine } from './text.js';

/** Least to most important; a logger writes its own level and those after it. */
const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The level that `text` names, else `info`. */
export function logLevelOf(text: string | undefined): LogLevel {
  return logLevels.find((level) => level === text) ?? 'info';
}

/** Details of a message, shown as JSON after it. An Error is shown with its stack. */
type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Short enough that one line cannot bury the others. */
const MAX_MESSAGE_CHARS = 2_000;
/** Room for a stack of twenty frames. */
const MAX_FIELDS_CHARS = 6_000;
/** The most memory spent on a client that does not read our stderr; later lines are dropped and counted. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/**
 * Writes each message as one line `[time] [LEVEL] message {fields}` to stderr; stdout belongs to the protocol. Neither throws nor
 * waits: when stderr is closed or not read, only log lines are lost.
 */
export function createStderrLogger(
  level: LogLevel,
  write: (line: string) => void = stderrWriter(process.stderr),
  clock: Clock = systemClock,
): Logger {
  const at = (own: LogLevel): ((message: string, fields?: LogFields) => void) =>
    logLevels.indexOf(own) < logLevels.indexOf(level)
      ? ignore
      : (message, fields) => write(`${logLine(clock.now(), own, message, fields)}\n`);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** The part of a stream that the logger needs. */
interface LogStream {
  readonly writableLength: number;
  write(text: string): boolean;
  on(event: 'error', listener: () => void): unknown;
}

/** A writer that survives a stream that is closed, broken or never read. */
export function stderrWriter(stream: LogStream): (line: string) => void {
  let dropped = 0;
  // Without a listener, EPIPE from a client that closed its end would crash the process.
  stream.on('error', ignore);
  return (line) => {
    if (stream.writableLength > MAX_UNREAD_BYTES) {
      dropped += 1;
      return;
    }
    try {
      if (dropped > 0) stream.write(`(${dropped} log lines were dropped: stderr was not read)\n`);
      dropped = 0;
      stream.write(line);
    } catch {
      // A full non-blocking descriptor (EAGAIN) or a destroyed stream: dropping the line is enough.
      dropped += 1;
    }
  };
}

/** A writer that stops at `maxBytes`, with a last line that says so: for a file that nobody shortens. */
export function boundedWriter(write: (line: string) => void, maxBytes: number): (line: string) => void {
  let left = maxBytes;
  return (line) => {
    if (left <= 0) return;
    left -= Buffer.byteLength(line);
    write(left > 0 ? line : `(the log ends here: it has ${maxBytes} bytes)\n`);
  };
}

function logLine(nowMs: number, level: LogLevel, message: string, fields: LogFields | undefined): string {
  const head = `[${new Date(nowMs).toISOString()}] [${level.toUpperCase()}] ${shown(message, MAX_MESSAGE_CHARS)}`;
  return fields === undefined ? head : `${head} ${shown(fieldsText(fields), MAX_FIELDS_CHARS)}`;
}

/** Cut before escaping, so that a message of megabytes is not escaped as a whole. */
function shown(text: string, maxChars: number): string {
  return oneLine(text.slice(0, maxChars + 1), maxChars);
}

function fieldsText(fields: LogFields): string {
  try {
    return JSON.stringify(fields, (_key, value: unknown) => {
      if (value instanceof Error) return value.stack ?? value.message;
      return typeof value === 'bigint' ? value.toString() : value;
    });
  } catch (error) {
    return `{"unshowable":${JSON.stringify(messageOf(error))}}`;
  }
}

function ignore(): void {
  // Intentionally empty: for silent levels, and for errors of a stream that is not read.
}
