// Loaded into server and keepers ahead of their own code: writes down for how long each kept its event loop from its timers.
const { appendFileSync } = require('node:fs');
const { basename } = require('node:path');

const LOOK_MS = 20;
/** Less is of no interest. */
const SHORT_MS = 200;
const file = process.env.LOOP_PROBE_FILE;
const [, entry = ''] = process.argv;
if (file !== undefined && /^(?:main|keeper)/.test(basename(entry))) {
  let wallMs = performance.now();
  let cpu = process.cpuUsage();
  setInterval(() => {
    const nowMs = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    // On a busy machine a callback that needs no time waits for a processor: what counts is what it used.
    const blockedMs = Math.min(nowMs - wallMs, (user + system) / 1000);
    wallMs = nowMs;
    cpu = process.cpuUsage();
    if (blockedMs > SHORT_MS)
      appendFileSync(
        file,
        `${JSON.stringify({ program: basename(entry), blockedMs: Math.round(blockedMs) })}\n`,
      );
  }, LOOK_MS).unref();
}
