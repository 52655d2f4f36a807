// Pure.
import { join } from 'node:path';
import { expandHome } from '../config/places.js';
import { usualSockets, type EngineSettings } from '../processes/docker/engine/engine-address.js';

/** Where the Docker engine is, by Docker's own variables, which count when they are not empty. */
export function engineSettings({
  env,
  homeDir,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
}): EngineSettings {
  const given = (name: string) => (env[name] ? env[name] : null);
  const [certPath, configDir] = [given('DOCKER_CERT_PATH'), given('DOCKER_CONFIG')];
  return {
    host: given('DOCKER_HOST'),
    certPath: certPath === null ? null : expandHome(certPath, homeDir),
    tlsVerify: given('DOCKER_TLS_VERIFY') !== null,
    context: given('DOCKER_CONTEXT'),
    configDir: configDir === null ? join(homeDir, '.docker') : expandHome(configDir, homeDir),
    sockets: usualSockets(homeDir, env),
  };
}
