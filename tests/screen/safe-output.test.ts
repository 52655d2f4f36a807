import headless from '@xterm/headless';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { Screen } from '../../src/screen/screen.js';
import { SafeOutput } from '../../src/screen/safe-output.js';
import { allScreenFixtures, recordedBytes } from '../claude/screen-fixtures.js';

const safe = (text: string | Buffer): string => new SafeOutput().filter(Buffer.from(text));
const inPieces = (bytes: Buffer, size: number): string => {
  const filter = new SafeOutput();
  let out = '';
  for (let at = 0; at < bytes.length; at += size) out += filter.filter(bytes.subarray(at, at + size));
  return out;
};

/** All that ECMA-48 and xterm know to introduce a sequence, and what terminals have added: far more than is in use. */
function probes(): string[] {
  const codes = (from: number, to: number): string[] =>
    Array.from({ length: to - from + 1 }, (_, at) => String.fromCharCode(from + at));
  const finals = codes(0x40, 0x7e);
  const marks = ['', ...codes(0x20, 0x2f)];
  const csi = finals.flatMap((final) =>
    ['', '?', '>', '=', '<'].flatMap((prefix) =>
      marks.flatMap((mark) =>
        ['', '0', '1', '6', '14', '21', '1;2', '1;1;1;1;1;1', '2026', '1004', '9001'].map(
          (numbers) => `${prefix}${numbers}${mark}${final}`,
        ),
      ),
    ),
  );
  const strings = [
    ...['0', '1', '2', '3', '4', '5', '7', '9', '10', '11', '12', '21', '22', '50', '51', '52', '60', '99'],
    ...['104', '110', '133', '176', '555', '633', '697', '701', '720', '777', '1337', '5522', 'l', 'L', 'I'],
  ].flatMap((code) =>
    [
      '?',
      'c;cHduZWQ=',
      '1;?',
      ';foreground=?',
      'Copy=:cHduZWQ=',
      'File=name=a:YQ==',
      'ReportCellSize',
      'D;0',
    ].map((data) => `${code};${data}`),
  );
  const introduced = (
    seven: string,
    eight: string,
    rest: readonly string[],
    ends: readonly string[],
  ): string[] =>
    rest.flatMap((body) => [seven, eight].flatMap((start) => ends.map((end) => start + body + end)));
  const ends = ['\x07', '\x1b\\', '\x9c'];
  return [
    ...introduced('\x1b[', '\x9b', csi, ['']),
    ...introduced('\x1b]', '\x9d', strings, ends),
    ...introduced(
      '\x1bP',
      '\x90',
      ['$qm', '+q544e', '1000p', '0;1|17/ab', '1$tx', '!|0', '>|x', 'q#0'],
      ends.slice(1),
    ),
    ...introduced('\x1b_', '\x9f', ['Ga=q,i=1;AAAA', 'x'], ends.slice(1)),
    ...introduced('\x1b^', '\x9e', ['x'], ends.slice(1)),
    ...introduced('\x1bX', '\x98', ['x'], ends.slice(1)),
    ...[...codes(0x20, 0x7e)].flatMap((final) => marks.map((mark) => `\x1b${mark}${final}`)),
    ...codes(0x00, 0x1f),
    ...codes(0x7f, 0x9f),
  ];
}

