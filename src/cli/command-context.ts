import type { Command } from 'commander';
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text/text.js';
import type { StandardOutput } from './standard-output.js';

const SHOWN_CHARS = 40;

/** What the commands are run with. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly serverEntry: string;
  readonly keeperEntry: string;
  readonly boardEntry: string;
  /** How a person runs this program. */
  readonly command: string;
  readonly output: StandardOutput;
  readonly exitWith: (code: number) => void;
}

/** The settings file that the command line names. */
export function configPath(program: Command): string | undefined {
  return program.opts<{ config?: string }>().config;
}

/** The value of an option in US dollars, from a cent on. Throws INVALID_ARGUMENTS. */
export function cents(option: string, text: string): number {
  const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : NaN;
  return value >= 0.01 ? value : wrong(`${option} must be a number of US dollars from 0.01 on`, text);
}

/** The value of an option. Throws INVALID_ARGUMENTS. */
export function wholeNumber(option: string, text: string, min: number, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  return wrong(`${option} must be a whole number from ${min} to ${max}`, text);
}

function wrong(what: string, text: string): never {
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `${what} (got '${oneLine(text, SHOWN_CHARS)}').`,
    'Correct the number.',
  );
}
