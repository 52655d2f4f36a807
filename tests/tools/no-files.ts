import type { FileTools } from '../../src/tools/services.js';

const unused = async (): Promise<never> => {
  throw new Error('this test uses no files');
};

/** Where a test needs the services and none of single files. */
export const noFiles: FileTools = {
  readFile: unused,
  readRange: unused,
  writeFile: unused,
  createDirectory: unused,
};
