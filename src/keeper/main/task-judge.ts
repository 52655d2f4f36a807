import { resolve } from 'node:path';
import { messageOf } from '../../base/errors.js';
import { answerOf, judge } from '../../approvals/judge.js';
import type { RuleRow } from '../../approvals/modes.js';
import { pathsOf, toolRow } from '../../approvals/tool-table.js';
import type { SessionGuard, SessionRequest, ToolCall, ToolVerdict } from '../../claude/session.js';
import { aliasesOf } from '../../projects/path-aliases.js';
import { realPathOfNearest } from '../../projects/real-path.js';
import type { RuleVerdict } from '../../tasks/run/run-state.js';
import type { PermissionMode } from '../../tasks/task.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import { configuredPaths } from '../agent/configured-paths.js';

/** More than a session has; what a program of the agent posts beyond them counts for nothing. */
const MAX_REMEMBERED = 1_000;
const BY_TRUST: RuleVerdict = {
  verdict: 'allow',
  rule: 'trusted-project',
  reason: 'a person trusts the project as it is',
};
const NO_AUTO_MODE =
  'Claude Code reports that it has no auto mode here (settings, model or account), so it asks: each question is a decision.';

export interface TaskRulesParts {
  readonly spec: Pick<TaskSpec, 'project_path' | 'permission_mode' | 'settings'>;
  readonly plansFolder: string | undefined;
  /** Of the project's own settings, where Claude Code does not read them. */
  readonly projectRules: readonly RuleRow[];
  /** Where the project's own configuration lies that is used. */
  readonly trusted: readonly string[];
  /** The approval of a plan may have changed it. */
  readonly mode: () => PermissionMode;
  /** Why a call must not run, whatever the rules say. */
  readonly refusal: (call: ToolCall) => Promise<string | undefined>;
  /** Awaited before a call may change anything. */
  readonly beforeCall: (call: ToolCall) => Promise<void>;
}

/** Decides by the mode and the settings of a task what its agent may do without a person. */
export class TaskRules implements SessionGuard {
  readonly #parts: TaskRulesParts;
  /** What Claude Code has read as instructions, real paths. */
  readonly #instructions = new Set<string>();
  readonly #agents = new Set<string>();
  #hasJudged = false;

  /** Of the settings and of the project. */
  readonly rules: readonly RuleRow[];

  constructor(parts: TaskRulesParts) {
    this.#parts = parts;
    this.rules = [...(parts.spec.settings.rules ?? []), ...parts.projectRules];
  }

  instructedBy(path: string): void {
    if (this.#instructions.size >= MAX_REMEMBERED) return;
    const add = (real: string): unknown => this.#instructions.add(real);
    void realPathOfNearest(path).then(add, () => add(path));
  }

  startedAgent(id: string): void {
    if (this.#agents.size < MAX_REMEMBERED) this.#agents.add(id);
  }

  /** What is said of a call before Claude Code judges it. What cannot be judged is a person's to allow. */
  async beforeTool(call: ToolCall): Promise<ToolVerdict> {
    try {
      const refusal = await this.#parts.refusal(call);
      if (refusal !== undefined) return { verdict: 'deny', reason: refusal };
      // Only the CLI knows whether it has an auto mode: without one it goes on in `default`. A plan may change the mode later.
      const isFirst = !this.#hasJudged;
      this.#hasJudged = true;
      const wantsAuto = this.#parts.spec.permission_mode === 'claude';
      const notice = isFirst && wantsAuto && call.cliMode === 'default' ? NO_AUTO_MODE : undefined;
      return { ...(await this.#judged(call)), notice };
    } catch (error) {
      return { verdict: 'ask', reason: `the bridge could not judge it: ${messageOf(error)}` };
    }
  }

  async #judged(call: ToolCall): Promise<ToolVerdict> {
    const { spec, mode, beforeCall, plansFolder, trusted } = this.#parts;
    const { tool, input } = call;
    await beforeCall(call);
    const folder = spec.project_path;
    const written = pathsOf(tool, input).map((path) => resolve(folder, path));
    const real = await Promise.all(written.map((path) => realPathOfNearest(path)));
    const paths = [...new Set([...written, ...real, ...(await aliasesOf(real, folder))])];
    const isCareful = mode() !== 'auto' && toolRow(tool)?.effect === 'edits';
    return judge({
      mode: mode(),
      tool,
      input,
      folder,
      paths,
      obeyed: isCareful ? [...trusted, ...this.#instructions, ...(await configuredPaths(folder))] : [],
      plansFolder,
      ownAgents: this.#agents,
      ownPlaces: spec.settings.own_places ?? [],
      rules: this.rules,
    });
  }

  /** What is answered to a request of Claude Code: most are for a person. */
  check(request: SessionRequest, mode: PermissionMode): RuleVerdict {
    if (request.kind === 'trust' && this.#parts.trusted.length > 0) return BY_TRUST;
    return answerOf(request, mode, this.rules);
  }
}
