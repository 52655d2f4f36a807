import { defineDialog } from './dialog.js';

/** `New MCP server found in this project: <name>`: allowing it runs a program that the repository names. */
export const projectMcpServer = defineDialog({
  id: 'project-mcp-server',
  kind: 'trust',
  atStart: true,
  recognise: ({ heading, options }) => {
    const title = heading.find((line) => /^(\d+ )?[Nn]ew MCP servers? found in this project/.test(line));
    if (title === undefined || !options.some((option) => /MCP server/i.test(option.label))) return undefined;
    const name = title.split(':').slice(1).join(':').trim();
    return { input: { server: name }, summary: `Use the project's MCP server ${name}` };
  },
  optionFor: {
    allow: /^Use this MCP server/i,
    allow_session: /^Use this MCP server/i,
    deny: /^Continue without/i,
  },
});