/** What may be left, by itself: text, safe controls, and the sequences that this test knows to be safe. */
const harmless =
  /^(?:[^\x00-\x1f\x7f-\x9f]|[\x07-\x0f]|\x1b[78DEHM=>]|\x1b[()*+][0AB]|\x1b\[[\d;:]*[@A-MPSTXZ`abdefgm]|\x1b\[[\d;]*r|\x1b\[[su]|\x1b\[4[hl]|\x1b\[\?(?:1|6|7|12|25|47|104[789]|2004|2026)[hl]|\x1b\[\d? q|\x1b\[!p|\x1b\]2;[^\x00-\x1f\x7f-\x9f]*\x07|\x1b\]8;(?:id=[\w.-]*)?;(?:https?:\/\/[\x21-\x7e]+)?\x1b\\)*$/;

/** What a terminal says by itself when it is shown this. */
async function answersTo(text: string): Promise<string> {
  let said = '';
  const reply = (data: string): void => void (said += data);
  const screen = new Screen({ columns: 80, rows: 24, scrollback: 10, clock: systemClock, reply });
  void screen.feed(Buffer.from(text));
  await screen.parsed();
  screen.dispose();
  return said;
}

describe('what a second terminal is shown', () => {
  it('is only what is known to be safe, whatever a program prints, and no terminal answers any of it', async () => {
    const all = probes();
    expect(all.length).toBeGreaterThan(100_000);
    for (const probe of all) {
      const shown = safe(`a${probe}b\x1b[0m`);
      if (!harmless.test(shown)) expect.fail(`${JSON.stringify(probe)} gives ${JSON.stringify(shown)}`);
    }
    expect(await answersTo(all.join(''))).not.toBe('');
    expect(await answersTo(safe(all.join('')))).toBe('');
  });

  it('is the same however the output is split, and when it is filtered twice', () => {
    const some = probes().filter((_, index) => index % 41 === 0);
    for (const text of [
      ...some,
      'é漢😀',
      `\x1b]0;${'x'.repeat(2_100)}\x07b`,
      `\x1bP${'x'.repeat(9_000)}\x1b\\b`,
    ]) {
      const bytes = Buffer.from(`a${text}b\x1b[1;2Hc`);
      const whole = safe(bytes);
      expect(inPieces(bytes, 1)).toBe(whole);
      expect(inPieces(bytes, 3)).toBe(whole);
      expect(safe(whole)).toBe(whole);
    }
  });

  it.each([
    ['the clipboard', '\x1b]52;c;cHduZWQ=\x07'],
    ['a file of iTerm', '\x1b]1337;File=name=YQ==:YQ==\x07'],
    ['a link that is no web page', '\x1b]8;;file:///etc/passwd\x1b\\'],
    ['a string that never ends', `\x1b]52;c;${'a'.repeat(100_000)}`],
    ['reports of the mouse and the focus', '\x1b[?1000h\x1b[?1003;1006h\x1b[?1004h'],
    ['keys in another encoding', '\x1b[>1u\x1b[=5u\x1b[>4;2m\x1b[?9001h'],
    ['bytes that are no text', '\x05\x00'],
  ])('is without %s', (_, sequence) => {
    expect(safe(`before ${sequence}`)).toBe('before ');
  });

  it.each([
    ['style', '\x1b[31;1mred\x1b[38;2;1;2;3m\x1b[4:3m\x1b[0m'],
    ['cursor moves', '\x1b[5;9H\x1b[u\x1b[s\x1b[3G\r\n'],
    ['a title', '\x1b]2;What now?\x07'],
    ['a link', '\x1b]8;;http://localhost/?a=b\x1b\\link\x1b]8;;\x1b\\'],
    ['modes', '\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?2026l'],
  ])('keeps %s', (_, text) => {
    expect(safe(text)).toBe(text);
  });

  it('is the same as on its own terminal, for every recorded screen of Claude Code', async () => {
    const shown = async (columns: number, rows: number, bytes: string | Buffer): Promise<string> => {
      const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
      await new Promise<void>((resolve) => terminal.write(bytes, resolve));
      const { active } = terminal.buffer;
      const lines = Array.from({ length: rows }, (_, row) =>
        active.getLine(active.baseY + row)?.translateToString(),
      );
      terminal.dispose();
      return JSON.stringify([lines, active.cursorX, active.cursorY]);
    };
    for (const fixture of allScreenFixtures()) {
      const bytes = recordedBytes(fixture);
      const { columns, rows } = fixture;
      expect(await shown(columns, rows, safe(bytes))).toBe(await shown(columns, rows, bytes));
    }
  });
});
