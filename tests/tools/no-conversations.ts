import type { ConversationTools } from '../../src/tools/services.js';

const unused = async (): Promise<never> => {
  throw new Error('this test uses no conversations');
};

/** Where a test needs the services and none of conversations. */
export const noConversations: ConversationTools = {
  ask: unused,
  answer: unused,
  status: unused,
  recent: unused,
  cancel: unused,
};
