// Pure: which checks may run. A check runs whatever the agent has written.
import type { Check } from './brief.js';
import type { CheckResult, CheckRun } from './result.js';

const BY_MODE = 'In this mode a person allows what runs, unless the settings have exactly this line.';
const BY_RULE =
  'Rules deny or ask about something, and the bridge reads no shell lines; the settings do not have exactly this line.';
export const WARNING = 'A check runs whatever the agent has written.';
/** The tool of the decision by which a person allows the checks of a task. */
export const CHECKS_TOOL = 'Checks';

/** What of a task says whether its checks may run. */
export interface CheckedTask {
  readonly checks?: readonly Check[] | undefined;
  readonly permission_mode: string;
  readonly settings: {
    readonly own_checks?: readonly Check[] | undefined;
    readonly rules?: readonly { readonly verdict: string }[] | undefined;
  };
}

interface PersonsDecision {
  readonly tool: string;
  readonly verdict: string | null;
  readonly is_for_person?: boolean | undefined;
}

export interface AllowedChecks {
  readonly allowed: readonly Check[];
  /** Those that a person has to allow first. */
  readonly toAsk: readonly Check[];
  /** Why the others do not run. */
  readonly why: string;
}

/**
 * Lines of the settings are a person's. In the modes whose commands run unasked so is what the caller gives, unless there are rules that
 * deny or ask. `decisions`: those of the task, by which a person may have allowed its checks.
 */
export function allowedChecks(
  { checks = [], permission_mode, settings }: CheckedTask,
  decisions: readonly PersonsDecision[],
  moreRules: readonly { readonly verdict: string }[] = [],
): AllowedChecks {
  const isHeld = [...(settings.rules ?? []), ...moreRules].some(({ verdict }) => verdict !== 'allow');
  const isUnasked = permission_mode === 'auto' || permission_mode === 'sandboxed';
  const isAllowed = decisions.some(
    ({ tool, verdict, is_for_person }) =>
      is_for_person === true && tool === CHECKS_TOOL && (verdict === 'allow' || verdict === 'allow_session'),
  );
  if ((isUnasked && !isHeld) || isAllowed) return { allowed: checks, toAsk: [], why: '' };
  const own = settings.own_checks ?? [];
  const isOwn = (check: Check): boolean => own.some((one) => lines(one) === lines(check));
  const toAsk = checks.filter((check) => !isOwn(check));
  return { allowed: checks.filter(isOwn), toAsk, why: isUnasked ? BY_RULE : BY_MODE };
}

/** What a person reads before a yes to these checks. */
export function questionWords(checks: readonly Check[], why: string): string {
  const all = checks.map((check) => `${check.name}: ${allLines(check)}`);
  return `${WARNING} ${why}\n${all.join('\n')}`;
}

/** All that a yes allows, in lines. */
export function allLines({ command, each, setup }: Check): string {
  return [command, each && `for one test file: ${each}`, setup && `in a clean copy, first: ${setup}`]
    .filter((line) => line !== undefined)
    .join('\n');
}

/** The command lines of a check. */
function lines({ command, each, setup }: Check): string {
  return JSON.stringify([command, each, setup]);
}

/** How checks are run for a task. */
export interface CheckWork {
  readonly checks: readonly Check[];
  readonly untilMet: number;
  readonly mayRun: AllowedChecks;
  run(
    checks: readonly Check[],
    signal: AbortSignal,
    on: { readonly onBegin: (check: Check) => void; readonly onEnd: (result: CheckResult) => void },
  ): Promise<Pick<CheckRun, 'results' | 'own_files_changed' | 'linked' | 'tree'>>;
}
