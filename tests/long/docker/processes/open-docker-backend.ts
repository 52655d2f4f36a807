import { randomBytes } from 'node:crypto';
import Dockerode from 'dockerode';
import { afterAll, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/system-clock.js';
import { silentLogger } from '../../../../src/base/logger.js';
import { DockerBackend } from '../../../../src/processes/docker/docker-backend.js';
import { DockerEngine } from '../../../../src/processes/docker/engine.js';
import { WORK_DIRECTORY } from '../../../../src/processes/docker/container-options.js';
import type { ProcessSpec } from '../../../../src/processes/process-handle.js';
import { engineSettings } from '../../../../src/services/engine-settings.js';
import { ownIdentity, processState } from '../../../../src/store/process-identity.js';
import type { ProcessIdentity } from '../../../../src/store/process-place.js';
import {
  Collector,
  wordsOf,
  type BackendUnderTest,
  type Command,
  type OpenBackend,
  type Started,
} from '../../../contracts/process-backend/under-test.js';

export interface OpenOptions {
  readonly image: string;
  /** Address of the engine, if it is not the one that the environment names. */
  readonly host?: string;
  /** Whose containers they are; by default nobody else's. */
  readonly ownerId?: string;
  readonly keeper?: ProcessIdentity;
}

export interface OpenedDockerBackend extends BackendUnderTest {
  readonly backend: DockerBackend;
  readonly ownerId: string;
  readonly spec: (command: readonly [string, ...string[]], options?: Partial<ProcessSpec>) => ProcessSpec;
}

/** The engine of the tests, asked past the bridge. */
export const direct = new Dockerode();

/** The engine that the tests use, by the variables of Docker. */
export function openEngine(host?: string): DockerEngine {
  const settings = engineSettings({ env: process.env, homeDir: process.env['HOME'] ?? '/' });
  return new DockerEngine({ settings: { ...settings, ...(host && { host }) }, clock: systemClock });
}

/** A backend of the test's own; when the test is over, its containers and volumes are gone. */
export async function openDockerBackend(options: OpenOptions): Promise<OpenedDockerBackend> {
  const opened = await createDockerBackend(options);
  onTestFinished(() => removeAll(opened));
  return opened;
}

/**
 * Opens backends for the tests of a suite, also for those that run side by side: all of them get the same one, which knows the
 * image after the first, but those that dispose it. What they leave running is ended at the end, and that the engine has
 * removed it is waited for then.
 */
export function shareDockerBackend(options: OpenOptions): OpenBackend {
  let shared: Promise<OpenedDockerBackend> | undefined;
  const opened: Promise<OpenedDockerBackend>[] = [];
  const open = (): Promise<OpenedDockerBackend> => {
    const one = createDockerBackend(options);
    opened.push(one);
    return one;
  };
  afterAll(async () => {
    for (const one of opened) await removeAll(await one);
  });
  return async (needs) => {
    if (needs?.alone === true) return open();
    const { backend, spec } = await (shared ??= open());
    return {
      spec,
      backend: {
        spawn: (wanted, sink) => backend.spawn(wanted, sink),
        dispose: () => Promise.reject(new Error('This backend is others’ too: open one with `alone`.')),
      },
    };
  };
}

async function createDockerBackend(options: OpenOptions): Promise<OpenedDockerBackend> {
  const ownerId = options.ownerId ?? `test-${randomBytes(8).toString('hex')}`;
  const backend = new DockerBackend({
    engine: openEngine(options.host),
    owner: { id: ownerId, keeper: options.keeper ?? (await ownIdentity()) },
    image: options.image,
    logger: silentLogger,
    keeperState: processState,
    killGraceMs: 500,
  });
  const spec: OpenedDockerBackend['spec'] = (command, { env, ...others } = {}) => ({
    id: `proc_${randomBytes(10).toString('hex')}`,
    image: options.image,
    cwd: WORK_DIRECTORY,
    ...others,
    command,
    env: { ...env },
  });
  return { backend, ownerId, spec };
}

async function removeAll({ backend, ownerId }: OpenedDockerBackend): Promise<void> {
  await backend.dispose();
  const { Volumes } = await direct.listVolumes({ filters: { label: [ownerLabel(ownerId)] } });
  await Promise.all(Volumes.map(({ Name }) => direct.getVolume(Name).remove()));
}

/** Starts it with what only containers have, too; throws when the backend refuses. */
export async function startContainer(
  test: OpenedDockerBackend,
  command: Command,
  options?: Partial<ProcessSpec>,
): Promise<Started> {
  const output = new Collector();
  return { process: await test.backend.spawn(test.spec(wordsOf(command), options), output), output };
}

/** Names of all containers with this owner. */
export async function namesOf(ownerId: string): Promise<string[]> {
  const filters = { label: [ownerLabel(ownerId)] };
  return (await direct.listContainers({ all: true, filters })).flatMap(({ Names }) => Names);
}

function ownerLabel(ownerId: string): string {
  return `claude-code-bridge.owner=${ownerId}`;
}
