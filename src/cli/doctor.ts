import { tmpdir } from 'node:os';
import packageFile from '../../package.json' with { type: 'json' };
import { VERSION } from '../base/version.js';
import { managedSettingsPlaces } from '../claude/managed-settings.js';
import { allChecks } from '../doctor/all-checks.js';
import type { Category } from '../doctor/check.js';
import { rules } from '../doctor/checks/rules.js';
import type { DoctorParts, DoctorPlace } from '../doctor/context.js';
import { makeContext } from '../doctor/make-context.js';
import { entryLines, titleLine, verdictLine } from '../doctor/report-text.js';
import { exitCodeOf, reportOf, type Entry } from '../doctor/report.js';
import { runChecks } from '../doctor/run-checks.js';
import { demoCacheDir, runDemo } from './demo/demo.js';
import { CLAUDE_VERSIONS } from './demo/fetch-claude.js';
import { exitCodes } from './exit-codes.js';
import { rulesContract } from './rules-contract.js';

export interface DoctorOptions {
  readonly json?: boolean;
  readonly fix?: boolean;
  readonly quick?: boolean;
  readonly rules?: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly configPath?: string | undefined;
  /** How a person runs this program. */
  readonly command: string;
  readonly serverEntry: string;
  readonly keeperEntry: string;
  readonly signal: AbortSignal;
  readonly write: (text: string) => void;
}

/** Prints what was checked, each line as soon as it is known, or one JSON value. Resolves with 0, 1 (warnings) or 2 (errors). */
export async function runDoctor(options: DoctorOptions): Promise<number> {
  const { json = false, fix = false, quick = false, write, signal } = options;
  const whole = options.rules === true ? [...allChecks, rules] : allChecks;
  const context = makeContext(placeOf(options), partsOf(options));
  const checks = quick ? whole.filter(({ category }) => category !== 'task') : whole;
  let category: Category | undefined;
  const show = (entry: Entry): void => {
    if (entry.category !== category) write(titleLine(entry.category));
    category = entry.category;
    write(entryLines(entry));
  };
  const entries = await runChecks(checks, context, { fix, ...(!json && { onEntry: show }) });
  if (signal.aborted) return exitCodes.interrupted;
  const report = reportOf(VERSION, entries);
  write(json ? `${JSON.stringify(report, null, 2)}\n` : verdictLine(report));
  return exitCodeOf(report);
}

function placeOf({ env, homeDir, configPath, command, serverEntry, signal }: DoctorOptions): DoctorPlace {
  return {
    ...{ env, homeDir, configPath, command, serverEntry, signal },
    cwd: process.cwd(),
    tmpDir: tmpdir(),
    platform: process.platform,
    uid: process.getuid?.() ?? 0,
    nodeVersion: process.versions.node,
    neededNode: packageFile.engines.node,
    managedSettings: managedSettingsPlaces,
    testedClaude: CLAUDE_VERSIONS,
  };
}

function partsOf(options: DoctorOptions): DoctorParts {
  const { env, serverEntry } = options;
  return {
    tryTask: async (claude, signal) => {
      let report = '';
      const io = { write: (text: string) => void (report += text) };
      const code = await runDemo({ io, serverEntry, env, claude, cacheDir: demoCacheDir(env), signal });
      return { ok: code === 0, report };
    },
    tryRules: (claude, signal) => rulesContract(claude, env['PATH'] ?? '', signal),
  };
}
