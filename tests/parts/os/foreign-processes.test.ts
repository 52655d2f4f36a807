import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pidOf } from '../../../src/os/pid.js';
import { signalProcesses } from '../../../src/os/send-signals.js';
import { killMarked, signalFamily } from '../../../src/processes/host/host-process.js';
import { killTree } from '../../../src/pty/kill-ladder.js';
import { HastyClock } from '../../harness/hasty-clock.js';
import { MadeSystem, type MadeProcess } from '../../os/made-system.js';
import { rounds } from '../../harness/rounds.js';

const MARK = 'the-mark-of-the-task';
const OTHER_MARK = 'the-mark-of-another';
const FOREIGNERS = 300;
/** Seconds after the start of the system at which the task's keeper started. */
const TASK_START = 5_000;
/** 1 started the terminal program 700, that the client 2000, that the server 2001; the keeper 2101 was left to 1. */
const ABOVE = [1, 700, 2_000, 2_001];
const KEEPER = 2_101;
const TERMINAL = 2_110;
/** A machine is large: it is shown as it failed, not made smaller. */
const RUNS = { numRuns: rounds(25), endOnFailure: true };
const GRACE_MS = 100;
const FIRST_FOREIGNER = 10_000;
const FIRST_OF_TASK = 3_000;
const GONE = [90_001, 90_002, 90_003];

const foreignPid = fc.nat({ max: FOREIGNERS - 1 }).map((at) => FIRST_FOREIGNER + at);
const elsewhere = fc.oneof(fc.constantFrom(0, 1, ...GONE, ...ABOVE), foreignPid);

/** What hangs on the task's own numbers by an accident of the system, and is none of it all the same. */
const accidental = fc.constantFrom<Partial<MadeProcess>>(
  {},
  // A debugger of the task is attached to it.
  { parent: TERMINAL, start: TASK_START - 1 },
  { parent: FIRST_OF_TASK, start: 7 },
  // It carries the mark of a task that is not this one, an empty one, or names the mark on its command line.
  { mark: OTHER_MARK },
  { mark: '' },
  { argument: `-e CLAUDE_CODE_BRIDGE_MARK=${MARK}` },
  { argument: `CLAUDE_CODE_BRIDGE_MARK=${MARK} x`, mark: OTHER_MARK },
  // It was given the mark, and is older than what made it.
  { mark: MARK, start: TASK_START - 10 },
  { isOfAnother: true, parent: 1, session: 0, group: 0 },
);

const foreigner = fc.record({
  parent: elsewhere,
  group: fc.option(elsewhere, { nil: undefined }),
  session: fc.option(elsewhere, { nil: undefined }),
  start: fc.integer({ min: 1, max: 2 * TASK_START }),
  isOfAnother: fc.boolean(),
  accident: accidental,
});

const ofTask = fc.record({
  parent: fc.integer({ min: -1, max: 11 }),
  placement: fc.constantFrom('terminal', 'own group', 'own session'),
  isMarked: fc.boolean(),
  ignoresTerm: fc.boolean(),
});

const worlds = fc
  .record({
    foreigners: fc.array(foreigner, { minLength: FOREIGNERS, maxLength: FOREIGNERS }),
    task: fc.array(ofTask, { maxLength: 12 }),
    isNested: fc.boolean(),
    isTerminalGone: fc.boolean(),
    reuses: fc.uniqueArray(fc.nat({ max: 12 }), { maxLength: 5 }),
  })
  .map(({ foreigners, task, isNested, isTerminalGone, reuses }) => ({
    reuses,
    processes: [
      ...above(isNested),
      ...foreigners.map(foreignProcess),
      ...(isTerminalGone
        ? strangersInPlaceOfTerminal()
        : [
            taskProcess({
              pid: TERMINAL,
              parent: KEEPER,
              start: TASK_START + 1,
              mark: MARK,
              ignoresTerm: true,
            }),
          ]),
      ...(isTerminalGone ? [] : task.map(processOfTask)),
    ],
  }));

/** Keeper, server, client and what they were started from; in a nested task they carry its mark themselves. */
function above(isNested: boolean): MadeProcess[] {
  const mark = isNested ? { mark: MARK } : {};
  return [...ABOVE, KEEPER].map((pid, at) => ({
    pid,
    parent: pid === KEEPER ? (isNested ? 2_001 : 1) : (ABOVE[at - 1] ?? 0),
    group: pid,
    session: pid === KEEPER ? KEEPER : 0,
    start: pid === KEEPER ? TASK_START : at + 1,
    isForeign: true,
    ...(pid > 1 && mark),
  }));
}

function foreignProcess(
  made: typeof foreigner extends fc.Arbitrary<infer T> ? T : never,
  at: number,
): MadeProcess {
  const { accident, group, session, ...rest } = made;
  const pid = FIRST_FOREIGNER + at;
  return { pid, group: group ?? pid, session: session ?? pid, ...rest, isForeign: true, ...accident };
}

