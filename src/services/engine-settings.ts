// Pure.
import { join, posix } from 'node:path';
import { expandHome } from '../config/places.js';
import type { EngineSettings } from '../processes/docker/find-engine.js';

/** Where the Docker engine is, by Docker's own variables, which count when they are not empty. */
export function engineSettings({
  env,
  homeDir,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
}): EngineSettings {
  const given = (name: string) => (env[name] ? env[name] : null);
  const configDir = given('DOCKER_CONFIG');
  return {
    host: given('DOCKER_HOST'),
    tlsVerify: given('DOCKER_TLS_VERIFY') !== null,
    context: given('DOCKER_CONTEXT'),
    configDir: configDir === null ? join(homeDir, '.docker') : expandHome(configDir, homeDir),
    sockets: usualSockets(homeDir, env),
  };
}

/** Of a system's engine, Docker Desktop, rootless Docker, Colima, Rancher Desktop and Podman. */
function usualSockets(homeDir: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const below = (folder: string | undefined, ...paths: string[]) =>
    folder === undefined || folder === '' ? [] : paths.map((path) => posix.join(folder, path));
  const runtimeDir = env['XDG_RUNTIME_DIR'];
  return [
    '/var/run/docker.sock',
    ...below(homeDir, '.docker/run/docker.sock', '.docker/desktop/docker.sock'),
    ...below(runtimeDir, 'docker.sock'),
    ...below(homeDir, '.colima/default/docker.sock', '.rd/docker.sock'),
    ...below(runtimeDir, 'podman/podman.sock'),
    ...below(homeDir, '.local/share/containers/podman/machine/podman.sock'),
    ...below(env['TMPDIR'], 'podman/podman-machine-default-api.sock'),
  ];
}
