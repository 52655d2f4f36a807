// ESLint 10 reads flat config only; the rules live in .eslintrc.json, which FlatCompat loads.
import { readFileSync } from 'node:fs';
import { FlatCompat } from '@eslint/eslintrc';
import js from '@eslint/js';
const { root: _root, ...rules } = JSON.parse(
  readFileSync(new URL('.eslintrc.json', import.meta.url), 'utf8'),
);
const compat = new FlatCompat({
  baseDirectory: import.meta.dirname,
  recommendedConfig: js.configs.recommended,
  allConfig: js.configs.all,
});
export default [
  {
    ignores: ['dist/**', 'coverage/**', 'release/**', 'node_modules/**', '.cache/**', '**/*.cjs'],
  },
  ...compat.config(rules).map((config) => ({ files: ['**/*.ts', '**/*.tsx'], ...config })),
  // What vitest loads is a default export, and its configuration has the time limits.
  {
    files: ['**/vitest.config.ts', 'tests/harness/gate-reporter.ts'],
    rules: { 'no-restricted-exports': 'off', 'no-restricted-syntax': 'off' },
  },
];
