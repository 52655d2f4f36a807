/** The pages that clients show inside a chat: their URIs, and the files of the build. */
export const appPages = {
  board: { uri: 'ui://claude-code-bridge/board.html', file: 'board-app.html' },
  decision: { uri: 'ui://claude-code-bridge/decision.html', file: 'decision-app.html' },
} as const;
