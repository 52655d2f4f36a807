import { defineResource } from './define-resource.js';

export const skill = defineResource({
  name: 'skill',
  title: 'How to use this bridge well',
  description: 'A skill: how to delegate to Claude Code, answer it, check what it did, and go on',
  mimeType: 'text/markdown',
  uri: 'skill://claude-code-bridge/SKILL.md',
  isSkill: true,
  // A page of text that few clients ask for is no part of a start.
  read: async () => (await import('./skill-text.js')).skillText,
});
