import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { boundedWriter, createStderrLogger, silentLogger, stderrWriter } from '../../src/base/logger.js';
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
  test('writes time, level, message and fields on one line', () => {
    expect(logged((logger) => logger.info('task started', { task: 'task_1', pid: 3 }))).toEqual([
      '[2025-01-02T03:04:05.006Z] [INFO] task started {"task":"task_1","pid":3}\n',
    ]);
  });

  test('writes its level and those above; the silent logger writes nothing', () => {
    const all = (logger: typeof silentLogger): void => {
      logger.debug('d');
      logger.info('i');
      logger.warn('w');
      logger.error('e');
    };
    expect(logged(all, 'warn').map((line) => line.slice(27, 34))).toEqual(['[WARN] ', '[ERROR]']);
    all(silentLogger);
  });

  test('lets no message or field forge a line or reach the terminal', () => {
    const [line = ''] = logged((logger) =>
      logger.warn('a\n[2025] [ERROR] forged\r\u001b[2J\u2028', { 'k\n': 'v\u009b1m\n' }),
    );
    expect(line).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028]/);
    expect(line.match(/\n/g)).toHaveLength(1);
    expect(line).toContain('a ⏎ [2025] [ERROR] forged ⏎ \\u001b[2J\\u2028');
  });

  test('limits the length of a line', () => {
    const [line = ''] = logged((logger) => logger.info('m'.repeat(5_000_000), { f: 'f'.repeat(5_000_000) }));
    expect(line.length).toBeLessThan(8_100);
  });

  test('shows errors with their stack and survives what JSON cannot hold', () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const lines = logged((logger) => {
      logger.error('e', { fault: new Error('boom') });
      logger.error('e', circle);
      logger.error('e', { big: 12n });
    });
    expect(lines[0]).toContain('"fault":"Error: boom\\n    at ');
    expect(lines[1]).toContain('{"unshowable":');
    expect(lines[2]).toContain('{"big":"12"}');
  });
});

describe('stderrWriter', () => {
  test('drops and counts lines while no one reads, and reports the count afterwards', () => {
    const written: string[] = [];
    const stream = {
      writableLength: 2_000_000,
      write: (line: string) => written.push(line) > 0,
      on: () => undefined,
    };
    const write = stderrWriter(stream);
    write('one\n');
    write('two\n');
    stream.writableLength = 0;
    write('three\n');
    expect(written).toEqual(['(2 log lines were dropped: stderr was not read)\n', 'three\n']);
  });

  test('survives a stream that throws', () => {
    const write = stderrWriter({
      writableLength: 0,
      write: () => {
        throw new Error('EAGAIN');
      },
      on: () => undefined,
    });
    expect(() => write('line\n')).not.toThrow();
  });

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

test('a bounded writer says that it ends, once', () => {
  const lines: string[] = [];
  const write = boundedWriter((line) => void lines.push(line), 12);
  for (let number = 0; number < 5; number++) write('five\n');
  expect(lines).toEqual(['five\n', 'five\n', '(the log ends here: it has 12 bytes)\n']);
});
