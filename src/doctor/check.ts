// Pure.
import type { DoctorContext } from './context.js';

/** In the order in which they are shown. */
export const categories = ['system', 'settings', 'claude', 'state', 'clients', 'optional', 'task'] as const;
export type Category = (typeof categories)[number];

/**
 * `warning`: something works less well, or will fail in a situation that is named. `error`: tasks fail. `optional`: missing, and needed
 * only for what the summary names. `unchecked`: the summary says why.
 */
export const statuses = ['ok', 'optional', 'unchecked', 'warning', 'error'] as const;
export type Status = (typeof statuses)[number];

/** What a person does about a finding. */
export interface Remedy {
  /** One sentence. */
  readonly words: string;
  /** The line of a shell that mends it; left out where no single command does. */
  readonly command?: string;
}

export interface Finding {
  readonly status: Status;
  /** One sentence. */
  readonly summary: string;
  readonly details?: readonly string[];
  readonly remedy?: Remedy;
}

/** One thing that can be wrong. */
export interface Check {
  /** Unique, in kebab case. */
  readonly id: string;
  readonly category: Category;
  /** In milliseconds; the default is in run-checks.ts. */
  readonly limitMs?: number;
  /** Runs after all others, since it needs the whole machine. */
  readonly alone?: boolean;
  /** Changes nothing. What it throws is reported as the reason why it could not be checked. */
  readonly look: (context: DoctorContext) => Promise<Finding>;
  /** Mends what is safe to mend, for `--fix`; resolves with what was done, or undefined for nothing. */
  readonly fix?: (context: DoctorContext) => Promise<string | undefined>;
}

export function ok(summary: string, details: readonly string[] = []): Finding {
  return { status: 'ok', summary, details };
}

export function unchecked(why: string): Finding {
  return { status: 'unchecked', summary: `not checked: ${why}` };
}
