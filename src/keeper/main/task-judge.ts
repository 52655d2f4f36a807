import { checkRequest } from '../../approvals/check-request.js';
import { ShellChecker } from '../../approvals/shell/shell-checker.js';
import { compileRules, type UserRules } from '../../approvals/user-rules.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { SessionRequest } from '../../claude/session.js';
import { aliasesOf } from '../../projects/path-aliases.js';
import { requestPaths } from '../../tasks/decisions/request-paths.js';
import { searchedSecret } from '../../tasks/decisions/searched-secret.js';
import type { PermissionMode } from '../../tasks/task.js';
import { rulePartOf } from '../../tasks/decisions/rule-parts.js';
import type { RuleVerdict } from '../../tasks/run/task-run-parts.js';
import type { TaskSpec } from '../../tasks/task-spec.js';

/** What the rules of a task depend on. */
interface JudgedTask extends Pick<TaskSpec, 'project_path'> {
  readonly settings: Pick<TaskSpec['settings'], 'rules' | 'rules_from' | 'own_places'>;
}

interface TaskRulesParts {
  readonly spec: JudgedTask;
  readonly homeDir: string;
  /** The built worker thread that checks shell lines, if it is not next to the program. */
  readonly checkWorker?: URL | undefined;
}

/** Decides by the rules of a task what its agent may do. */
export class TaskRules implements Disposable {
  readonly #spec: JudgedTask;
  readonly #rules: UserRules;
  readonly #shell: ShellChecker;

  constructor({ spec, homeDir, checkWorker }: TaskRulesParts) {
    this.#spec = spec;
    const rows = spec.settings.rules ?? [];
    const bases = { projectPath: spec.project_path, homeDir };
    this.#rules = compileRules(rows, bases);
    this.#shell = new ShellChecker({ rows, bases, workerFile: checkWorker });
  }

  async check(
    { kind, tool, input, folder, source }: SessionRequest,
    mode: PermissionMode,
  ): Promise<RuleVerdict> {
    const { project_path: projectPath, settings } = this.#spec;
    const paths = await requestPaths(input, projectPath);
    // The screen does not prove that a command stays in the sandbox.
    const sure = mode === 'sandboxed' && source === 'observed' ? 'cautious' : mode;
    const { parts, ...verdict } = await checkRequest(
      {
        mode: sure,
        kind,
        tool,
        input,
        projectPath,
        paths,
        aliases: await aliasesOf(paths, projectPath),
        ownPlaces: settings.own_places,
        searchedSecret: mode !== 'auto' ? await searchedSecret(tool, input, projectPath) : undefined,
        folder,
      },
      this.#rules,
      (line) => this.#shell.check(line),
    );
    return { ...verdict, parts: parts.map((part) => rulePartOf(part, sure, settings)) };
  }

  dispose(): void {
    this.#shell.dispose();
  }
}
