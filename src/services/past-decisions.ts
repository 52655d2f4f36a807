import type { Clock } from '../base/clock.js';
import { isCovered } from '../approvals/covering-rule.js';
import { parsePermissionRule } from '../approvals/permission-rule.js';
import { compileRules, type RuleRow } from '../approvals/user-rules.js';
import type { RuleTest } from '../board/state.js';
import { TaskRules } from '../keeper/main/task-judge.js';
import type { Decision, TaskRecord } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';

const PAGE_TASKS = 50;
const MAX_TASKS = 200;
const MAX_DECISIONS = 1_000;
/** A page waits for the outcome. */
const LIMIT_MS = 10_000;
const MAX_AGAINST = 20;
/** Nobody chose what these answered. */
const NO_PERSON: ReadonlySet<string> = new Set(['rule', 'deadline', 'session']);

export interface PastDecisionsParts {
  readonly tasks: Pick<TaskService, 'list'>;
  readonly clock: Clock;
  readonly homeDir: string;
  readonly ownPlaces: readonly string[];
  /** The built worker thread that checks shell lines, if it is not next to the program. */
  readonly checkWorker?: URL | undefined;
}

/** What new rules, beside those of the settings, would have answered in the newest tasks. */
export async function testRules(
  added: readonly RuleRow[],
  rules: readonly RuleRow[],
  parts: PastDecisionsParts,
): Promise<RuleTest> {
  const past = new PastDecisions(added, rules, parts);
  try {
    return await past.test();
  } finally {
    past.dispose();
  }
}

/** Whether the new rules would allow this request. */
export async function answersNow(
  added: readonly RuleRow[],
  rules: readonly RuleRow[],
  parts: PastDecisionsParts,
  { record, decision }: { readonly record: TaskRecord; readonly decision: Decision },
): Promise<boolean> {
  const past = new PastDecisions(added, rules, parts);
  try {
    return await past.answers(record, decision);
  } finally {
    past.dispose();
  }
}

class PastDecisions {
  readonly #added: readonly RuleRow[];
  readonly #rules: readonly RuleRow[];
  readonly #parts: PastDecisionsParts;
  readonly #judges = new Map<string, TaskRules>();
  readonly #known = new Map<string, Promise<boolean>>();
  readonly #endMs: number;

  constructor(added: readonly RuleRow[], rules: readonly RuleRow[], parts: PastDecisionsParts) {
    this.#added = added;
    this.#rules = [...rules, ...added];
    this.#parts = parts;
    this.#endMs = parts.clock.monotonicMs() + LIMIT_MS;
  }

  async test(): Promise<RuleTest> {
    const { records, hasMore } = await this.#records();
    const test = { answered: 0, of: 0, against: 0, denied: [] as RuleTest['denied'][number][] };
    let isAll = !hasMore;
    for (const record of records) {
      if ((record.decisions_dropped ?? 0) > 0) isAll = false;
      for (const decision of record.decisions.filter(isAnswer)) {
        if (test.of >= MAX_DECISIONS || this.#parts.clock.monotonicMs() > this.#endMs) {
          return { ...test, tasks: records.length, is_all: false };
        }
        test.of++;
        if (!(await this.answers(record, decision))) continue;
        test.answered++;
        if (decision.verdict !== 'deny') continue;
        test.against++;
        const { task_id } = record;
        const { summary, answered_by, reason } = decision;
        if (test.denied.length < MAX_AGAINST)
          test.denied.push({ task_id, summary, by: answered_by ?? 'unknown', reason });
      }
    }
    return { ...test, tasks: records.length, is_all: isAll };
  }

  /** Whether one of the new rules would have allowed it, with all rules beside it. */
  answers(record: TaskRecord, decision: Decision): Promise<boolean> {
    const { project_path, permission_mode } = record;
    const { tool, input } = decision;
    const key = JSON.stringify([project_path, permission_mode, tool, input]);
    const known = this.#known.get(key) ?? this.#check(record, decision);
    this.#known.set(key, known);
    return known;
  }

  dispose(): void {
    for (const judge of this.#judges.values()) judge.dispose();
  }

  async #check({ project_path, permission_mode }: TaskRecord, decision: Decision): Promise<boolean> {
    const { decision_id, kind, tool, input, summary } = decision;
    if (!this.#mayAllow(decision, project_path)) return false;
    const request = {
      requestId: decision_id,
      kind,
      tool,
      input,
      summary,
      options: [],
      source: 'exact',
    } as const;
    const { verdict, rule, parts = [] } = await this.#judge(project_path).check(request, permission_mode);
    const names = [rule, ...rule.split(', '), ...parts.map((part) => part.rule)];
    return verdict === 'allow' && this.#added.some((row) => names.includes(row.rule));
  }

  /** Cheap, and never false for what a new rule allows: most of the past is about something else. */
  #mayAllow({ tool, input }: Decision, projectPath: string): boolean {
    const kinds = this.#added
      .map(({ rule }) => parsePermissionRule(rule))
      .map((read) => 'rule' in read && read.rule);
    if (tool !== 'Bash') return kinds.some((rule) => rule !== false && rule.kind !== 'command');
    const { command } = input;
    const { allow } = compileRules(this.#rules, { projectPath, homeDir: this.#parts.homeDir });
    return typeof command === 'string' && isCovered(allow, command);
  }

  #judge(project_path: string): TaskRules {
    const known = this.#judges.get(project_path);
    if (known !== undefined) return known;
    const { homeDir, ownPlaces, checkWorker } = this.#parts;
    const settings = { rules: [...this.#rules], own_places: [...ownPlaces] };
    const judge = new TaskRules({ spec: { project_path, settings }, homeDir, checkWorker });
    this.#judges.set(project_path, judge);
    return judge;
  }

  async #records(): Promise<{ readonly records: readonly TaskRecord[]; readonly hasMore: boolean }> {
    const records: TaskRecord[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#parts.tasks.list({
        limit: PAGE_TASKS,
        ...(cursor !== undefined && { cursor }),
      });
      records.push(...page.tasks);
      cursor = page.cursor;
    } while (cursor !== undefined && records.length < MAX_TASKS);
    return { records, hasMore: cursor !== undefined };
  }
}

/** A permission that somebody gave or refused, and that is kept whole. */
function isAnswer({ kind, verdict, answered_by, input_is_cut, edits }: Decision): boolean {
  if (kind !== 'permission' || input_is_cut === true || edits !== undefined) return false;
  return verdict !== null && verdict !== 'withdrawn' && answered_by !== null && !NO_PERSON.has(answered_by);
}
