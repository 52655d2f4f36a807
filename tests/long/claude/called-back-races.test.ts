import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { inputHash } from '../../../src/board/task-views.js';
import { openDecisions } from '../../../src/tasks/task.js';
import { appClient } from '../../harness/app-client.js';
import { endsWithTest } from '../../harness/board-process.js';
import { accept, CallerModel, chatCaller, choose, recordOf, starts } from '../../harness/chat-caller.js';
import { describeRealClaude } from '../../harness/real-claude.js';
import { asksAboutPrompts, writeProgram } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';
import { createWorkplace } from '../../harness/workplace.js';

const run = promisify(execFile);
const acted = z.looseObject({ ok: z.boolean() });
const RACES = 10;
const NOT_OPEN =
  /DECISION_CLOSED: .*(?:is closed|was already answered): allow by|"message":".* is closed: allow by/;

describeRealClaude('a question at the form of a caller', ({ version, binary }) => {
  it('is decided once by form, tool, page or command line, whoever is first; the others read that they were not', async () => {
    const model = new CallerModel(() =>
      model.asked === 1 ? starts(() => 'AGENT: asks', [bridge.project]) : undefined,
    );
    const workplace = await createWorkplace();
    const asks = `exec </dev/tty
for n in $(seq ${RACES}); do printf "Do you want to proceed with part $n? [y/N] "; read -r line; done
sleep 5`;
    const shown = join(workplace.homeDir, 'shown');
    await writeProgram(workplace, 'notify-send', `printf '%s|' "$@" >> '${shown}'; echo >> '${shown}'`);
    const bridge = await startBridge({
      claude: await writeProgram(workplace, 'worker', asks),
      workplace,
      projects: ['app', 'desk'],
      env: {
        MCP_RULES: JSON.stringify(asksAboutPrompts),
        MCP_NOTIFY: '{"desktop":true}',
        PATH: `${workplace.root}:${process.env['PATH'] ?? ''}`,
      },
      script: model.script,
    });
    endsWithTest(bridge);
    const page = await appClient(bridge, 'modern');
    const terminal = await chatCaller(bridge, binary);
    await model.prompt(terminal);
    const winners: string[] = [];
    for (let part = 1; part <= RACES; part++) {
      await terminal.sees(`proceed with part ${part}?`);
      await choose(terminal, 'Allow once');
      const record = await recordOf(bridge);
      const [decision] = openDecisions(record);
      if (decision === undefined) throw new Error('nothing is open');
      const { decision_id } = decision;
      const given = { task_id: record.task_id, decision_id, verdict: 'allow' };
      const action = { type: 'decision.answer', ...given, input_sha256: inputHash(decision) };
      const call = async (name: string, args: Record<string, unknown>): Promise<string> => {
        const { isError, content, structuredContent } = await page.callTool({ name, arguments: args });
        if (isError === true) return JSON.stringify(content);
        return acted.safeParse(structuredContent).data?.ok === false ? JSON.stringify(structuredContent) : '';
      };
      const words = ['tasks', 'answer', record.task_id, decision_id, 'allow'];
      /** Why an answer was refused; empty for one that was taken. The form hears nothing. */
      const roads = [
        { by: 'elicitation', answer: () => accept(terminal).then(() => '') },
        { by: 'caller', answer: () => call('respond_to_task', given) },
        { by: 'board', answer: () => call('board_act', { action }) },
        {
          by: 'command line',
          answer: () =>
            run(process.execPath, [serverEntry, ...words], { env: bridge.env }).then(() => '', String),
        },
      ];
      // Each begins at times; the others come at the same moment, or when it is through.
      const outcomes: { by: string; refusal: string }[] = [];
      const goes = async ({ by, answer }: (typeof roads)[number]): Promise<void> => {
        outcomes.push({ by, refusal: await answer() });
      };
      const [lead, ...others] = [...roads.slice(part % roads.length), ...roads.slice(0, part % roads.length)];
      const first = lead && goes(lead);
      if (part % 3 === 0) await first;
      await Promise.all([first, ...others.map(goes)]);
      const closed = await until('it is closed, and the answer of the form has come', async () => {
        const found = (await recordOf(bridge)).decisions.find((one) => one.decision_id === decision_id);
        const by = found?.answered_by;
        return found !== undefined && (by === 'elicitation' || found.late !== undefined) && found;
      });
      const winner = closed.answered_by?.split('/')[0] ?? '';
      winners.push(winner);
      expect(closed.late).toEqual(winner === 'elicitation' ? undefined : ['allow']);
      for (const { by, refusal } of outcomes) {
        if (by === winner) expect(refusal).toBe('');
        else if (by !== 'elicitation') expect(refusal).toMatch(NOT_OPEN);
      }
    }
    await until('the end is heard', () => model.ends.size === 1);
    process.stdout.write(`${version}: ${winners.join(', ')}\n`);
    const late = winners.filter((by) => by !== 'elicitation').length;
    expect(model.words.match(/came too late and changed nothing: allow for dec_\d+/gu)).toHaveLength(
      Math.min(late, 5),
    );
    const told = (await readFile(shown, 'utf8')).match(
      /An answer came too late in app\|It changed nothing: /gu,
    );
    expect(told).toHaveLength(late);
    expect(model.asked).toBe(3);
  });
});
