// Makes a machine in which something runs in a session of its own, says so, and waits to be killed.
import { startSshMachine } from '../../harness/ssh-machines.js';

const machine = await startSshMachine({
  name: 'killed',
  apiUrl: 'http://127.0.0.1:1',
  claude: process.argv[2] ?? '',
});
await machine.exec(['sh', '-c', 'setsid sleep 86421 >/dev/null 2>&1 &']);
process.stdout.write('ready\n');
setInterval(() => {}, 60_000);
