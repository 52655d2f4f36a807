// Pure.
import { z } from 'zod';
import { withinMs, type Clock } from '../../base/clock.js';
import type { DockerEngine } from './engine/docker-engine.js';

/** Most programs say something at once, and so does init when there is none; of the others the engine is asked. */
const FIRST_SIGN_MS = 5;
const LOOK_AGAIN_MS = 20;
/** For an engine that does not list what runs: init reports an error within milliseconds. */
const UNTOLD_MS = 100;
/** A container that ends cannot be looked at for some milliseconds, and the engine says so in words of many kinds. */
const UNCLEAR_LIMIT_MS = 2_000;
/** A program that has not begun after this time is reported as running. */
const BEGIN_LIMIT_MS = 10_000;
/** The engine runs `ps` for its answer, which takes 10 ms, and more on a busy machine. */
const LIST_LIMIT_MS = 5_000;
const ENDED_STATUS: readonly number[] = [404, 409];
/** How the words of an engine begin whose `ps` failed: it has none, or another one. */
const PS_FAILED = /^ps\b/;
/** A process that has ended and whose parent has not looked yet, as `ps` names it. */
const ENDED = /<defunct>\s*$/;

const listSchema = z.object({
  Titles: z.array(z.string()),
  Processes: z.array(z.array(z.string())).nullable(),
});

/** `untold`: the engine cannot list processes, and never will. `unclear`: not at this moment. */
type ProgramState = 'begins' | 'runs' | 'ended' | 'untold' | 'unclear';

export interface StartedContainer {
  readonly engine: DockerEngine;
  readonly containerId: string;
  readonly clock: Clock;
  /** Ends with the first output of the program, init's word that there is none, or the end of both. */
  readonly seen: Promise<void>;
}

/** Ends when the program of a container that was started runs, or when its init has said why it does not. */
export async function untilBegun({ engine, containerId, clock, seen }: StartedContainer): Promise<void> {
  const sinceMs = clock.monotonicMs();
  const sign = seen.then(() => 'sign' as const);
  if ((await withinMs(clock, FIRST_SIGN_MS, sign)) !== undefined) return;
  for (let looks = 1; ; looks++) {
    const state = await Promise.race([sign, stateOfProgram(engine, containerId)]);
    if (state === 'sign' || state === 'runs' || (state === 'untold' && looks > 1)) return;
    const limitMs = state === 'unclear' ? UNCLEAR_LIMIT_MS : BEGIN_LIMIT_MS;
    if (clock.monotonicMs() - sinceMs > limitMs) return;
    // What one that has ended printed is on its way, and in any case the end of that.
    const waitMs = {
      begins: LOOK_AGAIN_MS,
      unclear: LOOK_AGAIN_MS,
      untold: UNTOLD_MS,
      ended: BEGIN_LIMIT_MS,
    }[state];
    if ((await withinMs(clock, waitMs, sign)) !== undefined || state === 'ended') return;
  }
}

async function stateOfProgram(engine: DockerEngine, containerId: string): Promise<ProgramState> {
  const answer = await engine.call(async (client, abortSignal) => {
    const list: unknown = await client.getContainer(containerId).top({ abortSignal });
    return list;
  }, LIST_LIMIT_MS);
  if (answer.kind === 'refused') {
    if (ENDED_STATUS.includes(answer.status)) return 'ended';
    if (!PS_FAILED.test(answer.words)) return 'unclear';
    return (await isRunning(engine, containerId)) ? 'untold' : 'ended';
  }
  const list = answer.kind === 'value' ? listSchema.safeParse(answer.value).data : undefined;
  if (list === undefined) return 'unclear';
  // The last one where no title says so.
  const column = list.Titles.findIndex((title) => /^(CMD|COMMAND)$/i.test(title));
  return hasBegun((list.Processes ?? []).map((process) => process.at(column) ?? '')) ? 'runs' : 'begins';
}

/** Told without `ps`. An engine that does not say is taken for one that would say so elsewhere. */
async function isRunning(engine: DockerEngine, containerId: string): Promise<boolean> {
  const answer = await engine.call(
    (client, abortSignal) => client.getContainer(containerId).inspect({ abortSignal }),
    LIST_LIMIT_MS,
  );
  if (answer.kind === 'refused') return !ENDED_STATUS.includes(answer.status);
  return answer.kind !== 'value' || answer.value.State.Running;
}

/**
 * Whether the program is among the command lines of a container's processes, of which init is the first: before it begins, init is
 * alone, or has a copy of itself that is to become the program.
 */
export function hasBegun([init, ...others]: readonly string[]): boolean {
  return others.some((command) => command !== init && !ENDED.test(command));
}
