// Pure.
import type { DockerEngine } from '../engine/docker-engine.js';
import { MARK_LABEL } from './task-container-plan.js';

/**
 * Ends and removes the containers of a task whose keeper is gone, known by the task's secret. Resolves with how many there
 * were; none when the engine does not answer: a container dies with its keeper, this is for what that missed.
 */
export async function sweepTaskContainers(engine: DockerEngine, mark: string): Promise<number> {
  const found = await engine.call((client) =>
    client.listContainers({ all: true, filters: { label: [`${MARK_LABEL}=${mark}`] } }),
  );
  if (found.kind !== 'value') return 0;
  for (const { Id } of found.value)
    await engine.call((client) => client.getContainer(Id).remove({ force: true, v: true }));
  return found.value.length;
}
