// An agent of the AI SDK with the bridge's tools. Its job is in JOB; it prints what it saw as JSON.
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs } from 'ai';

const { server, modelUrl, prompt } = JSON.parse(process.env.JOB);
const client = await createMCPClient({ transport: new StdioTransport(server) });
const { resources } = await client.listResources();
const { contents } = await client.readResource({ uri: 'config://current' });
const { prompts } = await client.experimental_listPrompts();
const filled = await client.experimental_getPrompt({
  name: 'delegate',
  arguments: { request: 'Fix the bug' },
});
const provider = createOpenAICompatible({ name: 'scripted', baseURL: `${modelUrl}/v1` });
const { text } = await generateText({
  model: provider('scripted'),
  tools: await client.tools(),
  stopWhen: stepCountIs(50),
  prompt,
});
process.stdout.write(
  JSON.stringify({
    resources: resources.map(({ uri }) => uri),
    config: contents[0].text,
    prompts: prompts.map(({ name }) => name),
    filled: filled.messages[0].content.text,
    instructions: client.instructions,
    said: text,
  }),
);
await client.close();
