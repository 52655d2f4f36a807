// Pure: which checks may run. A check runs whatever the agent has written.
import type { Check } from './brief.js';
import type { CheckResult, CheckRun } from './result.js';

const BY_MODE = 'In this mode a person allows what runs, unless the settings have exactly this line.';
const BY_RULE =
  'Rules deny or ask about something, and the bridge reads no shell lines; the settings do not have exactly this line.';
const WARNING = 'A check runs whatever the agent has written.';
/** The tool of the decision by which a person allows the checks of a task. */
export const CHECKS_TOOL = 'Checks';

type Rules = readonly { readonly verdict: string }[];

/** What of a task says whether its checks may run. */
export interface CheckedTask {
  readonly checks?: readonly Check[] | undefined;
  readonly permission_mode: string;
  readonly settings: {
    readonly own_checks?: readonly Check[] | undefined;
    readonly rules?: Rules | undefined;
  };
}

/** Checks that a person has to allow, and why in words. */
export interface HeldChecks {
  readonly toAsk: readonly Check[];
  readonly why: string;
}

/** Asks a person for checks, in words; undefined where the answer comes with another call. */
export type AskChecks = (question: string) => Promise<boolean | undefined>;

/**
 * Lines of the settings are a person's. In the modes whose commands run unasked so is what the caller gives, unless there are rules that
 * deny or ask. `more`: rules beside those of the settings.
 */
export function heldChecks({ checks = [], permission_mode, settings }: CheckedTask, more: Rules): HeldChecks {
  const isUnasked = permission_mode === 'auto' || permission_mode === 'sandboxed';
  const isHeld = [...(settings.rules ?? []), ...more].some(({ verdict }) => verdict !== 'allow');
  const own = new Set((settings.own_checks ?? []).map(lines));
  const toAsk = isUnasked && !isHeld ? [] : checks.filter((check) => !own.has(lines(check)));
  return { toAsk, why: `${WARNING} ${isUnasked ? BY_RULE : BY_MODE}` };
}

/** What a person reads before a yes to these checks. */
export function questionWords({ toAsk, why }: HeldChecks): string {
  return [why, ...toAsk.map((check) => `${check.name}: ${allLines(check)}`)].join('\n');
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
export interface CheckWork extends HeldChecks {
  readonly checks: readonly Check[];
  readonly untilMet: number;
  run(
    checks: readonly Check[],
    signal: AbortSignal,
    on: { readonly onBegin: (check: Check) => void; readonly onEnd: (result: CheckResult) => void },
  ): Promise<Omit<CheckRun, 'results' | 'rounds'>>;
}
