import { afterEach, describe, expect, it } from 'vitest';
import { startScriptedApi, type Script, type ScriptedApi } from '../../src/cli/demo/scripted-api.js';

const tools = [{ name: 'Bash' }, { name: 'Agent' }];

describe('the scripted Messages API', () => {
  let api: ScriptedApi | undefined;

  afterEach(() => api?.dispose());

  async function start(script: Script): Promise<ScriptedApi> {
    api = await startScriptedApi(script);
    return api;
  }

  function post(body: unknown, path = '/v1/messages?beta=true'): Promise<Response> {
    return fetch(`${api?.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  }

  function ask(content: unknown, extra: Record<string, unknown> = {}): Promise<Response> {
    return post({ model: 'some-model', tools, messages: [{ role: 'user', content }], ...extra });
  }

  it('answers turn by turn and ends with Done', async () => {
    await start([{ say: 'One.' }, { say: 'Two.', tools: [{ name: 'Bash', input: { command: 'ls' } }] }]);
    const answers = [await ask('a'), await ask('b'), await ask('c')];
    const bodies: unknown[] = await Promise.all(answers.map((answer) => answer.json()));
    expect(bodies).toMatchObject([
      { stop_reason: 'end_turn', content: [{ type: 'text', text: 'One.' }] },
      {
        stop_reason: 'tool_use',
        content: [{ text: 'Two.' }, { type: 'tool_use', name: 'Bash', input: { command: 'ls' } }],
      },
      { stop_reason: 'end_turn', content: [{ text: 'Done.' }] },
    ]);
    expect(api?.turnsServed).toBe(3);
  });

  it('streams the events in the order in which the real one does', async () => {
    await start([{ say: 'Hi.', tools: [{ name: 'Bash', input: { command: 'ls' } }] }]);
    const text = await (await ask('a', { stream: true })).text();
    expect([...text.matchAll(/^event: (.+)$/gm)].map((match) => match[1])).toEqual([
      'message_start',
      ...['content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['content_block_start', 'content_block_delta', 'content_block_stop'],
      'message_delta',
      'message_stop',
    ]);
    expect(text).toContain('"partial_json":"{\\"command\\":\\"ls\\"}"');
  });

  it('gives titles, subagents and token counts no turn of the script', async () => {
    await start([{ say: 'Mine.' }]);
    expect(await (await ask('title please', { tools: [] })).text()).toContain('title');
    expect(await (await ask('subagent', { tools: [{ name: 'Bash' }] })).text()).toContain('Done.');
    expect(await (await post({ messages: [] }, '/v1/messages/count_tokens')).json()).toEqual({
      input_tokens: 10,
    });
    expect(api?.turnsServed).toBe(0);
    expect(await (await ask('turn')).text()).toContain('Mine.');
    expect(api?.requests.map((request) => request.kind)).toEqual(['side', 'subagent', 'turn']);
  });

  it('records what the newest user message told, also behind a system message', async () => {
    await start([]);
    const content = [
      { type: 'text', text: 'first' },
      { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'no' }], is_error: true },
    ];
    const messages = [
      { role: 'user', content: 'old' },
      { role: 'assistant', content: [] },
      { role: 'user', content },
      { role: 'system', content: 'a reminder' },
    ];
    await post({ model: 'm', tools, messages });
    expect(api?.requests).toMatchObject([
      { userText: 'first', toolResults: [{ toolUseId: 't1', text: 'no', isError: true }], messageCount: 4 },
    ]);
  });

  it('fails as often as the script says', async () => {
    const error = { status: 529, type: 'overloaded_error', message: 'Overloaded' };
    await start([{ error, repeat: 2 }, { say: 'Up again.' }]);
    const first = await ask('a');
    expect(first.status).toBe(529);
    expect(await first.json()).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
    });
    expect((await ask('a')).status).toBe(529);
    expect((await ask('a')).status).toBe(200);
  });

  it('lets a function decide from what the model was told', async () => {
    await start((request) => ({ say: `You said ${request.userText}.` }));
    expect(await (await ask('hello')).text()).toContain('You said hello.');
  });

  it('answers the first look, an unknown path and a broken body', async () => {
    const { url } = await start([]);
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${url}/v1/other`)).status).toBe(404);
    expect((await fetch(`${url}/v1/messages`, { method: 'POST', body: '{' })).status).toBe(400);
  });

  it('does not wait for a slow turn when it is disposed', async () => {
    await start([{ say: 'late', delayMs: 3_600_000 }]);
    const answer = ask('a');
    const hungUp = expect(answer).rejects.toThrow();
    while (api?.turnsServed === 0) await new Promise((resolve) => setImmediate(resolve));
    await api?.dispose();
    await hungUp;
  });
});
