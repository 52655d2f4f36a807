import { describe, inject } from 'vitest';
import type { FoundEngine } from './find-docker-engine.js';

/** What a suite gets: images that are there. The engine is reached as dockerode does, or by `dockerEnv()`. */
export type TestEngine = Extract<FoundEngine, { found: true }>;

/** The suite against a real engine. Where none answers it is left out, and the run names that at its end. */
export function describeDocker(name: string, suite: (engine: TestEngine) => void): void {
  const engine = inject('dockerEngine');
  if (engine.found) describe(`${name} (Docker)`, () => suite(engine));
  else describe.skip(`${name} (Docker: ${engine.why})`, () => {});
}

/** How a program that is started with an environment of its own reaches the engine. */
export function dockerEnv(): Record<string, string> {
  const names = ['DOCKER_HOST', 'DOCKER_TLS_VERIFY', 'DOCKER_CERT_PATH'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
