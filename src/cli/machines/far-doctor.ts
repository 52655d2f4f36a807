import { BridgeError } from '../../base/errors.js';
import { VERSION } from '../../base/package.js';
import { shownLine } from '../../base/text.js';
import { bridgeProgram } from '../../machines/bridge-start.js';
import { ok, warning } from '../../doctor/check.js';
import { reportSchema, type Entry, type Report } from '../../doctor/report.js';
import { runThere, type FarShell } from './far-shell.js';

/** A whole task with a scripted model takes some seconds. */
const LIMIT_MS = 180_000;

/** What the doctor there has found. */
export interface FarDoctor {
  readonly report: Report;
  /** Until all of it was there, with the opening of the line. */
  readonly ms: number;
}

/**
 * Runs the doctor of the bridge there, as text that this one has made safe to show; what it says of chat clients is left out, since none is needed
 * there. `quick`: without a whole task. Throws MACHINE_UNREACHABLE.
 */
export async function farDoctor(
  shell: FarShell,
  bridge: readonly string[] | undefined,
  quick: boolean,
): Promise<FarDoctor> {
  const began = performance.now();
  const { find, run } = bridgeProgram(shell.name, bridge);
  const script = `${find}\n${run} doctor --json${quick ? ' --quick' : ''} </dev/null; :`;
  const { output, failed } = await runThere(shell, script, { limitMs: LIMIT_MS });
  const read = reportSchema.safeParse(jsonIn(output));
  if (!read.success)
    throw new BridgeError(
      'MACHINE_UNREACHABLE',
      `The bridge on ${shell.name} gave no report of its doctor${failed === undefined ? '.' : `: ${failed}`}`,
      [`\`claude-code-bridge machines add ${shell.name}\` brings this version there.`],
    );
  const checks = read.data.checks.filter(({ category }) => category !== 'clients');
  return { report: { ...read.data, checks }, ms: performance.now() - began };
}

/** What is known of the line itself, as the doctor says things. */
export function lineEntries(name: string, { report, ms }: FarDoctor, command: string): Entry[] {
  const line = ok(`${name} answers; all was checked in ${(ms / 1000).toFixed(1)} s`);
  const version =
    report.version === VERSION
      ? ok(`Version ${VERSION} is there and here`)
      : warning(
          `Version ${report.version} is there, and ${VERSION} is here`,
          'They work together in what both know. Bring this one there.',
          `${command} machines add ${name}`,
        );
  const facts = { category: 'system', fixed: null, duration_ms: 0 } as const;
  return [
    { id: 'line', ...facts, ...line, details: [...line.details] },
    { id: 'bridge-there', ...facts, ...version, details: [...version.details] },
  ];
}

/** What stands between the first and the last brace, since a file of the shell may print around it. No text in it drives the terminal that it is shown in. */
function jsonIn(text: string): unknown {
  try {
    const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
    return JSON.parse(json, (_key, value: unknown) => (typeof value === 'string' ? shownLine(value) : value));
  } catch {
    return undefined;
  }
}
