import { z } from 'zod';
import { figuresOf, type Figures } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace } from './workplace.js';

const CALLS = 200;
const SESSION = '11111111-1111-4111-8111-111111111111';
const rules = [{ rule: 'Bash(ls *)', verdict: 'allow', reason: 'it only reads' }];
const resultSchema = z.object({ content: z.array(z.object({ text: z.string() })) });

/** Hooks of a session that a person started, in milliseconds: one that asks nothing, and one that a rule answers. */
export async function measureNative(): Promise<{ readonly plain: Figures; readonly byRule: Figures }> {
  const workplace = await createWorkplace();
  const env = { ...workplace.env, MCP_NATIVE_RULES: 'true', MCP_RULES: JSON.stringify(rules) };
  const client = new StdioClient([...BRIDGE, '--toolsets', 'native,tasks'], env);
  try {
    await client.initialize('claude-code', '2.1.330');
    const cwd = workplace.project('native');
    const hook = async (fields: Readonly<Record<string, string>>): Promise<string> => {
      const given = { name: 'native_event', arguments: { session: SESSION, cwd, ...fields } };
      const [answer] = resultSchema.parse(await client.request('tools/call', given)).content;
      return answer?.text ?? '';
    };
    const plain: number[] = [];
    const byRule: number[] = [];
    await hook({ event: 'UserPromptSubmit', prompt: 'List it.' });
    for (let number = 0; number < CALLS; number++) {
      const tool = { tool: 'Bash', tool_input: JSON.stringify({ command: `ls -l ${number}` }) };
      const beganMs = performance.now();
      await hook({ event: 'PostToolUse', ...tool });
      const askedMs = performance.now();
      const answer = await hook({ event: 'PermissionRequest', ...tool });
      byRule.push(performance.now() - askedMs);
      plain.push(askedMs - beganMs);
      if (!answer.includes('"allow"')) throw new Error(`no rule answered: ${answer}`);
    }
    return { plain: figuresOf(plain), byRule: figuresOf(byRule) };
  } finally {
    await client.close();
    workplace.dispose();
  }
}
