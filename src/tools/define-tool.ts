import { toolDefiner } from '../mcp/tool.js';
import type { ToolServices } from './services.js';
import type { Toolset } from './toolsets.js';

/** Defines a tool over this project's services and toolsets. */
export const defineTool = toolDefiner<ToolServices, Toolset>();
