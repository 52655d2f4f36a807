import { headBytes, oneLine } from '../../base/text/text.js';
import { printedText, type CommandEnd } from '../../claude/command-outcome.js';
import { UNFINISHED } from '../../claude/transcript-facts.js';
import { testRunOf } from './receipt-tests.js';
import type { CommandRun, Receipt, TestRun } from './receipt.js';

/** The last ones are listed; all are counted. */
const MAX_COMMANDS = 300;
const MAX_TESTS = 50;
const MAX_COMMAND_BYTES = 1_000;
const MAX_OUTPUT_CHARS = 1_000;
const SUMMARY_CHARS = 300;

/** A command of a task, from its begin on. */
interface Run {
  /** Whole, to tell of which test run it is. */
  readonly line: string;
  shown: CommandRun;
}

/** The commands that a task ran, and the test runs among them. */
export class CommandRuns {
  readonly #runs: Run[] = [];
  readonly #tests: Run[] = [];
  #total = 0;
  #failed = 0;

  ran(line: string, end: CommandEnd): void {
    const { exitCode, note } = end;
    this.#total++;
    if ((exitCode !== null && exitCode !== 0) || note === 'failed') this.#failed++;
    const shown = {
      command: headBytes(line, MAX_COMMAND_BYTES),
      exit_code: exitCode,
      ...(note !== undefined && { note }),
      ...printed(end),
    };
    const run: Run = { line, shown: { ...shown, ...testsOf(line, end) } };
    this.#runs.push(run);
    if (this.#runs.length > MAX_COMMANDS) this.#runs.shift();
    this.#keepTest(run);
  }

  /** What only the journal has: the end of a command in the background, and the output of one that the session's end cut off. */
  ended(line: string, end: CommandEnd): void {
    const command = headBytes(line, MAX_COMMAND_BYTES);
    const run = this.#runs.findLast(({ shown }) => shown.command === command && shown.output === undefined);
    if (run === undefined) return;
    const { note: _before, ...known } = run.shown;
    const isKnown = known.exit_code !== null;
    if (!isKnown && end.exitCode !== null && end.exitCode !== 0) this.#failed++;
    const exitCode = known.exit_code ?? end.exitCode;
    run.shown = {
      ...known,
      exit_code: exitCode,
      ...(!isKnown && end.note !== undefined && { note: end.note }),
      ...printed(end),
      ...testsOf(run.line, { ...end, exitCode }),
    };
    this.#keepTest(run);
  }

  result(): Pick<Receipt, 'commands' | 'commands_total' | 'commands_failed' | 'tests'> {
    return {
      commands: this.#runs.map(({ shown }) => shown),
      commands_total: this.#total,
      commands_failed: this.#failed,
      tests: this.#tests.flatMap(({ shown: { command, tests } }) =>
        tests === undefined ? [] : { command: oneLine(command, SUMMARY_CHARS), ...tests },
      ),
    };
  }

  #keepTest(run: Run): void {
    if (run.shown.tests === undefined || this.#tests.includes(run)) return;
    this.#tests.push(run);
    if (this.#tests.length > MAX_TESTS) this.#tests.shift();
  }
}

function printed(end: CommandEnd): { readonly output?: string } {
  const output = printedText({ ...end, output: end.output.trimStart() }, MAX_OUTPUT_CHARS);
  return output === '' ? {} : { output };
}

/** What was cut off tells nothing of its tests. */
function testsOf(line: string, { exitCode, note, output }: CommandEnd): { readonly tests?: TestRun } {
  if (exitCode === null && note === UNFINISHED.note) return {};
  const tests = testRunOf(line, exitCode, output);
  return tests === undefined ? {} : { tests };
}
