// Pure: the checks of a task, after each turn with which its agent says that it is done.
import { allLines, CHECKS_TOOL, WARNING, type CheckWork } from '../../checks/allowed-checks.js';
import type { Check } from '../../checks/brief.js';
import {
  isMet,
  isNotYet,
  isSameFailure,
  metWords,
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
    const { checks } = parts;
    const { checked } = record;
    if (checks === undefined || checked === undefined || isNotYet(checked)) return;
    this.#run.changed({ checked: unknownYet(checks.checks, checked.rounds) });
  }

  /**
   * Runs the checks after a turn. True when what was not met went back to the session, or when the session has gone on or is over
   * meanwhile: then nothing follows from the turn any more.
   */
  async afterTurn(): Promise<boolean> {
    const run = this.#run;
    const { checks: work } = run.parts;
    if (work === undefined) return false;
    const stopping = new AbortController();
    run.enter({ at: 'checking' });
    const phase = run.phase;
    run.duringPhase(
      toDisposable(() => {
        stopping.abort();
        this.#leftOut();
      }),
    );
    run.settle('exact');
    const found = await this.#found(work, stopping.signal);
    if (run.phase !== phase) return true;
    const rounds = run.record.checked?.rounds ?? 0;
    const checked = this.#judged({ ...found, rounds }, work.untilMet);
    this.#last = checked;
    run.changed({ checked });
    run.story.tell(
      'checks',
      { ...checked },
      [metWords(checked), ...checked.results.map(resultWords)].join('\n'),
    );
    if (checked.stopped !== undefined || isMet(checked) || rounds >= work.untilMet) return false;
    run.changed({ checked: { ...checked, rounds: rounds + 1 } });
    run.story.noticed(`What was not met goes back to the session: round ${rounds + 1} of ${work.untilMet}`);
    this.#messages.add(unmetMessage(checked));
    return true;
  }

  /** What has not run by now never will: a turn that begins makes all of it new. */
  #leftOut(): void {
    const { checked } = this.#run.record;
    if (checked === undefined || checked.results.every(({ why }) => why !== WAITS)) return;
    const results = checked.results.map((one) => (one.why === WAITS ? { ...one, why: ENDED_FIRST } : one));
    this.#run.changed({ checked: { ...checked, results } });
  }

  async #found(work: CheckWork, signal: AbortSignal) {
    const { checks } = work;
    const { allowed, toAsk, why } = work.mayRun;
    const { rounds = 0 } = this.#run.record.checked ?? {};
    this.#run.changed({ checked: unknownYet(checks, rounds, WAITS) });
    const isAllowed = toAsk.length > 0 && (await this.#allowed(toAsk, why));
    const others = unknownYet(checks, 0, toAsk.length > 0 ? NOT_ALLOWED : why).results;
    const mayRun = isAllowed ? checks : allowed;
    const known = new Map(others.map((one) => [one.name, one]));
    for (const one of unknownYet(mayRun, 0, WAITS).results) known.set(one.name, one);
    const show = (): void => this.#run.changed({ checked: { results: [...known.values()], rounds } });
    show();
    const { results: _shown, ...found } = await work.run(mayRun, signal, {
      onBegin: ({ name, command }) => this.#run.act(`Check ${name}: ${command}`),
      onEnd: (result) => {
        known.set(result.name, result);
        // What is known when the task is killed meanwhile.
        if (!signal.aborted) show();
      },
    });
    return { ...found, results: [...known.values()] };
  }

  /** Asked once for a task: the same commands run after each turn. */
  async #allowed(checks: readonly Check[], why: string): Promise<boolean> {
    const request = {
      requestId: 'checks',
      kind: 'permission',
      tool: CHECKS_TOOL,
      input: Object.fromEntries(checks.map((check, at) => [`${at + 1} ${check.name}`, allLines(check)])),
      summary: `Run ${countedNoun(checks.length, 'check')} of this task`,
      options: ['allow', 'deny'],
      source: 'exact',
    } as const;
    return (this.#isAllowed ??= await this.#requests.askPerson(
      request,
      `${WARNING} ${why} The caller cannot allow it: ask the user.`,
    ));
  }

  /** With why nothing goes back any more, where that is so. */
  #judged(run: CheckRun, untilMet: number): CheckRun {
    const before = this.#last;
    const { tree } = run;
    const canMend = run.results.some(({ verdict }) => verdict === 'not met');
    if (isMet(run) || untilMet === 0) return run;
    if (!canMend) return { ...run, stopped: 'no check ran and failed' };
    const isUnchanged = tree !== undefined && tree === before?.tree && isSameFailure(run, before);
    if (isUnchanged) return { ...run, stopped: 'the same checks failed again, and no file had changed' };
    return run.rounds < untilMet
      ? run
      : { ...run, stopped: `it went back ${countedNoun(run.rounds, 'time')}` };
  }
}
