import { connect } from 'node:net';

/** Waits until a server greets on that port of loopback. Throws after 30 s. */
export async function smtpReady(port: number): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('data', () => {
        socket.end('QUIT\r\n');
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`nothing greets on port ${port}`);
}
