// Reads lines of a file in a process of its own and prints by how many bytes its memory grew at the most. Linux only.
import { readFileSync, writeFileSync } from 'node:fs';
import { filesAt } from '../../files/file-service.js';

const [folder = '', path = '', line = '1'] = process.argv.slice(2);
const { files } = filesAt(folder);
const { signal } = new AbortController();
const read = (startLine: number): Promise<unknown> =>
  files.readRange({ path, startLine, endLine: startLine + 99, maxBytes: 16_384, signal });
const bytesOf = (key: string): number =>
  Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) *
  1_024;

await read(1);
writeFileSync('/proc/self/clear_refs', '5');
const before = bytesOf('VmRSS');
await read(Number(line));
process.stdout.write(String(bytesOf('VmHWM') - before));
