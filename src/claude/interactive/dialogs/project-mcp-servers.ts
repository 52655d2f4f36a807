import { defineDialog } from './dialog.js';

/** `2 new MCP servers found in this project`: a list of check boxes, all ticked; Esc rejects all. */
export const projectMcpServers = defineDialog({
  id: 'project-mcp-server',
  kind: 'trust',
  when: 'start',
  recognise: ({ heading, options, isCut }) => {
    if (isCut || !/^\d+ new MCP servers found in this project$/.test(heading[0] ?? '')) return undefined;
    const servers = options.filter((option) => option.ticked === true).map((option) => option.label);
    if (!options.some((option) => option.ticked !== undefined)) return undefined;
    return {
      input: { server: servers.join(', ') },
      summary: `Use the project's MCP servers ${servers.join(', ')}`,
    };
  },
  optionFor: { allow: /^Enable selected$/, allow_session: /^Enable selected$/, deny: /^$/ },
});
