// Pure: the checks of a task, after each turn with which its agent says that it is done.
import { allLines, CHECKS_TOOL, type CheckWork } from '../../checks/allowed-checks.js';
import {
  isMet,
  isNotYet,
  isSameFailure,
  metWords,
  notRun,
  resultWords,
  unknownYet,
  unmetMessage,
  type CheckRun,
} from '../../checks/result.js';
import { toDisposable } from '../../base/lifecycle.js';
import { countedNoun } from '../../base/text.js';
import type { RunMessages } from './run-messages.js';
import type { RunRequests } from './run-requests.js';
import type { RunState } from './run-state.js';

const NOT_ALLOWED = 'no person allowed it';
const WAITS = 'it has not run yet';
const ENDED_FIRST = 'the task ended first';

export class RunChecks {
  readonly #run: RunState;
  readonly #requests: RunRequests;
  readonly #messages: RunMessages;
  #isAllowed: boolean | undefined;
  #last: CheckRun | undefined;

  constructor(run: RunState, requests: RunRequests, messages: RunMessages) {
    this.#run = run;
    this.#requests = requests;
    this.#messages = messages;
  }

  /** A turn begins: what the checks found holds no more. */
  turnStarted(): void {
    const { record, parts } = this.#run;
    const { checked } = record;
    if (parts.checks === undefined || checked === undefined || isNotYet(checked)) return;
    this.#run.changed({ checked: unknownYet(parts.checks.checks, checked.rounds) });
  }

  /**
   * Runs the checks after a turn. True when what was not met went back to the session, or when the session has gone on or is over
   * meanwhile: then nothing follows from the turn any more.
   */
  async afterTurn(): Promise<boolean> {
    const run = this.#run;
    const { checks: work } = run.parts;
    if (work === undefined) return false;
    run.enter({ at: 'checking' });
    const { phase } = run;
    run.settle('exact');
    const found = await this.#found(work);
    if (run.phase !== phase) return true;
    const stopped = this.#whyStopped(found, work.untilMet);
    const checked = stopped === undefined ? found : { ...found, stopped };
    this.#last = checked;
    run.changed({ checked });
    const lines = [metWords(checked), ...checked.results.map(resultWords)];
    run.story.tell('checks', { ...checked }, lines.join('\n'));
    if (stopped !== undefined || isMet(checked) || work.untilMet === 0) return false;
    const rounds = checked.rounds + 1;
    run.changed({ checked: { ...checked, rounds } });
    run.story.noticed(`What was not met goes back to the session: round ${rounds} of ${work.untilMet}`);
    this.#messages.add(unmetMessage(checked));
    return true;
  }

  /** What is known is in the record at each moment, until the task ends or its session goes on. */
  async #found(work: CheckWork): Promise<CheckRun> {
    const run = this.#run;
    const { checks, toAsk } = work;
    const { rounds = 0 } = run.record.checked ?? {};
    const stopping = new AbortController();
    const { signal } = stopping;
    let results = notRun(checks, WAITS);
    const show = (known: CheckRun['results']): void => {
      if (signal.aborted) return;
      results = results.map((one) => known.find(({ name }) => name === one.name) ?? one);
      run.changed({ checked: { results, rounds } });
    };
    run.duringPhase(
      toDisposable(() => {
        // What has not run by now never will.
        const left = checks.filter((_, at) => results[at]?.why === WAITS);
        if (left.length > 0) show(notRun(left, ENDED_FIRST));
        stopping.abort();
      }),
    );
    show([]);
    const held = toAsk.length === 0 || (await this.#allowed(work)) ? [] : toAsk;
    show(notRun(held, NOT_ALLOWED));
    const mayRun = checks.filter((check) => !held.includes(check));
    const facts = await work.run(mayRun, signal, {
      onBegin: ({ name, command }) => run.act(`Check ${name}: ${command}`),
      onEnd: (result) => show([result]),
    });
    return { ...facts, results, rounds };
  }

  /** Asked once for a task: the same commands run after each turn. */
  async #allowed({ toAsk, why }: CheckWork): Promise<boolean> {
    const request = {
      requestId: 'checks',
      kind: 'permission',
      tool: CHECKS_TOOL,
      input: Object.fromEntries(toAsk.map((check, at) => [`${at + 1} ${check.name}`, allLines(check)])),
      summary: `Run ${countedNoun(toAsk.length, 'check')} of this task`,
      options: ['allow', 'deny'],
      source: 'exact',
    } as const;
    const asked = `${why} The caller cannot allow it: ask the user.`;
    return (this.#isAllowed ??= await this.#requests.askPerson(request, asked));
  }

  /** Why nothing goes back any more, where something could. */
  #whyStopped(run: CheckRun, untilMet: number): string | undefined {
    const before = this.#last;
    const { tree, rounds, results } = run;
    if (isMet(run) || untilMet === 0) return undefined;
    if (results.every(({ verdict }) => verdict !== 'not met')) return 'no check ran and failed';
    if (tree !== undefined && tree === before?.tree && isSameFailure(run, before))
      return 'the same checks failed again, and no file had changed';
    return rounds < untilMet ? undefined : `it went back ${countedNoun(rounds, 'time')}`;
  }
}
