import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { ProvidedContext } from 'vitest';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';
import { needs, type NeedName } from './need-table.js';

const root = join(import.meta.dirname, '..', '..');
/** Every flaky test that this clone has met; who lands a change writes them, with their causes, into tests/flaky.md. */
const FLAKY = join(root, '.cache', 'flaky.ndjson');

/**
 * Names, at the end of a run, what was left out and which tests passed at their second try alone, and writes both, with the time and
 * the tests of each project, into the file that CHECK_RESULT names.
 */
export default class GateReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const flaky = tests.filter((test) => test.diagnostic()?.flaky === true);
    const result = { missing: this.#missing(), flaky: flaky.map(flakyLine), projects: projects(modules) };
    this.#keep(flaky);
    const file = process.env['CHECK_RESULT'];
    if (file !== undefined) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
      return;
    }
    for (const name of result.missing)
      process.stdout.write(`left out: tests that need ${needs[name].title}; to add it: ${needs[name].add}\n`);
    for (const line of result.flaky) process.stdout.write(`flaky: ${line}\n`);
  }

  #missing(): NeedName[] {
    const missing = (this.#vitest?.projects ?? []).flatMap((project) => {
      // A project without tests to run is not set up.
      const provided: Partial<ProvidedContext> = project.getProvidedContext();
      return provided.missing ?? [];
    });
    return [...new Set(missing)];
  }

  #keep(flaky: readonly TestCase[]): void {
    if (flaky.length === 0) return;
    mkdirSync(dirname(FLAKY), { recursive: true });
    for (const test of flaky) {
      const errors = test.result().errors?.map(({ message }) => message) ?? [];
      const row = { at: new Date().toISOString(), file: fileOf(test), test: test.fullName, errors };
      appendFileSync(FLAKY, `${JSON.stringify(row)}\n`);
    }
  }
}

function flakyLine(test: TestCase): string {
  return `${fileOf(test)} > ${test.fullName} (${Math.round(test.diagnostic()?.duration ?? 0)} ms)`;
}

function fileOf(test: TestCase): string {
  return relative(root, test.module.moduleId);
}

/** Tests, skipped ones and milliseconds of each project. */
function projects(modules: readonly TestModule[]): Record<string, Record<string, number>> {
  const found: Record<string, Record<string, number>> = {};
  for (const module of modules) {
    const sum = (found[module.project.name] ??= { files: 0, passed: 0, failed: 0, skipped: 0, ms: 0 });
    sum['files'] = (sum['files'] ?? 0) + 1;
    const { duration, collectDuration, setupDuration } = module.diagnostic();
    sum['ms'] = Math.round((sum['ms'] ?? 0) + duration + collectDuration + setupDuration);
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      sum[state] = (sum[state] ?? 0) + 1;
    }
  }
  return found;
}
