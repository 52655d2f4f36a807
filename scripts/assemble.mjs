#!/usr/bin/env node
// Assembles every src/**/*.wat into a module of bytes beside it. With --check nothing is written, and a stale one is a fault.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import wabt from 'wabt';

const root = fileURLToPath(new URL('../src', import.meta.url));
const { parseWat } = await wabt();
const stale = [];
for (const name of readdirSync(root, { recursive: true }).filter((path) => path.endsWith('.wat'))) {
  const path = join(root, name);
  const module = parseWat(basename(path), readFileSync(path, 'utf8'), { simd: true });
  const bytes = Buffer.from(module.toBinary({}).buffer).toString('base64');
  module.destroy();
  const lines = bytes.match(/.{1,100}/g).map((line) => `  '${line}'`);
  const text = `// Assembled from ${basename(path)} by \`npm run assemble\`.\nexport const module =\n${lines.join(' +\n')};\n`;
  const target = path.replace(/\.wat$/, '-wasm.ts');
  if (existsSync(target) && readFileSync(target, 'utf8') === text) continue;
  stale.push(name);
  if (!process.argv.includes('--check')) writeFileSync(target, text);
}
if (process.argv.includes('--check') && stale.length > 0) {
  process.stderr.write(`Stale: ${stale.join(', ')}. Run \`npm run assemble\`.\n`);
  process.exitCode = 1;
}
