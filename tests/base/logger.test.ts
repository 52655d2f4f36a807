import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { createStderrLogger } from '../../src/base/logger.js';
import type { Clock } from '../../src/base/clock.js';
import { systemClock } from '../../src/base/system-clock.js';

const clock: Clock = { ...systemClock, now: () => Date.UTC(2025, 0, 2, 3, 4, 5, 6) };

function logged(
  log: (logger: ReturnType<typeof createStderrLogger>) => void,
  level: 'debug' | 'warn' = 'debug',
): string[] {
  const lines: string[] = [];
  log(createStderrLogger(level, (line) => lines.push(line), clock));
  return lines;
}

describe('createStderrLogger', () => {
  test('lets no message or field forge a line or reach the terminal', () => {
    const [line = ''] = logged((logger) =>
      logger.warn('a\n[2025] [ERROR] forged\r\u001b[2J\u2028', { 'k\n': 'v\u009b1m\n' }),
    );
    expect(line).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028]/);
    expect(line.match(/\n/g)).toHaveLength(1);
    expect(line).toContain('a ⏎ [2025] [ERROR] forged ⏎ \\u001b[2J\\u2028');
  });
});

describe('stderrWriter', () => {
  test('a process whose stderr is closed goes on', async () => {
    const program = `
      import { createStderrLogger } from ${JSON.stringify(new URL('../../src/base/logger.ts', import.meta.url).href)};
      const logger = createStderrLogger('info');
      process.stdin.once('data', () => {
        for (let i = 0; i < 100; i++) logger.info('x'.repeat(1000));
        setTimeout(() => { logger.info('again'); process.stdout.write('alive'); process.exit(0); }, 50);
      });
      process.stdout.write('ready ');`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program]);
    await once(child.stdout, 'readable');
    child.stderr.destroy();
    child.stdin.end('go');
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(said).toBe('ready alive');
    expect(child.exitCode).toBe(0);
  });
});
