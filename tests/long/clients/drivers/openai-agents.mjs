// An agent of OpenAI's Agents SDK with the bridge's tools, whose schemas are made strict. Its job is in JOB; it prints
// what it saw as JSON.
import { Agent, MCPServerStdio, OpenAIProvider, Runner } from '@openai/agents';

const { server, modelUrl, prompt } = JSON.parse(process.env.JOB);
const bridge = new MCPServerStdio({
  name: 'claude-code-bridge',
  ...server,
  clientSessionTimeoutSeconds: 60,
  timeout: 60_000,
});
await bridge.connect();
const { resources } = await bridge.listResources();
const { contents } = await bridge.readResource('config://current');
const modelProvider = new OpenAIProvider({ apiKey: 'none', baseURL: `${modelUrl}/v1`, useResponses: true });
const agent = new Agent({
  name: 'Caller',
  model: 'scripted',
  mcpServers: [bridge],
  mcpConfig: { convertSchemasToStrict: true },
});
const runner = new Runner({ modelProvider, tracingDisabled: true });
const { finalOutput } = await runner.run(agent, prompt, { maxTurns: 50 });
process.stdout.write(
  JSON.stringify({
    resources: resources.map(({ uri }) => uri),
    config: contents[0].text,
    said: finalOutput,
  }),
);
await bridge.close();
