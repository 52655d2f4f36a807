// A server process over a fake task service, for tests of what only a process can show.
import { createStderrLogger } from '../../src/base/logger.js';
import { claimProcessStdio, serveUntilGone } from '../../src/mcp/stdio.js';
import { FakeTaskService, taskRecord } from '../tools/fake-task-service.js';
import { serverParts } from './serving.js';

const stdio = claimProcessStdio();
// What a stray library would do.
process.stdout.write('noise on stdout\n');
const parts = serverParts(new FakeTaskService(taskRecord()), { logger: createStderrLogger('debug') });
void serveUntilGone(parts, stdio, () => void process.stderr.write('disposed\n'));
// Something that would keep a process alive for ever.
setInterval(() => process.stdout.write('more noise\n'), 20);
