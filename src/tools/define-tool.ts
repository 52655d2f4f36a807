import { z } from 'zod';
import { toolDefiner } from '../mcp/tool.js';
import type { ToolServices } from './services.js';
import type { Toolset } from './toolsets.js';

/** Defines a tool over this project's services and toolsets. */
export const defineTool = toolDefiner<ToolServices, Toolset>();

/** Where reading goes on, as a number. Cursors of other tools are strings, so a caller may send this one as a string. */
export const offsetInput = z.preprocess(
  (cursor) => (typeof cursor === 'string' && /^\d+$/.test(cursor) ? Number(cursor) : cursor),
  z.int().min(0),
);
