import { BridgeError } from '../../../base/errors.js';
import { NOT_FOUND_CODE, UNFIT_IMAGE_CODE } from '../container-texts.js';
import type { EngineAnswer } from '../engine/docker-engine.js';

const HTTP_NOT_FOUND = 404;

/** The engine's refusal of `what` ("to make a container"), or its silence, as the error of a start. */
export function refusedStart(
  what: string,
  image: string,
  answer: Exclude<EngineAnswer<unknown>, { kind: 'value' }>,
): BridgeError {
  if (answer.kind === 'unreachable') {
    const { message, hint, cause } = answer.fault;
    return new BridgeError('TASK_START_FAILED', message, hint, { cause });
  }
  if (answer.status === HTTP_NOT_FOUND && /no such image/i.test(answer.words)) {
    return startFailed(
      `the Docker engine at ${answer.engine} has no image ${image}`,
      `Ask the user to run \`docker pull ${image}\` or to build it, or to name another image in the setting task_container (MCP_TASK_CONTAINER).`,
    );
  }
  return startFailed(
    `the Docker engine at ${answer.engine} refused ${what}: ${answer.words}`,
    'Ask the user to change what the message names.',
  );
}

export interface UnfitContainer {
  readonly image: string;
  readonly program: string;
  /** Undefined when the container hangs, or nobody knows. */
  readonly exitCode: number | undefined;
  /** What it printed. */
  readonly words: string;
}

/** The container ended, or hung, before its program began. */
export function unfitImage({ image, program, exitCode, words }: UnfitContainer): BridgeError {
  const what =
    exitCode === NOT_FOUND_CODE
      ? `the image ${image} has no program '${program}'`
      : exitCode === UNFIT_IMAGE_CODE
        ? `the image ${image} lacks mkfifo (package coreutils or busybox)`
        : `its container ended at once with code ${exitCode ?? 'unknown'}`;
  return startFailed(
    words === '' ? what : `${what} (it said: ${words})`,
    'An image for tasks holds Claude Code as `claude` on its PATH, a shell as /bin/sh with the usual small programs, bash and git. See docs/containers.md.',
  );
}

/** Why a task ended whose container had no memory left. */
export function outOfMemory(memoryMb: number): string {
  return `The agent used more memory than its container may (${memoryMb} MB), and the kernel ended it. The user can allow more with memory_mb in the setting task_container (MCP_TASK_CONTAINER).`;
}

export function startFailed(what: string, hint: string): BridgeError {
  return new BridgeError(
    'TASK_START_FAILED',
    `A task with isolation "docker" was to be started, but ${what}.`,
    hint,
  );
}
