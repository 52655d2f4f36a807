import { withinMs } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { systemClock } from '../base/system-clock.js';
import { unchecked, type Check, type DoctorContext, type Finding } from './check.js';
import type { Entry } from './report.js';

/** Most checks take milliseconds; a file system that hangs takes for ever. */
const LIMIT_MS = 10_000;

export interface RunOptions {
  /** Lets each check mend what is safe, and looks again. */
  readonly fix: boolean;
  /** Called with each entry, in the order of `checks`. */
  readonly onEntry?: (entry: Entry) => void;
}

/**
 * Runs the checks, side by side except those that run alone, and resolves with their entries in the same order. A check that throws or
 * takes too long becomes an entry that says so; it ends no other. Never rejects.
 */
export async function runChecks(
  checks: readonly Check[],
  context: DoctorContext,
  { fix, onEntry = () => undefined }: RunOptions,
): Promise<Entry[]> {
  const together = checks.filter(({ alone }) => alone !== true);
  const running = new Map(together.map((check) => [check, runCheck(check, context, fix)]));
  const entries: Entry[] = [];
  for (const check of checks) {
    if (check.alone === true) await Promise.all(running.values());
    const entry = await (running.get(check) ?? runCheck(check, context, fix));
    entries.push(entry);
    onEntry(entry);
  }
  return entries;
}

async function runCheck(check: Check, context: DoctorContext, fix: boolean): Promise<Entry> {
  const { id, category, look, fix: mend } = check;
  const startedMs = performance.now();
  let finding = await bounded(check, () => look(context));
  let fixed: string | undefined;
  const isTrouble = finding.status === 'warning' || finding.status === 'error';
  if (fix && isTrouble && mend !== undefined)
    finding = await bounded(check, async () => {
      fixed = await mend(context);
      return look(context);
    });
  const { status, summary, details } = finding;
  return {
    ...{ id, category, ...finding },
    summary: status === 'unchecked' ? `${id} was ${summary}` : summary,
    details: [...details],
    fixed: fixed ?? null,
    duration_ms: Math.round(performance.now() - startedMs),
  };
}

async function bounded({ limitMs = LIMIT_MS }: Check, act: () => Promise<Finding>): Promise<Finding> {
  const couldNot = (error: unknown): Finding =>
    unchecked(messageOf(error), error instanceof BridgeError ? error.hint : null);
  // An error that comes after the limit has no reader.
  const finding = await withinMs(systemClock, limitMs, act().catch(couldNot));
  return finding ?? unchecked(`no answer within ${limitMs / 1000} s.`);
}
