import { describe, inject, it } from 'vitest';
import type { FoundEngine } from './find-docker-engine.js';

/** What a suite gets: images that are there. The engine is reached as dockerode does by itself, or by `dockerEnv()`. */
export type TestEngine = Extract<FoundEngine, { found: true }>;

/** The suite against a real engine. Where none answers it is left out, by name; with CI=true that is a failure. */
export function describeDocker(name: string, suite: (engine: TestEngine) => void): void {
  const engine = inject('dockerEngine');
  if (engine.found) describe(`${name} (Docker)`, () => suite(engine));
  else if (process.env['CI'] === 'true')
    describe(`${name} (Docker)`, () => {
      it('finds an engine', () => {
        throw new Error(`${engine.why} Start one with scripts/test-engine.sh.`);
      });
    });
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
