import { createContext } from 'preact';
import type { Editor } from '../transport/editor.js';

/** The editor around this page, for what only it can do. */
export const EditorContext = createContext<Editor | undefined>(undefined);
