import { headBytes } from '../../base/text.js';
import { IN_BACKGROUND, shorter, type Printed } from '../../claude/command-outcome.js';
import type { CommandRun, Receipt } from './receipt.js';

/** The last ones are listed; all are counted. */
const MAX_COMMANDS = 300;
const MAX_COMMAND_BYTES = 1_000;
const MAX_OUTPUT_CHARS = 1_000;
const UNSEEN = 'ran in the background, and its end was not seen';

/** How a command ended, as the journal has it. */
type RunEnd = Printed & {
  readonly exit_code?: number | null | undefined;
  readonly note?: string | undefined;
};

/** The commands that a task ran. */
export class CommandRuns {
  readonly #runs: { readonly id: string | undefined; run: CommandRun }[] = [];
  #total = 0;
  #failed = 0;

  /** A call stands once: of one whose end was missed when its turn ended, a subagent may report it later. */
  ran(id: string | undefined, line: string, end: RunEnd): void {
    if (this.ended(id, end)) return;
    this.#total++;
    if (isFailed(end.exit_code)) this.#failed++;
    this.#runs.push({ id, run: { command: headBytes(line, MAX_COMMAND_BYTES), ...shown(end) } });
    if (this.#runs.length > MAX_COMMANDS) this.#runs.shift();
  }

  /** A command in the background has ended, or was cut off with what it had printed. False for one that is not known. */
  ended(id: string | undefined, end: RunEnd): boolean {
    const known = id === undefined ? undefined : this.#runs.find((one) => one.id === id);
    if (known === undefined) return false;
    if (isFailed(end.exit_code) && !isFailed(known.run.exit_code)) this.#failed++;
    known.run = { command: known.run.command, ...shown(end) };
    return true;
  }

  result(): Pick<Receipt, 'commands' | 'commands_total' | 'commands_failed'> {
    const commands = this.#runs.map(({ run }) =>
      run.note === IN_BACKGROUND ? { ...run, note: UNSEEN } : run,
    );
    return { commands, commands_total: this.#total, commands_failed: this.#failed };
  }
}

function isFailed(exitCode: number | null = null): boolean {
  return exitCode !== null && exitCode !== 0;
}

function shown({ exit_code = null, note, output, left_out, kept }: RunEnd): Omit<CommandRun, 'command'> {
  const end = { exit_code, ...(note !== undefined && { note }) };
  const printed = shorter({ output: output.trimStart(), left_out, kept }, MAX_OUTPUT_CHARS);
  return printed.output === '' ? end : { ...end, ...printed };
}
