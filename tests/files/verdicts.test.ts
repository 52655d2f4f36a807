import { expect, test } from 'vitest';
import { JudgedFolders } from '../../src/files/judged-folders.js';
import { Verdicts } from '../../src/files/verdicts.js';

test.each([
  ['is kept when the rules are as they were when git was asked', true, false],
  ['is not kept when they were changed meanwhile', false, undefined],
])('what git says %s', (_name, isUnchanged, kept) => {
  const folders = new JudgedFolders(0, Date.now);
  const verdicts = new Verdicts(folders, Date.now(), () => isUnchanged);
  verdicts.add(folders.first, 'name', false);
  expect(folders.first.ignored.get('name')).toBeUndefined();
  verdicts.keep();
  expect(folders.first.ignored.get('name')).toBe(kept);
});
