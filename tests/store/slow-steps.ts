// Loaded before a program: it pauses before and after each change and reading of a folder, sometimes for long, so that other
// processes act in between.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const SHORT_MS = 1;
const LONG_MS = 60;
const LONG_SHARE = 0.1;
const cell = new Int32Array(new SharedArrayBuffer(4));

function pause(): void {
  Atomics.wait(cell, 0, 0, Math.random() * (Math.random() < LONG_SHARE ? LONG_MS : SHORT_MS));
}

function slowed<A extends unknown[], R>(act: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    pause();
    try {
      return act(...args);
    } finally {
      pause();
    }
  };
}

fs.symlinkSync = slowed(fs.symlinkSync);
fs.renameSync = slowed(fs.renameSync);
fs.unlinkSync = slowed(fs.unlinkSync);
Object.assign(fs, { readdirSync: slowed(fs.readdirSync), readlinkSync: slowed(fs.readlinkSync) });
syncBuiltinESMExports();
