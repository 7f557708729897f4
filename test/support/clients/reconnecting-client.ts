import { connect } from 'node:net';

/** Run as a process: `node reconnecting-client.ts URL CLIENTS`. Each client sends one request after the other as the user `attacker`, on a new connection each. */
const [url = '', clients = '1'] = process.argv.slice(2);
const { port } = new URL(url);

function send(): void {
  const socket = connect(Number(port), '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nx-user: attacker\r\nconnection: close\r\n\r\n');
  socket.resume();
  socket.on('error', () => undefined);
  socket.on('close', send);
}

for (let at = 0; at < Number(clients); at++) send();
process.on('disconnect', () => process.exit(0));