/** The terminal's first process is long gone, and its number went to a program of the person, with children. */
function strangersInPlaceOfTerminal(): MadeProcess[] {
  const common = { group: TERMINAL, session: TERMINAL, start: TASK_START + 500, isForeign: true };
  return [
    { ...common, pid: TERMINAL, parent: 700 },
    { ...common, pid: 4_000, parent: TERMINAL },
    { ...common, pid: 4_001, parent: 1 },
  ];
}

function processOfTask(
  made: typeof ofTask extends fc.Arbitrary<infer T> ? T : never,
  at: number,
): MadeProcess {
  const pid = FIRST_OF_TASK + at;
  // Only an earlier one can have started it; without one the terminal did.
  const parent = made.parent >= 0 && made.parent < at ? FIRST_OF_TASK + made.parent : TERMINAL;
  return taskProcess({
    pid,
    parent,
    start: TASK_START + 2 + at,
    ignoresTerm: made.ignoresTerm,
    ...(made.placement === 'terminal' ? {} : { group: pid }),
    ...(made.placement === 'own session' ? { session: pid } : {}),
    ...(made.isMarked ? { mark: MARK } : {}),
  });
}

function taskProcess(one: Pick<MadeProcess, 'pid' | 'parent' | 'start'> & Partial<MadeProcess>): MadeProcess {
  return { group: TERMINAL, session: TERMINAL, isForeign: false, ...one };
}

describe.each(['proc', 'ps'] as const)('300 foreign processes survive, by %s,', (kind) => {
  const startedSince = kind === 'proc' ? `${TASK_START * 100}` : 'Mon Nov 2 09:23:20 2026';
  const clock = new HastyClock();

  async function survive(act: (system: MadeSystem) => Promise<unknown>): Promise<void> {
    await fc.assert(
      fc.asyncProperty(worlds, async ({ processes, reuses }) => {
        const system = new MadeSystem({ kind, processes, self: KEEPER, reuses });
        const foreignersBefore = processes.filter(({ isForeign }) => isForeign).map(({ pid }) => pid);
        await act(system);
        const living = new Set(system.living.map(({ pid }) => pid));
        expect(system.faults).toEqual([]);
        expect(foreignersBefore.filter((pid) => !living.has(pid))).toEqual([]);
      }),
      RUNS,
    );
  }

  it('the end of a task by its terminal', async () => {
    await survive((system) =>
      killTree({ pid: pidOf(TERMINAL), mark: MARK, startedSince, clock, system, graceMs: GRACE_MS }),
    );
  });

  it('the end of what a task left behind, by its mark alone', async () => {
    await survive((system) => killTree({ mark: MARK, startedSince, clock, system, graceMs: GRACE_MS }));
  });

  it('the end of a task whose terminal has no number, or the number of this process', async () => {
    await survive((system) =>
      killTree({ pid: pidOf(0), mark: MARK, startedSince, clock, system, graceMs: GRACE_MS }),
    );
    await survive((system) =>
      killTree({ pid: system.self, mark: MARK, startedSince, clock, system, graceMs: GRACE_MS }),
    );
    await survive((system) =>
      killTree({ pid: pidOf(1), mark: MARK, startedSince, clock, system, graceMs: GRACE_MS }),
    );
  });

  it('signals to all of a started process, and the end of all of them', async () => {
    await survive(async (system) => {
      await signalFamily({ pid: pidOf(TERMINAL), mark: MARK, startedSince }, 'SIGTERM', () => true, system);
      await killMarked(new Set([MARK, '']), startedSince, system);
    });
  });

  it('signals to records of processes that have ended', async () => {
    await survive(async (system) => {
      const all = await system.source.table();
      await signalProcesses(
        all.map(({ pid }) => ({ pid, startId: kind === 'proc' ? '1' : 'Mon Nov 2 07:00:00 2026' })),
        ['SIGKILL'],
        system,
      );
      // The first process, this one and its ancestors are spared although they are who they are.
      const sparedPids: readonly number[] = [1, KEEPER];
      const own = all.filter(({ pid }) => sparedPids.includes(pid));
      expect(await signalProcesses(own, ['SIGKILL'], system)).toEqual(['spared', 'spared']);
    });
  });

  it('while the task itself is ended whole', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async ({ processes }) => {
        const system = new MadeSystem({ kind, processes, self: KEEPER, reuses: [] });
        const report = await killTree({
          pid: pidOf(TERMINAL),
          mark: MARK,
          startedSince,
          clock,
          system,
          graceMs: GRACE_MS,
        });
        expect(report.remaining).toEqual([]);
        expect(system.living.filter(({ isForeign }) => !isForeign)).toEqual([]);
        const terms = system.sent.filter((one) => one.startsWith('SIGTERM'));
        expect(terms).toHaveLength(new Set(terms).size);
      }),
      RUNS,
    );
  });
});
