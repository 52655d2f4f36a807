import { defineDialog } from './dialog.js';

/** `New MCP server found in this project: <name>`: allowing it runs a program that the repository chose. */
export const projectMcpServer = defineDialog({
  id: 'project-mcp-server',
  kind: 'trust',
  when: 'start',
  recognise: ({ heading, options, isCut }) => {
    const name = /^New MCP server found in this project: (.+)$/.exec(heading[0] ?? '')?.[1];
    if (isCut || name === undefined) return undefined;
    if (!options.some((option) => /^Use this MCP server$/i.test(option.label))) return undefined;
    return { input: { server: name }, summary: `Use the project's MCP server ${name}` };
  },
  optionFor: {
    allow: /^Use this MCP server$/i,
    allow_session: /^Use this MCP server$/i,
    deny: /^Continue without/i,
  },
});
