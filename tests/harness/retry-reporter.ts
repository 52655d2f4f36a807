import type { Reporter, TestCase } from 'vitest/node';

/** Tells which tests passed only the second time, and how they failed the first: each is a fault of a test or of the product. */
export class RetryReporter implements Reporter {
  readonly #retried: TestCase[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) this.#retried.push(test);
  }

  onTestRunEnd(): void {
    for (const test of this.#retried) {
      const faults = (test.result().errors ?? []).map((fault) => fault.stack ?? fault.message);
      process.stdout.write(
        `PASSED ONLY WHEN RETRIED: ${test.module.relativeModuleId} > ${test.fullName}\n${faults.join('\n')}\n`,
      );
    }
  }
}
