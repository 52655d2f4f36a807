import { systemClock } from '../base/clock.js';
import type { BridgeOptions } from '../bridge.js';
import { DockerBackend } from '../processes/docker/docker-backend.js';
import { DockerEngine } from '../processes/docker/docker-engine.js';
import type { DockerSpec } from '../processes/docker/docker-spec.js';
import type { ProcessBackend } from '../processes/process-backend.js';
import type { ProcessIdentity } from '../store/process-identity.js';

/** Processes in containers of the engine that the settings name; `statePath` tells whose they are. */
export function createDockerBackend(
  { config, homeDir, logger }: BridgeOptions,
  { statePath, keeper }: { readonly statePath: string; readonly keeper: ProcessIdentity },
): ProcessBackend {
  const engine = new DockerEngine({
    settings: {
      host: config.docker_host,
      certPath: config.docker_cert_path,
      tlsVerify: config.docker_tls_verify,
    },
    homeDir,
    clock: systemClock,
  });
  const backend = new DockerBackend({
    engine,
    owner: { id: statePath, keeper },
    clock: systemClock,
    logger,
  });
  return {
    mode: 'docker',
    spawn: (spec, sink) => {
      const whole: DockerSpec = { image: config.docker_image, ...spec };
      return backend.spawn(whole, sink);
    },
    dispose: async () => {
      await backend.dispose();
      engine.dispose();
    },
  };
}
