import { expandHome } from '../config/home-path.js';
import type { EngineSettings } from '../processes/docker/engine/engine-address.js';
import type { BridgeOptions } from './options.js';

/** Where the Docker engine is: by the setting, and by Docker's own variables, which count when they are not empty. */
export function engineSettings({
  config,
  env,
  homeDir,
}: Pick<BridgeOptions, 'config' | 'env' | 'homeDir'>): EngineSettings {
  const certPath = env['DOCKER_CERT_PATH'] ?? '';
  return {
    host: config.docker_host,
    certPath: certPath === '' ? null : expandHome(certPath, homeDir),
    tlsVerify: (env['DOCKER_TLS_VERIFY'] ?? '') !== '',
  };
}
