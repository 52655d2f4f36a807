import { describe, expect, it } from 'vitest';
import { resetTimeOf } from '../../../src/claude/trouble/reset-time.js';

const now = Date.parse('2026-11-22T07:32:00Z');
const textOf = (text: string, at = now, zone?: string): string | undefined => {
  const resetMs = resetTimeOf(text, at, zone);
  return resetMs === undefined ? undefined : new Date(resetMs).toISOString();
};

describe('the time of a reset, read from the words of the CLI', () => {
  it.each([
    ["You've hit your session limit · resets 9:35am (UTC)", '2026-11-22T09:35:00.000Z'],
    ["You've hit your 5-hour limit · resets 3pm (Europe/Berlin)", '2026-11-22T14:00:00.000Z'],
    ["You've hit your 5-hour limit · resets 12am (UTC)", '2026-11-23T00:00:00.000Z'],
    ["You've hit your 5-hour limit · resets 12:05pm (UTC)", '2026-11-22T12:05:00.000Z'],
    ["You've hit your session limit · resets 12:30am (Asia/Kolkata)", '2026-11-22T19:00:00.000Z'],
    ["You've hit your weekly limit · resets Nov 25, 9:44am (UTC)", '2026-11-25T09:44:00.000Z'],
    ["You've hit your weekly limit · resets Jan 2, 2027, 9am (America/New_York)", '2027-01-02T14:00:00.000Z'],
    ["You've hit your weekly limit · resets Jan 2, 9am (UTC)", '2027-01-02T09:00:00.000Z'],
    ["You've hit your 5-hour limit · resets 9:31am (UTC) · progress saved", '2026-11-22T09:31:00.000Z'],
    ['Claude AI usage limit reached|1795339919', '2026-11-22T09:31:59.000Z'],
  ])('%s', (text, expected) => {
    expect(textOf(text)).toBe(expected);
  });

  it('a time of day that has just passed is today, one long past is tomorrow', () => {
    expect(textOf('resets 7:31am (UTC)')).toBe('2026-11-22T07:31:00.000Z');
    expect(textOf('resets 6:31am (UTC)')).toBe('2026-11-23T06:31:00.000Z');
  });

  it('just before midnight, a time after midnight is tomorrow', () => {
    expect(textOf('resets 2am (UTC)', Date.parse('2026-12-31T23:58:00Z'))).toBe('2027-01-01T02:00:00.000Z');
  });

  it('a day on which clocks are set back has its real length', () => {
    const before = Date.parse('2026-10-24T21:00:00Z');
    expect(textOf('resets 9pm (Europe/Berlin)', before)).toBe('2026-10-25T20:00:00.000Z');
    expect(textOf('resets 4am (Europe/Berlin)', before)).toBe('2026-10-25T03:00:00.000Z');
  });

  it('without a zone in the text, that of the machine is used', () => {
    expect(textOf('Usage limit reached · limit resets 9:44am', now, 'America/New_York')).toBe(
      '2026-11-22T14:44:00.000Z',
    );
  });

  it.each([
    'The usage limit is reached.',
    'resets soon',
    'resets 25:00 (UTC)',
    'resets 13pm (UTC)',
    'resets 9:75am (UTC)',
    'resets 9am (Middle/Earth)',
    'resets Foo 25, 9am (UTC)',
  ])('no time is made up: %s', (text) => {
    expect(textOf(text)).toBeUndefined();
  });
});
