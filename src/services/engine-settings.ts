import type { Config } from '../config/schema.js';
import type { EngineSettings } from '../processes/docker/engine/engine-address.js';

/** Where the Docker engine is, as the settings say. */
export function engineSettings(
  config: Pick<Config, 'docker_host' | 'docker_cert_path' | 'docker_tls_verify'>,
): EngineSettings {
  return {
    host: config.docker_host,
    certPath: config.docker_cert_path,
    tlsVerify: config.docker_tls_verify,
  };
}
