import type { AskedStep, Call } from './history.js';
import type { FaultyServer } from './faulty-server.js';
import type { OpenQuestion, Recorder } from './recorder.js';

/** A list shows so many tasks at most; a history has fewer. */
export const LIST_LIMIT = 100;
const MAX_TASKS = 80;
const MAX_QUESTIONS = 2;
const MAX_WORK_SECONDS = 2;

const stepWords = /Step (\d+) of (\S+):/;

export interface CallerOptions {
  readonly name: string;
  readonly servers: readonly FaultyServer[];
  readonly projects: readonly string[];
  readonly recorder: Recorder;
  readonly random: () => number;
}

/** A client of all servers: it starts, reads, answers and kills tasks, whatever chance says, one call after the other. */
export class Caller {
  readonly #options: CallerOptions;
  #starts = 0;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  async runUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.#next();
  }

  async #next(): Promise<unknown> {
    const { recorder } = this.#options;
    const question = this.#any([...recorder.active.values()].flat());
    if (question !== undefined && this.#chance(0.6)) return this.#answer(question);
    const taskId = this.#any([...recorder.active.keys()]);
    if (taskId === undefined || this.#chance(0.3)) return this.#start();
    if (this.#chance(0.15)) return this.#call('kill_task', { task_id: taskId });
    if (this.#chance(0.2)) return this.#call('list_tasks', { limit: LIST_LIMIT });
    if (this.#chance(0.2)) {
      const { name, client } = await this.#server();
      return recorder.record(name, client, taskId);
    }
    return this.#call('get_task_status', { task_id: taskId });
  }

  async #start(): Promise<unknown> {
    const { name, projects, recorder } = this.#options;
    const path = this.#any(projects);
    if (recorder.tasks >= MAX_TASKS || recorder.active.size > projects.length * 2)
      return this.#call('list_tasks', { limit: LIST_LIMIT });
    const label = `${name}-${++this.#starts}`;
    const behaviour = this.#chance(0.6)
      ? `asks ${label} ${1 + this.#below(MAX_QUESTIONS)}`
      : this.#chance(0.6)
        ? `works ${label} ${this.#below(MAX_WORK_SECONDS * 10) / 10}`
        : `stays ${label}`;
    const more = this.#chance(0.3) ? { on_conflict: 'queue' } : {};
    return this.#call('start_task', { prompt: `AGENT: ${behaviour}`, path, ...more }, { label });
  }

  /** Now and then two answers at once, by two servers. */
  async #answer(question: OpenQuestion): Promise<unknown> {
    const verdict = this.#chance(0.5) ? 'allow' : 'deny';
    const first = this.#respond(question, verdict);
    if (this.#chance(0.5)) await this.#respond(question, verdict === 'allow' ? 'deny' : 'allow');
    return first;
  }

  #respond({ taskId, decisionId, summary }: OpenQuestion, verdict: 'allow' | 'deny'): Promise<unknown> {
    const args = { task_id: taskId, decision_id: decisionId, verdict };
    return this.#call('respond_to_task', args, { response: { ...stepOf(summary), decisionId, verdict } });
  }

  async #call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    about: Pick<Call, 'label' | 'response'> = {},
  ): Promise<Call> {
    const { name, client } = await this.#server();
    return this.#options.recorder.call(name, client, tool, args, about);
  }

  #server(): FaultyServer['running'] {
    const server = this.#any(this.#options.servers);
    if (server === undefined) throw new Error('a caller needs a server');
    return server.running;
  }

  #any<T>(items: readonly T[]): T | undefined {
    return items[this.#below(items.length)];
  }

  #below(count: number): number {
    return Math.floor(this.#options.random() * count);
  }

  #chance(share: number): boolean {
    return this.#options.random() < share;
  }
}

function stepOf(summary: string): AskedStep {
  const [, step, label] = stepWords.exec(summary) ?? [];
  if (step === undefined || label === undefined) throw new Error(`a question of no agent: ${summary}`);
  return { step: Number(step), label };
}
