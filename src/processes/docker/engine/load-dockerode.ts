import type Dockerode from 'dockerode';
import { BridgeError, messageOf, systemCodeOf } from '../../../base/errors.js';

export type DockerodeClass = typeof Dockerode;

/**
 * The package `dockerode`, which is not installed with the bridge: its 66 packages are not for everyone. Throws
 * DOCKER_UNAVAILABLE with the command that installs it when it is missing.
 */
export async function loadDockerode(): Promise<DockerodeClass> {
  try {
    return (await import('dockerode')).default;
  } catch (thrown) {
    const isMissing = systemCodeOf(thrown) === 'ERR_MODULE_NOT_FOUND';
    throw new BridgeError(
      'DOCKER_UNAVAILABLE',
      isMissing
        ? 'Docker mode needs the package dockerode, which is not installed.'
        : `The package dockerode cannot be loaded: ${messageOf(thrown)}`,
      'Ask the user to run `npm install --global dockerode@5` (with the same npm as the bridge), then try again.',
      { cause: thrown },
    );
  }
}
