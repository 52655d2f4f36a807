import { z } from 'zod';
import { oneLine } from '../../base/text/text.js';
import { parseJson } from './messages-api.js';
import { commandText } from '../receipt-text.js';
import type { OpenDecision, ShownReceipt, TaskView } from './follow-task.js';

const LINE_CHARS = 110;

/** What the journal records of a decision. */
const closedDecisionSchema = z.object({
  type: z.literal('decision-closed'),
  summary: z.string(),
  verdict: z.string(),
  answered_by: z.string().nullish(),
  reason: z.string().nullish(),
});

/** What the person at the demo reads. */
export class DemoReport {
  readonly #io: { write(text: string): void };
  readonly #startedMs = performance.now();
  #project = '';

  constructor(io: { write(text: string): void }) {
    this.#io = io;
  }

  line(text: string): void {
    this.#io.write(`${text}\n`);
  }

  begin(): void {
    this.line(
      'A task for Claude Code through claude-code-bridge. The CLI, its tools and the project are real;',
    );
    this.line('only the model is scripted, so no account is needed.');
    this.line('');
  }

  ready({ claude, project }: { readonly claude: string; readonly project: string }): void {
    this.#project = project;
    this.line(`Claude Code  ${claude}`);
    this.line(`Project      ${project} (a git repository whose test fails)`);
  }

  starting(prompt: string): void {
    this.line('');
    this.line(`> start_task    "${prompt}"`);
  }

  started(taskId: string): void {
    this.line(`                ${taskId}, permission mode cautious`);
    this.line('> wait_for_task');
  }

  status(task: TaskView): void {
    const activity = task.activity ?? '';
    const words = activity === '' || activity === task.status ? '' : `  ${activity}`;
    this.#timed(`${task.status.padEnd(9)}${words}`);
  }

  decision(decision: OpenDecision): void {
    this.#timed(`Claude Code asks: ${decision.summary}?`);
    this.line(`> respond_to_task  ${decision.decision_id}: allow`);
  }

  /** What was decided in the task, and by whom, as its journal has it. */
  decisions(journal: string): void {
    this.#heading('What was decided, from the journal (get_task_output, view events)');
    for (const line of journal.split('\n')) {
      // The last line of a page may be cut.
      const closed = closedDecisionSchema.safeParse(parseJson(line)).data;
      if (!closed) continue;
      const by = `by ${closed.answered_by ?? 'no one'}${closed.reason ? `: ${closed.reason}` : ''}`;
      this.line(this.#short(`  ${closed.verdict.padEnd(6)} ${closed.summary}  (${by})`));
    }
  }

  end(task: TaskView): void {
    const message = task.final_message ?? task.last_output ?? '';
    this.line('');
    this.line(`The task's end: ${task.status}. ${task.reason ?? ''}`);
    if (message !== '') this.line(indent(message));
  }

  /** What was seen, as the bridge hands it back. */
  receipt({ commands, git }: ShownReceipt): void {
    this.line('');
    this.line('> get_task_result');
    const list = (name: string, items: readonly string[]): void =>
      this.line(this.#short(`  ${name}: ${items.length === 0 ? 'none' : items.join(', ')}`));
    const counts = ({ insertions = 0, deletions = 0 }) => `(+${insertions} -${deletions})`;
    list(
      'files',
      git.files.map((file) => `${file.path} ${counts(file)}`),
    );
    list('commands', commands.map(commandText));
  }

  diff(diff: string): void {
    this.#heading('What Claude Code changed (git diff)');
    this.line(diff === '' ? '  nothing' : indent(diff.trimEnd()));
  }

  serverLog(text: string): void {
    this.#heading('The server said on stderr');
    this.line(indent(text.trimEnd()));
  }

  cleanedUp(folder: string): void {
    const seconds = ((performance.now() - this.#startedMs) / 1000).toFixed(1);
    this.line('');
    this.line(`Server stopped, ${folder} removed. ${seconds} s in all.`);
  }

  #heading(text: string): void {
    this.line('');
    this.line(`${text}:`);
  }

  #timed(text: string): void {
    const seconds = ((performance.now() - this.#startedMs) / 1000).toFixed(1).padStart(6);
    this.line(this.#short(`  ${seconds} s  ${text}`.trimEnd()));
  }

  /** On one line, and without the long path that every file of the project begins with. */
  #short(text: string): string {
    const near = this.#project === '' ? text : text.replaceAll(`${this.#project}/`, '');
    return oneLine(near, LINE_CHARS);
  }
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
