import { headBytes } from '../../base/text/text.js';
import { printedText, type CommandEnd } from '../../claude/command-outcome.js';
import type { CommandRun, Receipt } from './receipt.js';

/** The last ones are listed; all are counted. */
const MAX_COMMANDS = 300;
const MAX_COMMAND_BYTES = 1_000;
const MAX_OUTPUT_CHARS = 1_000;

/** The commands that a task ran. */
export class CommandRuns {
  readonly #runs: CommandRun[] = [];
  #total = 0;
  #failed = 0;

  ran(line: string, end: CommandEnd): void {
    const { exitCode, note } = end;
    this.#total++;
    if ((exitCode !== null && exitCode !== 0) || note === 'failed') this.#failed++;
    this.#runs.push({
      command: headBytes(line, MAX_COMMAND_BYTES),
      exit_code: exitCode,
      ...(note !== undefined && { note }),
      ...printed(end),
    });
    if (this.#runs.length > MAX_COMMANDS) this.#runs.shift();
  }

  /** What only the journal has: the end of a command in the background, and the output of one that the session's end cut off. */
  ended(line: string, end: CommandEnd): void {
    const command = headBytes(line, MAX_COMMAND_BYTES);
    const at = this.#runs.findLastIndex((run) => run.command === command && run.output === undefined);
    const run = this.#runs[at];
    if (run === undefined) return;
    const { note: _before, ...known } = run;
    const isKnown = known.exit_code !== null;
    if (!isKnown && end.exitCode !== null && end.exitCode !== 0) this.#failed++;
    this.#runs[at] = {
      ...known,
      exit_code: known.exit_code ?? end.exitCode,
      ...(!isKnown && end.note !== undefined && { note: end.note }),
      ...printed(end),
    };
  }

  result(): Pick<Receipt, 'commands' | 'commands_total' | 'commands_failed'> {
    return { commands: this.#runs, commands_total: this.#total, commands_failed: this.#failed };
  }
}

function printed(end: CommandEnd): { readonly output?: string } {
  const output = printedText({ ...end, output: end.output.trimStart() }, MAX_OUTPUT_CHARS);
  return output === '' ? {} : { output };
}
