// Pure.
import { expandHome } from '../config/home-path.js';
import type { EngineSettings } from '../processes/docker/engine/engine-address.js';
import type { BridgeOptions } from './options.js';

/** Where the Docker engine is, by Docker's own variables, which count when they are not empty. */
export function engineSettings({ env, homeDir }: Pick<BridgeOptions, 'env' | 'homeDir'>): EngineSettings {
  const host = env['DOCKER_HOST'] ?? '';
  const certPath = env['DOCKER_CERT_PATH'] ?? '';
  return {
    host: host === '' ? null : host,
    certPath: certPath === '' ? null : expandHome(certPath, homeDir),
    tlsVerify: (env['DOCKER_TLS_VERIFY'] ?? '') !== '',
  };
}
