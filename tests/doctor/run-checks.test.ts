import { describe, expect, it } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import { fault, ok, warning, type Check } from '../../src/doctor/check.js';
import {
  entryLines,
  exitCodeOf,
  reportOf,
  reportSchema,
  verdictLine,
  type Entry,
} from '../../src/doctor/report.js';
import { runChecks } from '../../src/doctor/run-checks.js';
import { sampleMachine } from './sample-machine.js';

const fine = check('fine', async () => ok('Fine'));
const throwing = check('throwing', async () => {
  throw new BridgeError('STATE_UNUSABLE', 'The disk said no.', 'Look at it.');
});

describe('the runner of checks', () => {
  it('reports a check that throws, and why, and runs the others', async () => {
    const [first, second] = await run([throwing, fine]);
    expect(first).toMatchObject({
      status: 'unchecked',
      summary: expect.stringMatching(/^[\w-]+ was not checked: The disk said no\.$/) as unknown,
      remediation: 'Look at it.',
    });
    expect(second).toMatchObject({ id: 'fine', status: 'ok', summary: 'Fine', command: null });
  });

  it('does not wait for a check that hangs', async () => {
    const hanging = check('hanging', () => new Promise(() => undefined), { limitMs: 20 });
    const [first, second] = await run([hanging, fine]);
    expect(first).toMatchObject({
      status: 'unchecked',
      summary: expect.stringContaining(' was not checked: no answer within 0.02 s.') as unknown,
    });
    expect(second?.status).toBe('ok');
  });
});

describe('the report', () => {
  const bad = check('bad', async () => warning('It is slow', 'Make it fast.', 'make fast', ['two\nlines']));

  it('is as bad as its worst check; what is optional or was not checked makes it no worse', async () => {
    const optional = check('more', async () => ({ ...ok('It is missing'), status: 'optional' }));
    const error = check('broken', async () => fault('It is broken', 'Mend it.'));
    const codes = await Promise.all(
      [
        [fine, optional, throwing],
        [fine, bad],
        [bad, error],
      ].map(async (checks) => exitCodeOf(reportOf('1.2.3', await run(checks)))),
    );
    expect(codes).toEqual([0, 1, 2]);
  });

  it('is JSON of the documented form', async () => {
    const report = reportOf('1.2.3', await run([bad]));
    expect(reportSchema.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
    expect(Object.keys(report.checks[0] ?? {})).toEqual([
      ...['id', 'category', 'status', 'summary', 'details'],
      ...['remediation', 'command', 'fixed', 'duration_ms'],
    ]);
  });

  it('is text with what to do below each trouble', async () => {
    const entries = await run([bad, fine]);
    expect(entries.map(entryLines).join('')).toBe(
      '  ! It is slow\n      two\n      lines\n      → Make it fast.\n        make fast\n  ✓ Fine\n',
    );
    expect(verdictLine(reportOf('1.2.3', entries))).toBe(
      '\n1 warning. Each line with → says what mends it.\n',
    );
  });
});

async function run(checks: readonly Check[], onEntry?: (entry: Entry) => void): Promise<Entry[]> {
  const machine = await sampleMachine();
  return runChecks(checks, machine.context(), { fix: false, ...(onEntry && { onEntry }) });
}

function check(id: string, look: Check['look'], more: Partial<Check> = {}): Check {
  return { id, category: 'system', look, ...more };
}
