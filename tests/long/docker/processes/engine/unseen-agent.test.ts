import { Agent } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { leaveUnseen } from '../../../../../src/processes/docker/engine/docker-engine.js';

describe('an agent that is left unseen', () => {
  test('costs nothing where a request is written out with all that hangs on it', () => {
    const agent = new Agent();
    leaveUnseen(agent);
    const shown = inspect({ path: '/version', agent }, { showHidden: true, depth: null });
    expect(shown).toBe("{ path: '/version', agent: the connections to the engine }");
    agent.destroy();
  });
});
