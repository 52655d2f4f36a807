// Pure.
import type { ChatClient } from './chat-client.js';
import { claudeCode } from './kinds/claude-code.js';
import { claudeDesktop } from './kinds/claude-desktop.js';
import { codex } from './kinds/codex.js';
import { copilotCli } from './kinds/copilot-cli.js';
import { cursor } from './kinds/cursor.js';
import { geminiCli } from './kinds/gemini-cli.js';
import { goose } from './kinds/goose.js';
import { jetbrains } from './kinds/jetbrains.js';
import { kiro } from './kinds/kiro.js';
import { lmStudio } from './kinds/lm-studio.js';
import { opencode } from './kinds/opencode.js';
import { vscode } from './kinds/vscode.js';
import { windsurf } from './kinds/windsurf.js';
import { zed } from './kinds/zed.js';

/** The one table of chat clients: `init`, `doctor`, the README and its links are made of it. */
export const chatClients: readonly ChatClient[] = [
  claudeDesktop,
  claudeCode,
  vscode,
  cursor,
  windsurf,
  zed,
  jetbrains,
  lmStudio,
  codex,
  geminiCli,
  opencode,
  goose,
  kiro,
  copilotCli,
];
