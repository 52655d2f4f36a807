import type { Clock } from '../../src/base/clock.js';
import { messageOf } from '../../src/base/errors.js';
import type { Logger } from '../../src/base/logger.js';
import { oneLine } from '../../src/base/text/text.js';

const MAX_LINE_CHARS = 2_000;

/** Writes lines with their time into the output channel. */
export function outputLog(append: (line: string) => void, clock: Clock): Logger {
  const at =
    (level: string) =>
    (message: string, fields?: Readonly<Record<string, unknown>>): void =>
      append(
        `[${new Date(clock.now()).toISOString()}] ${level}${oneLine(text(message, fields), MAX_LINE_CHARS)}`,
      );
  return { debug: at(''), info: at(''), warn: at('Warning: '), error: at('Error: ') };
}

function text(message: string, fields: Readonly<Record<string, unknown>> | undefined): string {
  if (fields === undefined) return message;
  return `${message} ${JSON.stringify(fields, (_key, value: unknown) => (value instanceof Error ? messageOf(value) : value))}`;
}
