#!/usr/bin/env node
// Runs npm scripts side by side; fails when one of them fails, after all have ended.
import { spawn } from 'node:child_process';

const codes = await Promise.all(
  process.argv.slice(2).map(
    (name) =>
      new Promise((resolve) => {
        const child = spawn('npm', ['run', '--silent', name], { stdio: 'inherit' });
        child.on('error', () => resolve(1));
        child.on('exit', (code) => resolve(code ?? 1));
      }),
  ),
);
process.exitCode = Math.max(0, ...codes);
