import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { messageText, rowText } from '../../vscode/src/shown-text.js';

const src = fileURLToPath(new URL('../../vscode/src/', import.meta.url));

test('no text becomes a link in a message, and what is not seen is an escape', () => {
  const name = '[Why](command:workbench.action.quit)\u202e.bin';
  expect(messageText(`${name} is binary.\r\n`)).toBe(
    '[Why] (command:workbench.action.quit)\\u202e.bin is binary.\n',
  );
});

test('no text becomes an icon in a row of a list', () => {
  expect(rowText('$(check) safe\u200b')).toBe('$ (check) safe\\u200b');
});

test('every message is shown by the one module that lets nothing become a link', () => {
  const showing = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      path.endsWith('.ts') &&
      /show(?:Information|Warning|Error)Message/.test(readFileSync(join(src, path), 'utf8')),
  );
  expect(showing).toEqual(['messages.ts']);
});
