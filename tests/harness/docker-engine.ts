import { describe, inject } from 'vitest';
import type { FoundEngine } from './find-docker-engine.js';
import { onPath } from './need-table.js';

/** What a suite gets: images that are there. The engine is reached as dockerode does by itself, or by `dockerEnv()`. */
export type TestEngine = Extract<FoundEngine, { found: true }>;

/** The suite against a real engine. Where none answers it is left out, and the run names that at its end. */
export function describeDocker(name: string, suite: (engine: TestEngine) => void): void {
  describeWith(name, inject('dockerEngine'), suite);
}

/** The same for a suite that also runs the program `docker`. */
export function describeDockerProgram(name: string, suite: (engine: TestEngine) => void): void {
  const engine = inject('dockerEngine');
  const hasProgram = onPath('docker') !== undefined;
  const why = 'The program docker is not on the PATH.';
  describeWith(name, engine.found && !hasProgram ? { found: false, why } : engine, suite);
}

function describeWith(name: string, engine: FoundEngine, suite: (engine: TestEngine) => void): void {
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
