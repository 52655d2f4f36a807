// An agent of LangChain with the bridge's tools. Its job is in JOB; it prints what it saw as JSON.
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';

const { server, modelUrl, prompt } = JSON.parse(process.env.JOB);
const client = new MultiServerMCPClient({
  throwOnLoadError: true,
  mcpServers: { 'claude-code-bridge': { transport: 'stdio', ...server } },
});
const tools = await client.getTools();
const resources = (await client.listResources())['claude-code-bridge'];
const [config] = await client.readResource('claude-code-bridge', 'config://current');
const model = new ChatOpenAI({
  model: 'scripted',
  apiKey: 'none',
  configuration: { baseURL: `${modelUrl}/v1` },
});
const agent = createAgent({ model, tools });
const { messages } = await agent.invoke(
  { messages: [{ role: 'user', content: prompt }] },
  { recursionLimit: 100 },
);
process.stdout.write(
  JSON.stringify({
    resources: resources.map(({ uri }) => uri),
    config: config.text,
    said: messages.at(-1).content,
  }),
);
await client.close();
