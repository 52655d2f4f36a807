import { headBytes } from '../../base/text/text.js';
import { IN_BACKGROUND, printedText, type CommandEnd } from '../../claude/command-outcome.js';
import type { CommandRun, Receipt } from './receipt.js';

/** The last ones are listed; all are counted. */
const MAX_COMMANDS = 300;
const MAX_COMMAND_BYTES = 1_000;
const MAX_OUTPUT_CHARS = 1_000;
const UNSEEN = 'ran in the background, and its end was not seen';

/** The commands that a task ran. */
export class CommandRuns {
  readonly #runs: { readonly id: string | undefined; run: CommandRun }[] = [];
  #total = 0;
  #failed = 0;

  ran(id: string | undefined, line: string, end: CommandEnd): void {
    this.#total++;
    if (isFailed(end.exitCode)) this.#failed++;
    this.#runs.push({ id, run: { command: headBytes(line, MAX_COMMAND_BYTES), ...shown(end) } });
    if (this.#runs.length > MAX_COMMANDS) this.#runs.shift();
  }

  /** A command in the background has ended, or was cut off with what it had printed. */
  ended(id: string, end: CommandEnd): void {
    const known = this.#runs.find((one) => one.id === id);
    if (known === undefined) return;
    if (isFailed(end.exitCode)) this.#failed++;
    known.run = { command: known.run.command, ...shown(end) };
  }

  result(): Pick<Receipt, 'commands' | 'commands_total' | 'commands_failed'> {
    const commands = this.#runs.map(({ run }) =>
      run.note === IN_BACKGROUND ? { ...run, note: UNSEEN } : run,
    );
    return { commands, commands_total: this.#total, commands_failed: this.#failed };
  }
}

function isFailed(exitCode: number | null): boolean {
  return exitCode !== null && exitCode !== 0;
}

function shown(end: CommandEnd): Omit<CommandRun, 'command'> {
  const output = printedText({ ...end, output: end.output.trimStart() }, MAX_OUTPUT_CHARS);
  return {
    exit_code: end.exitCode,
    ...(end.note !== undefined && { note: end.note }),
    ...(output !== '' && { output }),
  };
}
