// Pure.
import type { ProcessSpec } from '../process-handle.js';

/** What is asked for: a process in a container of its own. */
export interface DockerOptions extends ProcessSpec {
  readonly image?: string;
  /** A network of the engine, such as `bridge`; without it there is none but the container's own loopback. */
  readonly network?: string;
  /** Name of a volume to go on with; without it the container gets a new one. */
  readonly volume?: string;
  /** A folder of this machine that is seen at PROJECT_DIRECTORY, read only: the AllowedPath of a SpawnRequest. */
  readonly mountProject?: string;
}

export interface DockerSpec extends DockerOptions {
  readonly image: string;
}

/** The home and the usual working directory: a volume that outlives the container. */
export const WORK_DIRECTORY = '/home/agent';
export const PROJECT_DIRECTORY = '/project';
/** Where nothing is kept, nothing is executed, and no copy arrives: memory of the container. */
export const TMPFS_DIRECTORIES: readonly string[] = ['/tmp', '/var/tmp'];
/** User and group of everything that runs in a container. */
export const AGENT_ID = 1000;

export const MEMORY_BYTES = 512 * 1024 * 1024;
export const CPUS = 1;
export const PROCESS_LIMIT = 4_096;
