import { defineResource } from './define-resource.js';

export const frontmatter = {
  name: 'claude-code-bridge',
  description:
    "Delegate work to Claude Code in one of the user's projects, answer what it asks, check what it did, go on from there.",
};

export const skill = defineResource({
  name: 'skill',
  title: 'How to use this bridge well',
  description: 'A skill: how to delegate to Claude Code, answer it, check what it did, and go on',
  mimeType: 'text/markdown',
  uri: 'skill://claude-code-bridge/SKILL.md',
  skill: frontmatter,
  // A page of text that few clients ask for is no part of a start.
  read: async () => {
    const { skillText } = await import('./skill-text.js');
    return `---\nname: ${frontmatter.name}\ndescription: ${frontmatter.description}\n---\n\n${skillText}`;
  },
});
