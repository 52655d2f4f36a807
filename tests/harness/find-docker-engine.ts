import Docker from 'dockerode';
import { messageOf } from '../../src/base/errors.js';

/** Made by scripts/test-engine.sh from what the machine has. */
const IMAGE_PREFIX = 'claude-code-bridge-test/';
const ANSWER_LIMIT_MS = 5_000;

/** The engine that the Docker tests use, or why there is none. */
export type FoundEngine =
  | { readonly found: true; readonly busyboxImage: string; readonly nodeImage: string }
  | { readonly found: false; readonly why: string };

/** The engine that DOCKER_HOST names, or that listens at the usual socket. */
export async function findEngine(): Promise<FoundEngine> {
  try {
    const docker = new Docker({ timeout: ANSWER_LIMIT_MS });
    await docker.ping();
    const names = new Set((await docker.listImages()).flatMap(({ RepoTags }) => RepoTags ?? []));
    const [busyboxImage, nodeImage] = [`${IMAGE_PREFIX}busybox:latest`, `${IMAGE_PREFIX}node:latest`];
    const missing = [busyboxImage, nodeImage].filter((name) => !names.has(name));
    return missing.length === 0
      ? { found: true, busyboxImage, nodeImage }
      : { found: false, why: `The engine answers, but has no image ${missing.join(', ')}.` };
  } catch (error) {
    return { found: false, why: `No engine answers (${messageOf(error)}).` };
  }
}

/** Rejects when tests left containers. */
export async function findNothingLeft(): Promise<void> {
  const containers = await new Docker({ timeout: ANSWER_LIMIT_MS }).listContainers({ all: true });
  const left = containers.filter(({ Image }) => Image.startsWith(IMAGE_PREFIX));
  if (left.length === 0) return;
  // Vitest only tells an error of a teardown; the run must not count as passed.
  process.exitCode = 1;
  throw new Error(`The tests left containers:\n${left.map(({ Names }) => Names.join(' ')).join('\n')}`);
}
