import { spawn } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { CallerModel, chatCaller, decide, starts, WAIT_FOR_TASK } from '../../harness/chat-caller.js';
import { describeRealClaude } from '../../harness/real-claude.js';
import { asksEnv, program } from '../../harness/scripted-agent.js';
import { soakRounds } from '../../harness/seeded-random.js';
import { startBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

const ROUNDS = 20;
const EACH = 10;
/** Of these, how many end while the turn goes on that starts them. */
const EARLY = 3;
const LAST_ENDS_AFTER_SECONDS = 12;
const LOOPS = 8;
/** Claude Code shows sixteen forms of a task. */
const QUESTIONS = 18;
/** From an end to the request of the caller's model. */
const BAR_MS = 2_000;
const PERCENTILE = 0.95;

/** Until it is called, or the test ends. */
function busyMachine(): () => void {
  const loops = Array.from({ length: LOOPS }, () => spawn('sh', ['-c', 'while :; do :; done']));
  const end = (): void => loops.forEach((loop) => loop.kill('SIGKILL'));
  onTestFinished(end);
  return end;
}

describeRealClaude('callers with many tasks', ({ version, binary }) => {
  it('follow them though they start on a busy machine, and hear each end once, soon, also in the middle of their own turn', async () => {
    const secondsOf = (at: number): number => (at < EARLY ? 0 : LAST_ENDS_AFTER_SECONDS - (EACH - at) * 0.8);
    const rounds = soakRounds(ROUNDS);
    /** When all tasks of a round were started. */
    const startedMs: number[] = [];
    const model = new CallerModel(({ userText, toolResults }) => {
      if (toolResults.length > 0) startedMs.push(Date.now());
      if (!userText.includes('Delegate this.')) return undefined;
      return starts((at) => `AGENT: ends ${secondsOf(at)}`, bridge.projects.slice(0, EACH));
    });
    const bridge = await startBridge({
      claude: program('worker', 'read -r _ _ seconds; sleep "$seconds"'),
      projects: [...Array.from({ length: EACH }, (_, at) => `p${at}`), 'desk'],
      env: { MCP_TASK_HISTORY_SIZE: '500', MCP_MAX_CONCURRENT_TASKS: '20' },
      script: model.script,
    });
    for (let round = 1; round <= rounds; round++) {
      const isQuiet = busyMachine();
      const terminal = await chatCaller(bridge, binary);
      await model.prompt(terminal);
      isQuiet();
      await until('all ends are heard', () => model.ends.size === round * EACH);
      await terminal.leave();
    }
    const lags: number[] = [];
    for (const [index, [id, [heardMs = 0]]] of [...model.ends].entries()) {
      const endedMs = Date.parse((await bridge.record(id)).ended_at ?? '');
      if (endedMs > (startedMs[Math.floor(index / EACH)] ?? 0)) lags.push(heardMs - endedMs);
    }
    lags.sort((a, b) => a - b);
    const at = (part: number): number => lags[Math.floor((lags.length - 1) * part)] ?? 0;
    const idle = { median: at(0.5), p95: at(PERCENTILE), worst: at(1) };
    process.stdout.write(
      `${version}: ${model.ends.size} ends, ${lags.length} while idle: ${JSON.stringify(idle)}\n`,
    );
    expect([...model.ends.values()].filter(({ length }) => length !== 1)).toEqual([]);
    expect(idle.p95).toBeLessThan(BAR_MS);
  });

  it('answer more questions of one task than their client shows: the model is called in between, and follows it again', async () => {
    const model = new CallerModel(({ userText }) => {
      if (model.asked === 1) return starts(() => 'AGENT: asks', [bridge.project]);
      const [, id] = /(task_[0-9a-f]{20}) goes on, and waits for an answer/.exec(userText) ?? [];
      return id === undefined ? undefined : { tools: [{ name: WAIT_FOR_TASK, input: { task_ids: [id] } }] };
    });
    const asks = `exec </dev/tty
for n in $(seq ${QUESTIONS}); do printf "Do you want to proceed with part $n? [y/N] "; read -r line; done`;
    const bridge = await startBridge({
      claude: program('worker', asks),
      projects: ['app', 'desk'],
      env: asksEnv,
      script: model.script,
    });
    const terminal = await chatCaller(bridge, binary);
    await model.prompt(terminal);
    for (let part = 1; part <= QUESTIONS; part++) {
      await terminal.sees(`proceed with part ${part}?`);
      await decide(terminal, 'Allow once');
    }
    await until('the end is heard', () => model.words.includes(' is completed: '));
    expect([...model.ends.values()].map(({ length }) => length)).toEqual([2]);
  });
});
