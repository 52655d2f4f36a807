// Pure: which checks may run. A check runs whatever the agent has written.
import type { Check } from './brief.js';
import type { CheckResult, CheckRun } from './result.js';

const NO_SANDBOX = 'no sandbox: the bridge runs no check outside of the sandbox of its task';
const IN_CONTAINER = 'the agent worked in a container, and the bridge runs no check outside of it';
const BY_MODE = 'In this mode a person allows what runs, unless the settings have exactly this line.';
const BY_RULE =
  'Rules deny or ask about something, and the bridge reads no shell lines; the settings do not have exactly this line.';
/** The tool of the decision by which a person allows the checks of a task. */
export const CHECKS_TOOL = 'Checks';

/** What of a task says whether its checks may run. */
export interface CheckedTask {
  readonly checks?: readonly Check[] | undefined;
  readonly permission_mode: string;
  readonly container?: unknown;
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
 * Lines of the settings are a person's; in mode `auto` so is what the caller gives, unless there are rules that deny or ask. In a sandbox
 * or a container none runs. `decisions`: those of the task, by which a person may have allowed its checks.
 */
export function allowedChecks(
  { checks = [], permission_mode, container, settings }: CheckedTask,
  decisions: readonly PersonsDecision[],
  moreRules: readonly { readonly verdict: string }[] = [],
): AllowedChecks {
  if (container !== undefined) return { allowed: [], toAsk: [], why: IN_CONTAINER };
  if (permission_mode === 'sandboxed') return { allowed: [], toAsk: [], why: NO_SANDBOX };
  const isHeld = [...(settings.rules ?? []), ...moreRules].some(({ verdict }) => verdict !== 'allow');
  const isFree = permission_mode === 'auto' && !isHeld;
  const isAllowed = decisions.some(
    ({ tool, verdict, is_for_person }) =>
      is_for_person === true && tool === CHECKS_TOOL && (verdict === 'allow' || verdict === 'allow_session'),
  );
  if (isFree || isAllowed) return { allowed: checks, toAsk: [], why: '' };
  const own = settings.own_checks ?? [];
  const isOwn = (check: Check): boolean => own.some((one) => lines(one) === lines(check));
  const toAsk = checks.filter((check) => !isOwn(check));
  return { allowed: checks.filter(isOwn), toAsk, why: permission_mode === 'auto' ? BY_RULE : BY_MODE };
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
  /** `tree`: the files that were checked, as a tree; undefined where that is not known. */
  run(
    checks: readonly Check[],
    signal: AbortSignal,
    onBegin: (check: Check) => void,
    onEnd: (result: CheckResult) => void,
  ): Promise<Pick<CheckRun, 'results' | 'own_files_changed'> & { readonly tree: string | undefined }>;
}
