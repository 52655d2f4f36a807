import { expect, test } from 'vitest';
import { messageIdOf } from '../../../src/mcp/wire/message-id.js';

test.each([
  ['{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"', '', 7],
  ['{ "id" : "a\\"b" , "params":{', '', 'a"b'],
  ['{"method":"x","params":{"id":3,"a":"', 'aaa"},"jsonrpc":"2.0","id":9}', 9],
  ['{"method":"x","params":{', '"},"id":-4,"jsonrpc":"2.0"} \r', -4],
  // Nested, or inside a text: not the message's own.
  ['{"params":{"id":3', 'aaa","id":5}}', undefined],
  ['{"method":"x","params":{', '\\"id\\":5}"}', undefined],
  ['{"id":1.5,"method', '', undefined],
  ['{"id":null,"method":"x",', 'aaa"}', undefined],
  ['[{"id":3}', '', undefined],
  ['xxxxx', 'xxxxx', undefined],
])('of %s … %s the id is %s', (head, tail, id) => {
  expect(messageIdOf(head, tail)).toBe(id);
});
